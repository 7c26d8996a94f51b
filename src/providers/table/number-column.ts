/** The figures of one numeric column, in one pass: exact sums; exact quartiles if the values fit into memory, otherwise from a random sample. */
import { ExactSum } from './exact-sum.ts';
import type { NumberProfile, OutlierProfile } from './table-profile.ts';

/** An extreme value and the beginning of its row. */
export type Extreme = { value: number; row: number; cells: Record<string, string> };

const extremesKept = 8;
const extremesShown = 5;
const sampleSize = 20_000;

export class NumberColumn {
  private readonly values: Float64Array;
  private readonly sum = new ExactSum();
  private readonly sampled: boolean;
  private count = 0;
  private mean = 0;
  private squares = 0;
  private random = 0x9e3779b9;
  /** Ascending. */
  private lowest: Extreme[] = [];
  /** Descending. */
  private highest: Extreme[] = [];

  /**
   * @param count expected number of values
   * @param room most values that may be kept
   */
  constructor(count: number, room: number) {
    this.sampled = count > room;
    this.values = new Float64Array(this.sampled ? Math.min(room, sampleSize) : count);
  }

  /** @param context returns the beginning of the row; called only for extremes */
  add(value: number, decimals: number, row: number, context: () => Record<string, string>): void {
    this.sum.add(value, decimals);
    const count = ++this.count;
    // Welford's method: no difference of large squares.
    const delta = value - this.mean;
    this.mean += delta / count;
    this.squares += delta * (value - this.mean);
    if (count <= this.values.length) this.values[count - 1] = value;
    else if (this.sampled) this.replaceOne(value);
    if (this.lowest.length < extremesKept || value < this.lowest.at(-1)!.value)
      keep(this.lowest, { value, row, cells: context() }, (a, b) => a.value - b.value);
    if (this.highest.length < extremesKept || value > this.highest.at(-1)!.value)
      keep(this.highest, { value, row, cells: context() }, (a, b) => b.value - a.value);
  }

  /** Null if there were no values. */
  profile(): NumberProfile | null {
    if (this.count === 0) return null;
    const sorted = this.values.subarray(0, Math.min(this.count, this.values.length)).slice().sort();
    const sum = this.sum.total();
    const deviation = this.count > 1 ? Math.sqrt(Math.max(this.squares, 0) / (this.count - 1)) : 0;
    const q1 = quantile(sorted, 0.25);
    const q3 = quantile(sorted, 0.75);
    return {
      count: this.count,
      sum,
      mean: rounded(sum / this.count),
      median: rounded(quantile(sorted, 0.5)),
      min: this.lowest[0]!.value,
      min_row: this.lowest[0]!.row,
      max: this.highest[0]!.value,
      max_row: this.highest[0]!.row,
      standard_deviation: rounded(deviation),
      q1: rounded(q1),
      q3: rounded(q3),
      quantiles_estimated: this.sampled,
      outliers: this.outliers(sorted, q1, q3, deviation),
    };
  }

  /** Reservoir sampling with a fixed seed: the same table gives the same estimate. */
  private replaceOne(value: number): void {
    this.random ^= this.random << 13;
    this.random ^= this.random >>> 17;
    this.random ^= this.random << 5;
    const slot = Math.floor(((this.random >>> 0) / 2 ** 32) * this.count);
    if (slot < this.values.length) this.values[slot] = value;
  }

  private outliers(sorted: Float64Array, q1: number, q3: number, deviation: number): OutlierProfile {
    const range = q3 - q1;
    // If half of the values are equal, quartiles do not show the spread.
    const reach = range > 0 ? 1.5 * range : 3 * deviation;
    const low = rounded((range > 0 ? q1 : this.mean) - reach);
    const high = rounded((range > 0 ? q3 : this.mean) + reach);
    const outside = (value: number) => value < low || value > high;
    let count = 0;
    for (const value of sorted) if (outside(value)) count++;
    const extremes = [...this.lowest.filter((each) => each.value < low), ...this.highest.filter((each) => each.value > high)];
    const distance = ({ value }: Extreme) => Math.max(low - value, value - high);
    const estimated = this.sampled ? Math.max(Math.round((count / sorted.length) * this.count), extremes.length) : count;
    return {
      rule: range > 0 ? '1.5 × the interquartile range beyond the quartiles' : '3 standard deviations from the mean',
      low_fence: low,
      high_fence: high,
      count: estimated,
      most_extreme: extremes
        .sort((a, b) => distance(b) - distance(a) || a.row - b.row)
        .slice(0, extremesShown)
        .map(({ row, value, cells }) => ({ row, value, cells })),
    };
  }
}

/** The quantile of sorted values, interpolated linearly between neighbours (as spreadsheets do). */
export function quantile(sorted: Float64Array, share: number): number {
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (at - below);
}

/** Without binary rounding noise: 15 significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(15));
}

function keep(list: Extreme[], entry: Extreme, compare: (a: Extreme, b: Extreme) => number): void {
  let at = list.length;
  // Equal values stay in the order of their rows.
  while (at > 0 && compare(entry, list[at - 1]!) < 0) at--;
  list.splice(at, 0, entry);
  if (list.length > extremesKept) list.pop();
}
