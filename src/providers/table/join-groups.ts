/** Figures of one joined table by the columns of the other, and with its names. */
import type { ColumnPlan } from './column-evidence.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, listed, percent, round } from './figure-text.ts';
import { durationGroups, durationsOf, rankedRows, rowsByGroup, rowsWith } from './findings/durations.ts';
import { isRatingName } from './findings/ratings.ts';
import { uniqueness } from './join-key.ts';
import { mainOf, maxKeyChars, quantities, type Side, table, withoutText, written } from './join-side.ts';
import { isPrice } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const shown = 12;
const maxGroups = 60;
const maxMeasures = 2;
/** More rows that share a value are counted. */
const namedTies = 3;

/** Measures of one table by groups of the other, which has one row per key: orders' amount by the customers' region, days off by department. */
export function enriched(a: Side, b: Side): Finding[] {
  const main = mainOf(a) ?? quantities(a).find(({ role }) => role === 'rate') ?? unclear(a);
  if (main === undefined || uniqueness(b.rows) < 0.95) return [];
  const oneToOne = uniqueness(a.rows) > 0.9;
  const measures = oneToOne
    ? [main, ...quantities(a).filter((plan) => plan !== main && plan.role === 'measure')].slice(0, maxMeasures)
    : [main];
  // If both tables have one row per key, a column of the other that names each row is not a group.
  const groups = oneToOne ? new Set(table(b).plans.filter(({ values }) => values.distinct <= table(b).count * 0.8)) : undefined;
  const rated = quantities(a).find((plan) => !measures.includes(plan) && isMean(plan));
  return [...measures, ...(rated === undefined ? [] : [rated])].flatMap((measure) => {
    const additive = measure.role !== 'rate' && measure !== rated;
    const figureAt = (at: number) => table(a).numbers(measure)[at]!;
    const name =
      measure.role === 'unclear' && additive
        ? `${measure.name} (if its values may be added up)`
        : additive
          ? measure.name
          : `Mean ${measure.name}`;
    // If the other table only names the keys, the names are the groups.
    return grouped(a, b, figureAt, name, additive, b, groups);
  });
}

/** A score, a rating or a rate, of which groups have a mean. */
function isMean({ name, role }: ColumnPlan): boolean {
  return (
    (role === 'rate' || role === 'unclear') && (isRatingName(name) || /score|mark|grade|points|note|punkte/i.test(name)) && !isPrice(name)
  );
}

function unclear(side: Side): ColumnPlan | undefined {
  return quantities(side).find(({ role }) => role === 'unclear');
}

/** The largest and the smallest of a table without names, with the names of the other. */
export function named(a: Side, b: Side): Finding[] {
  const label = table(b).labelPlan;
  const main = mainOf(a) ?? unclear(a);
  const own = table(a).labelPlan;
  if (main === undefined || label === undefined || b.plans.includes(label) || uniqueness(a.rows) < 0.95 || uniqueness(b.rows) < 0.95)
    return [];
  if (own !== undefined && !a.plans.includes(own)) return [];
  const numbers = table(a).numbers(main);
  const ranked = [...a.rows]
    .flatMap(([key, [at]]) => (b.rows.has(key) && !Number.isNaN(numbers[at!]!) ? [{ key, at: at!, value: numbers[at!]! }] : []))
    .toSorted((x, y) => y.value - x.value);
  if (ranked.length < 3) return [];
  const name = ({ key, at, value }: (typeof ranked)[number]) =>
    `${written(a, at)} (${table(b).label(b.rows.get(key)![0]!)}) ${exact(value)}`;
  const sharing = (value: number) => ranked.filter((each) => each.value === value);
  const [tops, lows] = [sharing(ranked[0]!.value), sharing(ranked.at(-1)!.value)];
  if (tops.length > namedTies && lows.length > namedTies) return [];
  const end = (rows: typeof ranked) =>
    rows.length > namedTies ? `${countOf(rows.length, 'key')} with ${exact(rows[0]!.value)}` : rows.map(name).join(', ');
  const largest = tops.length > namedTies ? end(tops) : end([...tops, ...ranked.slice(tops.length, namedTies)]);
  return [
    {
      kind: 'join_named',
      text: `${main.name} of the common keys is largest for ${largest}; smallest for ${end(lows)}.`,
    },
  ];
}

/** The shortest and the longest durations of a table by its groups, with the names of the other. */
export function namedDurations(a: Side, b: Side): Finding[] {
  const label = table(b).nameBeside(b.plans);
  if (label === undefined || uniqueness(a.rows) < 0.95 || uniqueness(b.rows) < 0.95) return [];
  const keyOf = new Map([...a.rows].flatMap(([key, rows]) => rows.map((at) => [at, key] as const)));
  const nameOf = (at: number) => {
    const other = b.rows.get(keyOf.get(at)!)?.[0];
    return `${written(a, at)} (${other === undefined ? `not in ${b.name}` : table(b).texts(label)[other]!.slice(0, maxKeyChars)})`;
  };
  return durationsOf(table(a)).flatMap((durations): Finding[] => {
    const { plan, seconds, write } = durations;
    const ofKeys = (rows: readonly number[]) => rows.filter((at) => keyOf.has(at));
    const ends = (rows: readonly number[]) => {
      const [short, long] = [seconds[rows[0]!]!, seconds[rows.at(-1)!]!];
      return `shortest ${write(short)} of ${rowsWith(short, rows, seconds, nameOf)}, longest ${write(long)} of ${rowsWith(long, rows, seconds, nameOf)}`;
    };
    const groups = durationGroups(table(a), durations).flatMap((group) => {
      const each = rowsByGroup(table(a), durations, group).flatMap(([key, own]) => {
        const rows = ofKeys(own);
        return rows.length === 0 ? [] : [`${group.name} ${key}: ${ends(rows)}`];
      });
      return [`${plan.name} by ${group.name}, with names from ${b.name}: ${listedBy(each)}.`];
    });
    const all = ofKeys(rankedRows(seconds));
    const whole = all.length === 0 ? [] : [`${plan.name} with names from ${b.name}: ${ends(all)}.`];
    return (groups.length > 0 ? groups : whole).map((text) => ({ kind: 'join_durations', text }));
  });
}

/** Of the rows with each answer of a yes-or-no column, how many have a row in the other table. */
export function flagged(a: Side, b: Side): Finding[] {
  if (uniqueness(a.rows) < 0.95) return [];
  const flags = table(a).plans.filter(({ type, values }) => type === 'boolean' && values.distinct === 2);
  return flags.slice(0, maxMeasures).map((plan) => {
    const texts = table(a).texts(plan);
    const counts = new Map<string, { found: number; all: number }>();
    for (const [key, [at]] of a.rows) {
      const answer = texts[at!]!;
      const own = counts.get(answer) ?? { found: 0, all: 0 };
      counts.set(answer, own);
      own.all++;
      if (b.rows.has(key)) own.found++;
    }
    const each = [...counts].map(
      ([answer, { found, all }]) =>
        `${exact(found)} of ${countOf(all, 'key')} ${answer === '' ? `without ${plan.name}` : `with ${plan.name} ${answer}`}`,
    );
    return { kind: 'join_flags', text: `Of ${a.name}, in ${b.name}: ${listed(each)}.` };
  });
}

function listedBy(each: readonly string[]): string {
  return each.length > shown ? `${each.slice(0, shown).join('; ')}; and ${exact(each.length - shown)} more` : each.join('; ');
}

/** @param from the table with the group columns; only those in `only`, if given */
export function grouped(
  a: Side,
  b: Side,
  figureAt: (at: number, other: number) => number,
  name: string,
  additive = true,
  from = b,
  only?: ReadonlySet<ColumnPlan>,
): Finding[] {
  const groups = table(from).plans.filter(
    (plan) =>
      !from.plans.includes(plan) &&
      (only?.has(plan) ?? true) &&
      // A column with a name for each row is not a grouping.
      (from === b || plan.values.distinct <= table(from).count * 0.7) &&
      plan.reads === 'text' &&
      (plan.type === 'text' || plan.role === 'code') &&
      plan.values.distinct >= 2 &&
      plan.values.distinct <= maxGroups &&
      plan.meanChars <= 40,
  );
  return groups.slice(0, 3).flatMap((plan): Finding[] => {
    const totals = new Map<string, { sum: number; rows: number }>();
    const without = { sum: 0, rows: 0 };
    for (const [key, own] of a.rows) {
      const other = b.rows.get(key)?.[0];
      if (other === undefined) continue;
      for (const at of own) {
        const group = table(from).texts(plan)[from === b ? other : at]!;
        const entry = group === '' ? without : (totals.get(group) ?? { sum: 0, rows: 0 });
        if (group !== '') totals.set(group, entry);
        const value = figureAt(at, other);
        if (Number.isNaN(value)) continue;
        entry.sum += value;
        entry.rows++;
      }
    }
    if (!additive) for (const entry of totals.values()) entry.sum /= Math.max(entry.rows, 1);
    const ranked = [...totals].filter(([, { rows }]) => rows > 0).sort((x, y) => y[1].sum - x[1].sum);
    if (ranked.length < 2) return [];
    const whole = ranked.reduce((sum, [, each]) => sum + each.sum, without.sum);
    const none =
      additive && without.rows > 0 ? `; without a ${plan.name} ${exact(clean(without.sum))} (${countOf(without.rows, 'row')})` : '';
    const positive = additive && ranked.every(([, { sum }]) => sum >= 0) && whole > 0;
    return [
      {
        kind: 'join_groups',
        text: `${name} by ${plan.name} (from ${from.name}${withoutText(a)}): ${listed(
          ranked.map(
            ([group, { sum, rows }]) =>
              `${group} ${additive ? exact(clean(sum)) : round(sum)} (${positive ? `${percent(sum, whole)}, ` : ''}${countOf(rows, 'row')})`,
          ),
          shown,
        )}${none}.`,
      },
    ];
  });
}
