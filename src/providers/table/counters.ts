/**
 * Counters such as the meter of each member: within a key and in order of time they never fall, apart from mistakes. Their readings are used
 * as differences, and never added up or averaged.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { wordSet } from './word-set.ts';

const counterWords = wordSet(
  'meter reading readings zählerstand zähler zaehlerstand stand counter cumulative running odometer kumuliert mileage kilometerstand relevé lectura lettura hours_run',
);
const minReadings = 3;
const minKeys = 3;
const fewFalls = 2;
const maxKeys = 2000;
/** Shares of the steps: few may fall, most rise, and each is small beside the reading. */
const [maxFalling, minRising, maxStep] = [0.04, 0.6, 0.2];

/** The rows of each key in order of time. */
export type Counter = { date: ColumnPlan; key: ColumnPlan; series: ReadonlyMap<string, readonly number[]> };

/** Null if the column is no counter. Of several keys, the one with the fewest falls: after an exchange a member has two meters. */
export function counterOf(table: ColumnsInMemory, plan: ColumnPlan): Counter | null {
  const isNamed = plan.role === 'level' || has(nameTokens(plan.name), counterWords);
  const date = table.plans.find(({ reads, dateDoubt, filled }) => reads === 'date' && !dateDoubt && filled >= table.count * 0.9);
  if (!isNamed || date === undefined || plan.units.size > 1 || !(plan.min >= 0)) return null;
  const keys = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' &&
      type !== 'empty' &&
      filled >= table.count * 0.95 &&
      values.distinct >= minKeys &&
      values.distinct <= Math.min(maxKeys, filled / minReadings),
  );
  const found = keys.flatMap((key) => {
    const series = seriesOf(table, date, key, plan);
    const falls = countFalls(table.numbers(plan), series);
    return falls === null ? [] : [{ date, key, series, falls }];
  });
  return found.toSorted((a, b) => a.falls - b.falls || a.key.index - b.key.index)[0] ?? null;
}

function seriesOf(table: ColumnsInMemory, date: ColumnPlan, key: ColumnPlan, plan: ColumnPlan): Map<string, number[]> {
  const [keys, dates, numbers] = [table.texts(key), table.dates(date), table.numbers(plan)];
  const rows = [...keys.keys()].filter((at) => keys[at] !== '' && !Number.isNaN(dates[at]!) && !Number.isNaN(numbers[at]!));
  const series = Map.groupBy(
    rows.toSorted((a, b) => dates[a]! - dates[b]! || a - b),
    (at) => keys[at]!,
  );
  // A reading that is written twice is one reading.
  for (const [name, own] of series)
    series.set(
      name,
      own.filter((at, i) => i === 0 || dates[at] !== dates[own[i - 1]!] || numbers[at] !== numbers[own[i - 1]!]),
    );
  return series;
}

/** How many steps fall; null if the steps are not those of a counter. */
function countFalls(numbers: Float64Array, series: ReadonlyMap<string, readonly number[]>): number | null {
  let [steps, falls, rises, keys] = [0, 0, 0, 0];
  const shares: number[] = [];
  for (const rows of series.values()) {
    if (rows.length >= minReadings) keys++;
    for (const [i, at] of rows.entries()) {
      if (i === 0) continue;
      const before = numbers[rows[i - 1]!]!;
      steps++;
      if (numbers[at]! < before) falls++;
      else if (numbers[at]! > before) rises++;
      if (before > 0) shares.push(Math.abs(numbers[at]! - before) / before);
    }
  }
  const usual = shares.sort((a, b) => a - b)[shares.length >> 1] ?? Infinity;
  const counts = keys >= minKeys && falls <= Math.max(fewFalls, steps * maxFalling) && rises >= steps * minRising && usual <= maxStep;
  return counts ? falls : null;
}
