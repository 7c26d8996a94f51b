/** Two dates in a row: the time between them, in total and by group, and rows whose end is before the start. */
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, listed, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import type { Finding } from '../table-profile.ts';

const dayMs = 86_400_000;
const shown = 5;
const dueFirst = new Set('due promised deadline planned expected fällig fälligkeit target soll zieltermin frist eta'.split(' '));
const maxGroups = 12;
const beginWords = new Set(
  'start started begin beginn von from ordered order purchased bought kauf kaufdatum borrowed hired hire eintritt signup joined subscribed registered created erstellt opened issued invoice rechnungsdatum admitted arrival checkin bestellt'.split(
    ' ',
  ),
);
const endWords = new Set(
  'end ended ende bis to until disposed cancelled canceled churned terminated gekündigt shipped delivered geliefert returned rückgabe left exit austritt closed resolved finished completed paid bezahlt due discharged departure checkout expires expiry'.split(
    ' ',
  ),
);

/** Two dates in a row: the time between them, and rows whose end is before the start. */
export function spanFindings(table: ColumnsInMemory): Finding[] {
  const dates = table.plans.filter(({ reads, dateDoubt, filled }) => reads === 'date' && !dateDoubt && filled >= 1).slice(0, 4);
  const findings: Finding[] = [];
  for (const [a, b] of pairs(dates)) {
    const [from, to] = [table.dates(a), table.dates(b)];
    const rows = [...from.keys()].filter((at) => !Number.isNaN(from[at]!) && !Number.isNaN(to[at]!));
    const named = has(nameTokens(a.name), beginWords) && has(nameTokens(b.name), endWords);
    if (rows.length < (named ? 1 : 3)) continue;
    const days = rows.map((at) => (to[at]! - from[at]!) / dayMs);
    const backwards = rows.filter((at) => to[at]! < from[at]!);
    if (!named && backwards.length > rows.length * 0.3) continue;
    const forward = days.filter((each) => each >= 0);
    const mean = forward.reduce((sum, each) => sum + each, 0) / forward.length;
    const [least, most] = [
      forward.reduce((best, each) => Math.min(best, each), Infinity),
      forward.reduce((best, each) => Math.max(best, each), 0),
    ];
    // Counted from a due date, the other dates show the delay.
    if (forward.length >= 2 && mean > 0 && mean < 4000 && !has(nameTokens(a.name), dueFirst))
      findings.push({
        kind: 'span',
        text: `From ${a.name} to ${b.name} it takes ${spanText(mean)} on average (${spanText(least)} to ${spanText(most)}, ${countOf(forward.length, 'row')}; median ${spanText(quantile(Float64Array.from(forward).sort(), 0.5))})${byGroups(table, rows, days)}.`,
      });
    const none = rows.filter((_, i) => days[i] === 0);
    if (none.length > 0 && none.length <= Math.max(1, rows.length * 0.05) && mean >= 1)
      findings.push({
        kind: 'span_none',
        text: `${a.name} and ${b.name} are the same day in ${countOf(none.length, 'row')}: ${listed(
          none.map((at) => table.rowName(at)),
          shown,
        )}.`,
      });
    if (backwards.length > 0 && !has(nameTokens(a.name), dueFirst) && (named || forward.length >= backwards.length * 3))
      findings.push({
        kind: 'span_backwards',
        text: `${b.name} is before ${a.name} in ${countOf(backwards.length, 'row')}: ${listed(
          backwards.map((at) => `${table.rowName(at)} (${table.texts(a)[at]} to ${table.texts(b)[at]})`),
          shown,
        )}.`,
      });
  }
  return findings.slice(0, 4);
}

/** Likewise on average, for each value of the grouping columns. */
function byGroups(table: ColumnsInMemory, rows: readonly number[], days: readonly number[]): string {
  const groups = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(maxGroups, filled / 2),
  );
  return groups
    .slice(0, 3)
    .map((group) => {
      const sums = new Map<string, { sum: number; count: number }>();
      for (const [i, at] of rows.entries()) {
        const key = table.texts(group)[at]!;
        if (key === '' || days[i]! < 0) continue;
        const own = sums.get(key) ?? { sum: 0, count: 0 };
        sums.set(key, own);
        own.sum += days[i]!;
        own.count++;
      }
      const ranked = [...sums].toSorted((a, b) => b[1].sum / b[1].count - a[1].sum / a[1].count);
      return `; by ${group.name}: ${ranked.map(([key, { sum, count }]) => `${key} ${spanText(sum / count)} (${countOf(count, 'row')})`).join(', ')}`;
    })
    .join('');
}

function* pairs<T>(items: readonly T[]): Generator<[T, T]> {
  for (let a = 0; a < items.length; a++) for (let b = a + 1; b < items.length; b++) yield [items[a]!, items[b]!];
}

/** Days, or hours or minutes if they are short. */
function spanText(days: number): string {
  if (days >= 2 || Number.isInteger(days)) return `${round(days)} ${days === 1 ? 'day' : 'days'}`;
  return days >= 1 / 12 ? `${round(days * 24)} hours` : `${round(days * 1440)} minutes`;
}
