/** Figures that a column's name implies: the net promoter score of answers from 0 to 10, and shares of one count in another. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, percent, round } from '../figure-text.ts';
import { sizeWords } from '../roles-by-rows.ts';
import type { Finding } from '../table-profile.ts';

export const recommendWords = new Set(
  'nps recommend recommendation weiterempfehlung weiterempfehlen empfehlen likelihood likely'.split(' '),
);
/** Words for a total count, and for a part of it. */
const wholeWords = new Set(
  'claimed invoiced billed goal target requested beantragt applied teile parts pieces stück stückzahl units gefertigt impressions views visitors visits sessions users leads sent recipients delivered emails applicants applications invited contacted calls besucher besuche sitzungen empfänger produced produziert output made inspected tested checked shipments deliveries capacity seats kapazität plätze wahlberechtigte eligible enrolled registered_total invited eingeladen'.split(
    ' ',
  ),
);
const partWords = new Set(
  'paid bezahlt raised collected sold verkauft occupied used genutzt belegt tickets filled granted approved bewilligt awarded paid_out clicks signups sign_ups registrations registered conversions orders purchases opened opens won converted hired hires unsubscribed unsubscribes bounced bounces bestellungen anmeldungen klicks käufe defects defective scrap rejected rejects failed errors returns returned complaints ausschuss defekt fehler late booked gebucht belegt occupied stimmen votes turnout valid attended attending present anwesend no_shows noshows attended answered missed'.split(
    ' ',
  ),
);
/** Capacities, which can be exceeded by mistake. */
const capacityWords = new Set('goal target capacity seats kapazität plätze'.split(' '));
const aimWords = new Set(['goal', 'target', 'ziel']);
const maxRates = 4;

export function scoreFindings(table: ColumnsInMemory): Finding[] {
  return [...table.quantities().flatMap((plan) => promoters(table, plan)), ...rates(table)];
}

function promoters(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  if (!has(nameTokens(plan.name), recommendWords) || plan.min < 0 || plan.max > 10 || plan.max < 6) return [];
  const values = [...table.numbers(plan)].filter((value) => !Number.isNaN(value));
  if (values.length < 5 || values.some((value) => !Number.isInteger(value))) return [];
  const high = values.filter((value) => value >= 9).length;
  const low = values.filter((value) => value <= 6).length;
  const middle = values.length - high - low;
  const each = (what: string, count: number) => `${exact(count)} ${what} (${percent(count, values.length)})`;
  return [
    {
      kind: 'promoters',
      text: `${plan.name}, read as a net promoter score: ${each('promoters', high)} with 9 or 10, ${each('passives', middle)} with 7 or 8, ${each('detractors', low)} with 0 to 6; score ${round(clean(((high - low) / values.length) * 100))} (share of promoters − share of detractors, over ${countOf(values.length, 'answer')}).`,
    },
  ];
}

/** "signups ÷ visitors": only if the part never exceeds the total. */
function rates(table: ColumnsInMemory): Finding[] {
  const counts = table
    .quantities()
    .filter(
      ({ name, role, units, min }) =>
        (role === 'measure' || role === 'unclear' || has(nameTokens(name), sizeWords)) && units.size === 0 && min >= 0,
    );
  const findings: Finding[] = [];
  for (const part of counts) {
    if (!has(nameTokens(part.name), partWords) && !isDone(part)) continue;
    const whole = counts.findLast(
      (plan) =>
        plan !== part &&
        (has(nameTokens(plan.name), wholeWords) || (plan.index < part.index && isPart(plan) && isWithin(table, part, plan))),
    );
    const beside = isDone(part)
      ? counts.find((plan) => plan.index === part.index - 1 && !isDone(plan) && isWithin(table, part, plan))
      : undefined;
    const first = counts.find((plan) => plan !== whole && has(nameTokens(plan.name), wholeWords));
    for (const base of new Set([whole, first, beside])) {
      if (base === undefined || base === part || !isWithin(table, part, base)) continue;
      findings.push(rate(table, part, base));
    }
  }
  return findings.slice(0, maxRates);
}

/** The same share for each value of a grouping column. */
function byGroup(table: ColumnsInMemory, rows: readonly number[], p: Float64Array, w: Float64Array): string {
  const groups = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(8, filled / 2),
  );
  return groups
    .slice(0, 2)
    .map((group) => {
      const sums = new Map<string, { part: number; whole: number }>();
      for (const at of rows) {
        const key = table.texts(group)[at]!;
        if (key === '') continue;
        const own = sums.get(key) ?? { part: 0, whole: 0 };
        sums.set(key, own);
        own.part += p[at]!;
        own.whole += w[at]!;
      }
      const ranked = [...sums].toSorted((a, b) => b[1].part / b[1].whole - a[1].part / a[1].whole);
      return `; by ${group.name}: ${ranked.map(([key, { part, whole }]) => `${key} ${round((part / whole) * 100)} % (${exact(clean(part))} of ${exact(clean(whole))})`).join(', ')}`;
    })
    .join('');
}

/** "translated", "completed": the part of the count that is done. */
function isDone({ name, type }: ColumnPlan): boolean {
  return type === 'integer' && /[a-z]{3}ed$/.test(nameTokens(name).at(-1) ?? '');
}

function isPart({ name }: ColumnPlan): boolean {
  return has(nameTokens(name), partWords);
}

function isWithin(table: ColumnsInMemory, part: ColumnPlan, whole: ColumnPlan): boolean {
  const [p, w] = [table.numbers(part), table.numbers(whole)];
  const known = [...p.keys()].filter((at) => !Number.isNaN(p[at]!) && !Number.isNaN(w[at]!));
  const beyond = known.filter((at) => p[at]! > w[at]!);
  // A count above the capacity is an error or an overbooking if it is rare; otherwise the one is not a part of the other.
  return (
    beyond.length === 0 ||
    (has(nameTokens(whole.name), capacityWords) &&
      (beyond.length <= Math.max(1, known.length * 0.1) || has(nameTokens(whole.name), aimWords)))
  );
}

function beyondWhole(table: ColumnsInMemory, rows: readonly number[], p: Float64Array, w: Float64Array, whole: ColumnPlan): string {
  const beyond = rows.filter((at) => p[at]! > w[at]!);
  if (beyond.length === 0) return '';
  return `; above ${whole.name} in ${beyond.map((at) => `${table.rowName(at)}: ${exact(p[at]!)} of ${exact(w[at]!)}`).join(', ')}`;
}

function rate(table: ColumnsInMemory, part: ColumnPlan, whole: ColumnPlan): Finding {
  const [p, w] = [table.numbers(part), table.numbers(whole)];
  const rows = [...p.keys()].filter((at) => !Number.isNaN(p[at]!) && w[at]! > 0);
  const sum = (numbers: Float64Array) => rows.reduce((total, at) => total + numbers[at]!, 0);
  const share = (at: number) => `${round((p[at]! / w[at]!) * 100)} %`;
  const ranked = rows.toSorted((a, b) => p[b]! / w[b]! - p[a]! / w[a]!);
  const name = (at: number) => table.periodOrRow(at);
  const ends =
    ranked.length >= 3 && p[ranked[0]!]! / w[ranked[0]!]! > p[ranked.at(-1)!]! / w[ranked.at(-1)!]!
      ? `; highest in ${name(ranked[0]!)}: ${share(ranked[0]!)}, lowest in ${name(ranked.at(-1)!)}: ${share(ranked.at(-1)!)}`
      : '';
  return {
    kind: 'rate',
    text: `${part.name} ÷ ${whole.name} is ${round((sum(p) / sum(w)) * 100)} % over ${countOf(rows.length, 'row')} (${exact(clean(sum(p)))} of ${exact(clean(sum(w)))})${ends}${byGroup(table, rows, p, w)}${beyondWhole(table, rows, p, w, whole)}.`,
  };
}
