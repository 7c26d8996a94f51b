/** Deadlines: rows that ended after their due date, and rows that have not ended. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const dayMs = 86_400_000;
const shown = 10;
const dueWords = new Set(
  'sched timetable timetabled published due deadline fällig fälligkeit faellig frist promised planned expected zieltermin soll target expiry scheduled agreed eta geplant zugesagt vencimiento previsto prevista prometido prometida échéance prévu prévue promis promise programado programada gepland geplande verwacht pianificato pianificata scadenza promesso promessa'.split(
    ' ',
  ),
);
const endedWords = new Set(
  'cancelled canceled cancel cancellation churned churn terminated end ended ende exit left gekündigt kündigung austritt disposed shipped'.split(
    ' ',
  ),
);
const dueEndings = ['fällig', 'frist', 'fälligkeit', 'zieltermin'];
const doneWords = new Set(
  'paid payment bezahlt zahlung returned return rückgabe delivered delivery geliefert completed done finished closed erledigt actual ist received eingang eingegangen resolved abgeschlossen beendet zurückgegeben zurückgebracht solved finish devuelto devuelta rendu rendue restituito restituita entregado entregada pagado pagada cerrado cerrada livré livrée payé payée réel réelle clôturé clôturée consegnato consegnata pagato pagata chiuso chiusa tatsächlich tatsächliche werkelijk werkelijke effettivo effettiva efectivo efectiva'.split(
    ' ',
  ),
);

export function dueFindings(table: ColumnsInMemory): Finding[] {
  const dates = table.plans.filter(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  const filled = dates.flatMap((plan) => filledShare(table, plan)).slice(0, 2);
  const { due, done } = dueAndDone(dates);
  if (due === undefined || done === undefined) return filled;
  const [by, at] = [table.dates(due), table.dates(done)];
  const ended = [...by.keys()].filter((row) => !Number.isNaN(by[row]!) && !Number.isNaN(at[row]!));
  const daysLate = (row: number) => Math.floor(at[row]! / dayMs) - Math.floor(by[row]! / dayMs);
  const late = ended.filter((row) => daysLate(row) > 0).toSorted((a, b) => daysLate(b) - daysLate(a));
  const findings: Finding[] = [...filled];
  if (ended.length > 0)
    findings.push({
      kind: 'late',
      text:
        late.length === 0
          ? `${done.name} is never after ${due.name} (${countOf(ended.length, 'row')} with both).`
          : `${done.name} is after ${due.name} in ${exact(late.length)} of ${countOf(ended.length, 'row')} with both: ${listed(
              late.slice(0, shown).map((row) => `${nameOf(table, row)} by ${countOf(daysLate(row), 'day')}`),
              shown,
            )}${late.length > shown ? ' and more' : ''}${late.length > 1 ? `; ${round(late.reduce((sum, row) => sum + daysLate(row), 0) / late.length)} days late on average` : ''}${lateBy(table, late)}; over all ${exact(ended.length)}, ${done.name} is ${offset(ended.reduce((sum, row) => sum + daysLate(row), 0) / ended.length)} ${due.name} on average.`,
    });
  const texts = table.texts(done);
  const open = [...texts.keys()].filter((row) => texts[row] === '');
  if (open.length > 0 && ended.length > 0)
    findings.push({
      kind: 'open',
      text: `${countOf(open.length, 'row')} ${open.length === 1 ? 'has' : 'have'} no ${done.name}${amountOf(table, open)}: ${listed(
        open
          .toSorted((a, b) => (by[a]! || Infinity) - (by[b]! || Infinity))
          .slice(0, shown)
          .map((row) => `${nameOf(table, row)}${table.texts(due)[row] === '' ? '' : ` (${due.name} ${table.texts(due)[row]})`}`),
        shown,
      )}${open.length > shown ? ' and more' : ''}.`,
    });
  return findings;
}

/** The date at which something is due, and that at which it was done: of several, the one whose name has most words of the due date's name. */
export function dueAndDone(dates: readonly ColumnPlan[]): { due: ColumnPlan | undefined; done: ColumnPlan | undefined } {
  const due = dates.find(({ name }) => isDueName(name));
  const dueWordsOf = new Set(nameTokens(due?.name ?? ''));
  const shared = ({ name }: ColumnPlan) => nameTokens(name).filter((token) => dueWordsOf.has(token)).length;
  const done = dates.filter((plan) => plan !== due && isDoneName(plan.name) && !isBeginning(plan, dates));
  return { due, done: done.toSorted((a, b) => shared(b) - shared(a))[0] };
}

/** Such a date is empty for what is not done yet. */
export function isDoneName(name: string): boolean {
  return has(nameTokens(name), doneWords) && !isDueName(name);
}

/** Of three dates or more, the one that is before all others is when the matter began, whatever its name: the receipt of a sample. */
function isBeginning(plan: ColumnPlan, dates: readonly ColumnPlan[]): boolean {
  const others = dates.filter((each) => each !== plan);
  const { range } = plan;
  return (
    range !== null &&
    others.length > 1 &&
    others.every(({ range: other }) => other !== null && range.firstMs <= other.firstMs && range.lastMs <= other.lastMs)
  );
}

function offset(days: number): string {
  return days === 0 ? 'on the day of' : `${round(Math.abs(days))} days ${days > 0 ? 'after' : 'before'}`;
}

/** "; by customer: Adler 4, Blitz 2", by the first column with few names. */
function lateBy(table: ColumnsInMemory, late: readonly number[]): string {
  const group = table.plans.find(
    ({ reads, type, role, values, filled }) =>
      reads === 'text' && type === 'text' && role === 'other' && values.distinct >= 2 && values.distinct <= 12 && filled === table.count,
  );
  if (group === undefined || late.length < 2) return '';
  const counts = new Map<string, number>();
  for (const row of late) counts.set(table.texts(group)[row]!, (counts.get(table.texts(group)[row]!) ?? 0) + 1);
  return `; by ${group.name}: ${[...counts]
    .toSorted((a, b) => b[1] - a[1])
    .map(([key, count]) => `${key} ${exact(count)}`)
    .join(', ')}`;
}

/** The number of ended rows, if some have ended and some have not, also by the first group. */
function filledShare(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const tokens = nameTokens(plan.name);
  if (!has(tokens, doneWords) && !has(tokens, endedWords)) return [];
  const texts = table.texts(plan);
  const rows = [...texts.keys()];
  const ended = rows.filter((row) => texts[row] !== '');
  if (ended.length < 2 || rows.length - ended.length < 2 || rows.length < 8) return [];
  const groups = table.plans.filter(
    ({ reads, type, role, values, filled: full }) =>
      reads === 'text' && type === 'text' && role === 'other' && full === rows.length && values.distinct >= 2 && values.distinct <= 8,
  );
  const each = groups.slice(0, 3).map((group) => {
    const counts = new Map<string, { all: number; ended: number }>();
    for (const row of rows) {
      const key = table.texts(group)[row]!;
      const own = counts.get(key) ?? { all: 0, ended: 0 };
      counts.set(key, own);
      own.all++;
      if (texts[row] !== '') own.ended++;
    }
    const ranked = [...counts].toSorted((a, b) => b[1].ended - a[1].ended);
    return `by ${group.name}: ${ranked.map(([key, own]) => `${key} ${exact(own.ended)} of ${exact(own.all)} (${percent(own.ended, own.all)})`).join(', ')}`;
  });
  const open = rows.filter((row) => texts[row] === '');
  return [
    {
      kind: 'open',
      text: `${plan.name} is filled in ${exact(ended.length)} of ${countOf(rows.length, 'row')} (${percent(ended.length, rows.length)}) and empty in ${exact(open.length)}${amountOf(table, open)}${each.length === 0 ? '' : `; ${each.join('; ')}`}.`,
    },
  ];
}

export function isDueName(name: string): boolean {
  const tokens = nameTokens(name);
  return has(tokens, dueWords) || dueEndings.some((ending) => (tokens.at(-1) ?? '').endsWith(ending));
}

function amountOf(table: ColumnsInMemory, rows: number[]): string {
  const plan = table.quantities().find(({ role, units }: ColumnPlan) => role === 'measure' && units.size < 2);
  if (plan === undefined) return '';
  const numbers = table.numbers(plan);
  const known = rows.filter((row) => !Number.isNaN(numbers[row]!));
  return known.length === 0 ? '' : `, together ${plan.name} ${exact(clean(known.reduce((sum, row) => sum + numbers[row]!, 0)))}`;
}

/** The row's name, or its code and its person or thing. */
function nameOf(table: ColumnsInMemory, row: number): string {
  const code = table.plans.find(({ role, values, filled }) => role === 'identifier' && values.distinct >= filled * 0.8);
  const who = table.plans.find(
    ({ reads, type, role, index, meanChars }) =>
      reads === 'text' && type === 'text' && role === 'other' && index !== code?.index && meanChars <= 40,
  );
  const parts = [code, who].flatMap((plan) => (plan === undefined || table.texts(plan)[row] === '' ? [] : [table.texts(plan)[row]!]));
  return parts.length === 0 ? `row ${table.row(row)}` : `${parts.join(' ')} (row ${table.row(row)})`;
}
