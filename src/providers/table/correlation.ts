/** Pearson's correlation of every pair of a few numeric columns, in one pass and without differences of large squares. */
import type { TableProfile } from './table-profile.ts';

const minRows = 5;
const pairsShown = 12;

type Pair = { a: number; b: number; rows: number; meanA: number; meanB: number; squaresA: number; squaresB: number; products: number };

export class Correlations {
  private readonly columns: readonly string[];
  private readonly pairs: Pair[] = [];

  constructor(columns: readonly string[]) {
    this.columns = columns;
    for (let a = 0; a < columns.length; a++) {
      for (let b = a + 1; b < columns.length; b++)
        this.pairs.push({ a, b, rows: 0, meanA: 0, meanB: 0, squaresA: 0, squaresB: 0, products: 0 });
    }
  }

  /** @param values one row; NaN for a missing cell */
  add(values: Float64Array): void {
    for (const pair of this.pairs) {
      const x = values[pair.a]!;
      const y = values[pair.b]!;
      if (Number.isNaN(x) || Number.isNaN(y)) continue;
      pair.rows++;
      const dx = x - pair.meanA;
      const dy = y - pair.meanB;
      pair.meanA += dx / pair.rows;
      pair.meanB += dy / pair.rows;
      pair.squaresA += dx * (x - pair.meanA);
      pair.squaresB += dy * (y - pair.meanB);
      pair.products += dx * (y - pair.meanB);
    }
  }

  /** Strongest first. Pairs with fewer than five rows, or with a constant column, are left out. */
  strongest(): TableProfile['correlations'] {
    return this.pairs
      .filter(({ rows, squaresA, squaresB }) => rows >= minRows && squaresA > 0 && squaresB > 0)
      .map(({ a, b, rows, squaresA, squaresB, products }) => {
        const r = Math.max(-1, Math.min(1, products / Math.sqrt(squaresA) / Math.sqrt(squaresB)));
        return { columns: [this.columns[a]!, this.columns[b]!] as [string, string], r: Number(r.toFixed(4)), rows };
      })
      .filter(({ r }) => Number.isFinite(r))
      .sort((x, y) => Math.abs(y.r) - Math.abs(x.r))
      .slice(0, pairsShown);
  }
}
