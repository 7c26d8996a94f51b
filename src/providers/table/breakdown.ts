/** Figures of numeric columns broken down by a key: the value of a text column, or the month of a date. */
import { ExactSum } from './exact-sum.ts';
import { quantile, rounded } from './number-column.ts';
import type { Figures } from './table-profile.ts';

/** The values of one row in the numeric columns that are broken down; NaN for a missing cell. */
export type RowNumbers = { values: Float64Array; decimals: Uint8Array };

type Tally = { rows: number; counts: number[]; sums: ExactSum[]; kept: number[][] };

export class Breakdown {
  private readonly columns: readonly string[];
  private readonly mostKeys: number;
  private readonly keepValues: boolean;
  private readonly tallies = new Map<string, Tally>();

  /** @param keepValues whether to keep every value, for exact medians; only for tables with few rows */
  constructor(columns: readonly string[], mostKeys: number, keepValues: boolean) {
    this.columns = columns;
    this.mostKeys = mostKeys;
    this.keepValues = keepValues;
  }

  add(key: string, row: RowNumbers): void {
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      if (this.tallies.size === this.mostKeys) return;
      const width = this.columns.length;
      tally = {
        rows: 0,
        counts: Array(width).fill(0),
        sums: Array.from({ length: width }, () => new ExactSum()),
        kept: Array.from({ length: width }, () => []),
      };
      this.tallies.set(key, tally);
    }
    tally.rows++;
    for (let i = 0; i < this.columns.length; i++) {
      const value = row.values[i]!;
      if (Number.isNaN(value)) continue;
      tally.counts[i]!++;
      tally.sums[i]!.add(value, row.decimals[i]!);
      if (this.keepValues) tally.kept[i]!.push(value);
    }
  }

  entries(): { key: string; rows: number; figures: Record<string, Figures> }[] {
    return [...this.tallies].map(([key, { rows, counts, sums, kept }]) => {
      const named = this.columns.map((column, i): [string, Figures | null] => {
        const count = counts[i]!;
        if (count === 0) return [column, null];
        const sum = sums[i]!.total();
        const figures: Figures = { count, sum, mean: rounded(sum / count) };
        if (this.keepValues) figures.median = rounded(quantile(Float64Array.from(kept[i]!).sort(), 0.5));
        return [column, figures];
      });
      // fromEntries, because a column may be called __proto__.
      const figures = Object.fromEntries(named.filter((each): each is [string, Figures] => each[1] !== null));
      return { key, rows, figures };
    });
  }
}
