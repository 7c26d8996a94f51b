/** Single readings of a series in time that are many times larger than all others, between usual ones: no flow or level jumps like that. */
import type { ColumnPlan } from './column-evidence.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { failedReadings } from './failed-readings.ts';
import { exact } from './figure-text.ts';
import { quantile } from './number-column.ts';
import { isMoney } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const minReadings = 50;
const minTimes = 10;
const mostSpikes = 3;

/** Positions of the spikes. Money and counts of things may jump, so only fractional readings with a time of day are judged. */
export function loneSpikes(plan: ColumnPlan, table: ColumnsInMemory): number[] {
  if (!table.plans.some(({ reads, timed, dateDoubt }) => reads === 'date' && timed && !dateDoubt) || isMoney(plan)) return [];
  const numbers = table.numbers(plan);
  const known = [...numbers.keys()].filter((at) => !Number.isNaN(numbers[at]!));
  if (known.length < minReadings || known.every((at) => Number.isInteger(numbers[at]!))) return [];
  const ranked = known.toSorted((a, b) => numbers[b]! - numbers[a]!);
  const count = ranked.slice(0, mostSpikes).findIndex((at, i) => numbers[at]! > minTimes * numbers[ranked[i + 1]!]!) + 1;
  const usual = quantile(Float64Array.from(known, (at) => numbers[at]!).sort(), 0.5);
  if (count === 0 || usual <= 0) return [];
  const spikes = ranked.slice(0, count);
  const limit = numbers[ranked[count]!]!;
  const isUsual = (at: number) => numbers[at] === undefined || Number.isNaN(numbers[at]) || numbers[at] <= limit;
  return spikes.every((at) => isUsual(at - 1) && isUsual(at + 1)) ? spikes.toSorted((a, b) => a - b) : [];
}

/** Values that are no true readings: those of failed readings, and spikes. */
export function untrueReadings(plan: ColumnPlan, table: ColumnsInMemory): ReadonlySet<number> {
  return new Set([...failedReadings(plan, table), ...loneSpikes(plan, table)]);
}

export function loneSpikeFindings(table: ColumnsInMemory): Finding[] {
  return table.quantities().flatMap((plan) => {
    const numbers = table.numbers(plan);
    const spikes = loneSpikes(plan, table);
    const usual = numbers.reduce((most, value, at) => (value > most && !spikes.includes(at) ? value : most), 0);
    return spikes.map((at) => ({
      kind: 'outlier',
      text: `Outlier: ${plan.name} is ${exact(numbers[at]!)} in ${table.rowInWords(at)}, between usual values; all others are at most ${exact(usual)}. No true reading jumps like that, so the figures leave it out.`,
    }));
  });
}
