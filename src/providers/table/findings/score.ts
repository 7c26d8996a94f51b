/** Figures that a column's name implies: the net promoter score of answers from 0 to 10, and shares of one count in another. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round, rowList } from '../figure-text.ts';
import { sizeWords } from '../roles-by-rows.ts';
import { differentValues } from '../spellings.ts';
import type { Finding } from '../table-profile.ts';

export const recommendWords = new Set(
  'nps enps recommend recommendation recommander recomendar recomendaría weiterempfehlung weiterempfehlen empfehlen likelihood likely'.split(
    ' ',
  ),
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
const maxRateGroups = 8;
const maxScoreGroups = 12;
/** Fewer answers allow no conclusion. */
const minAnswers = 5;
/** With a larger share of values outside 0 to 10 the column has another scale. */
const maxOutside = 0.1;

/** @param asked columns whose promoters the caller asks for, whatever their names tell */
export function scoreFindings(table: ColumnsInMemory, asked: readonly string[] = []): Finding[] {
  return [...table.quantities().flatMap((plan) => promoters(table, plan, asked)), ...rates(table)];
}

/** The score over all answers and by group. Values outside the scale, and repeated rows of a table with a name for each row, are left out. */
function promoters(table: ColumnsInMemory, plan: ColumnPlan, asked: readonly string[]): Finding[] {
  const tokens = nameTokens(plan.name);
  if (!has(tokens, recommendWords) && !asked.includes(plan.name)) return [];
  const values = table.numbers(plan);
  const repeated = repeatedRows(table);
  const all = [...values.keys()].filter((at) => !Number.isNaN(values[at]!) && !repeated.has(at));
  const [inside, outside] = [all.filter((at) => isAnswer(values[at]!)), all.filter((at) => !isAnswer(values[at]!))];
  if (inside.length < minAnswers || outside.length > all.length * maxOutside) return [];
  // A scale that ends at 5 or 7 has no promoters with 9 or 10.
  if (!tokens.includes('10') && !tokens.some((token) => token.endsWith('nps')) && !inside.some((at) => values[at]! >= 8)) return [];
  const whole = scoreOf(inside.map((at) => values[at]!));
  const each = (what: string, count: number) => `${exact(count)} ${what} (${percent(count, whole.answers)})`;
  const notes = [
    ...(outside.length > 0
      ? [
          `${outside.length === 1 ? 'Left out, because it is' : 'Left out, because they are'} no whole number from 0 to 10: ${listed(
            outside.map((at) => `${exact(values[at]!)} in ${table.rowName(at)}`),
            6,
          )}.`,
        ]
      : []),
    ...(repeated.size > 0 ? [`Repeated rows are counted once: without ${rowList([...repeated].map((at) => table.row(at)))}.`] : []),
  ];
  return [
    {
      kind: 'promoters',
      text: [
        `${plan.name}, read as a net promoter score (NPS; of employees, eNPS): ${each('promoters', whole.high)} with 9 or 10, ${each('passives', whole.answers - whole.high - whole.low)} with 7 or 8, ${each('detractors', whole.low)} with 0 to 6; score ${round(whole.score)} (share of promoters − share of detractors, over ${countOf(whole.answers, 'answer')}).`,
        ...notes,
      ].join(' '),
    },
    ...scoresByGroup(table, plan, inside),
  ];
}

/** The same score for each value of a grouping column, the highest first. */
function scoresByGroup(table: ColumnsInMemory, plan: ColumnPlan, answers: readonly number[]): Finding[] {
  const values = table.numbers(plan);
  return groupingColumns(table, maxScoreGroups)
    .slice(0, 2)
    .flatMap((group) => {
      const texts = table.texts(group);
      const byValue = Map.groupBy(
        answers.filter((at) => texts[at] !== ''),
        (at) => texts[at]!,
      );
      const ranked = [...byValue]
        .map(([value, rows]) => ({ value, ...scoreOf(rows.map((at) => values[at]!)) }))
        .toSorted((a, b) => b.score - a.score);
      if (ranked.length < 2) return [];
      const small = ranked.filter((each) => each.answers < minAnswers);
      const caution =
        small.length === 0
          ? ''
          : ` Fewer than ${minAnswers} answers, too few for a conclusion and perhaps not anonymous: ${listed(small.map((each) => `${each.value} (${each.answers})`))}.`;
      return [
        {
          kind: 'promoters',
          text: `Net promoter score of ${plan.name} by ${group.name}: ${ranked.map(({ value, score, answers: count, high, low }) => `${value} ${round(score)} (${countOf(count, 'answer')}, ${countOf(high, 'promoter')}, ${countOf(low, 'detractor')})`).join('; ')}.${caution}`,
        },
      ];
    });
}

function scoreOf(values: readonly number[]) {
  const high = values.filter((value) => value >= 9).length;
  const low = values.filter((value) => value <= 6).length;
  return { answers: values.length, high, low, score: clean(((high - low) / values.length) * 100) };
}

function isAnswer(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 10;
}

/** Rows equal to an earlier one in each cell. Without names for rows, equal rows may be answers of different people. */
function repeatedRows(table: ColumnsInMemory): ReadonlySet<number> {
  const repeated = new Set<number>();
  if (table.labelPlan === undefined) return repeated;
  const labels = table.texts(table.labelPlan);
  const seen = new Set<string>();
  for (const [at, cells] of table.rows.cells.entries()) {
    const key = JSON.stringify(cells);
    if (seen.has(key) && labels[at] !== '') repeated.add(at);
    seen.add(key);
  }
  return repeated;
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
  return groupingColumns(table, maxRateGroups)
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

/** Text columns with few values: those that answers or rows may be grouped by. */
export function groupingColumns(table: ColumnsInMemory, most: number): ColumnPlan[] {
  return table.plans.filter((plan) => {
    const { reads, type, values, filled } = plan;
    return reads === 'text' && type === 'text' && values.distinct >= 2 && differentValues(plan) <= Math.min(most, filled / 2);
  });
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
