/** Finds the rows whose sum is in a row of totals, if these are not all rows above it: the rows of one group, or a few of the other rows. */
import { type Cell, cellText, isMissing } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import type { Rows } from './rows.ts';

/** Group columns that are considered: the time is linear in rows × these × numeric columns. */
const maxGroupColumns = 6;
const maxGroupChars = 200;
/** With more rows, combinations of two and three are not tried. */
const maxCombined = 40;

/** The sums of the rows that row `at` adds up, one for each numeric column; null if no such rows are found. */
export type SummedRows = (at: number) => number[] | null;

/** The sums of a group of rows, the group's column and its name as written. */
export type GroupSums = { sums: number[]; index: number; name: string };

/**
 * The group that row `at` adds up: with sums that agree with most of its values, or, where `index` is given, the group in that column
 * whatever its sums.
 *
 * @param records the rows that may be summed up
 */
export function groupSums(
  rows: Rows,
  texts: readonly ColumnPlan[],
  numeric: readonly ColumnPlan[],
  records: (at: number) => boolean,
): (at: number, index?: number) => GroupSums | null {
  const columns = texts.slice(0, maxGroupColumns).map(({ index }) => {
    const groups = new Map<string, { rows: number; sums: number[] }>();
    for (const [at, cells] of rows.cells.entries()) {
      const key = keyOf(cells[index] ?? null);
      if (key === '' || !records(at)) continue;
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = { rows: 0, sums: numeric.map(() => 0) }));
      group.rows++;
      for (const [i, plan] of numeric.entries()) group.sums[i]! += readNumber(plan, cells[plan.index] ?? null)?.value ?? 0;
    }
    return { index, groups };
  });
  const additive = additiveOf(numeric);
  return (at, only) => {
    const cells = rows.cells[at]!;
    const values = valuesOf(cells, numeric);
    for (const { index, groups } of columns) {
      if (only !== undefined && only !== index) continue;
      const group = groups.get(keyOf(cells[index] ?? null));
      // A group of one row always equals its own total.
      if (group === undefined || group.rows < 2) continue;
      const known = additive.filter((i) => !Number.isNaN(values[i]!));
      const agreeing = known.filter((i) => near(values[i]!, group.sums[i]!));
      if (only !== undefined || (agreeing.some((i) => values[i] !== 0) && agreeing.length * 2 >= known.length))
        return { sums: group.sums, index, name: cellText(cells[index] ?? null, maxGroupChars) };
    }
    return null;
  };
}

/** A run, a pair or a triple of rows whose sums equal the row's values in every additive column, and in two at least. */
export function combinedSums(rows: Rows, numeric: readonly ColumnPlan[], records: (at: number) => boolean): SummedRows {
  const own = [...rows.cells.keys()].filter(records);
  const additive = additiveOf(numeric);
  if (own.length < 3 || own.length > maxCombined || additive.length < 2) return () => null;
  const values = own.map((at) => valuesOf(rows.cells[at]!, numeric).map((value) => (Number.isNaN(value) ? 0 : value)));
  const sumOf = (chosen: readonly number[], i: number) => chosen.reduce((sum, each) => sum + values[each]![i]!, 0);
  return (at) => {
    const wanted = valuesOf(rows.cells[at]!, numeric);
    const known = additive.filter((i) => !Number.isNaN(wanted[i]!));
    if (known.filter((i) => wanted[i] !== 0).length < 2) return null;
    for (const chosen of combinations(own.length))
      if (known.every((i) => near(wanted[i]!, sumOf(chosen, i)))) return numeric.map((_, i) => sumOf(chosen, i));
    return null;
  };
}

function* combinations(count: number): Generator<number[]> {
  for (let from = 0; from < count; from++)
    for (let to = from + 1; to < count; to++) if (to - from + 1 < count) yield Array.from({ length: to - from + 1 }, (_, i) => from + i);
  for (let a = 0; a < count; a++)
    for (let b = a + 1; b < count; b++) {
      yield [a, b];
      for (let c = b + 1; c < count; c++) yield [a, b, c];
    }
}

function additiveOf(numeric: readonly ColumnPlan[]): number[] {
  return numeric.flatMap(({ role }, i) => (role === 'measure' || role === 'unclear' ? [i] : []));
}

function valuesOf(cells: readonly Cell[], numeric: readonly ColumnPlan[]): number[] {
  return numeric.map((plan) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN);
}

function keyOf(cell: Cell): string {
  return isMissing(cell) ? '' : cellText(cell, maxGroupChars).toLowerCase();
}

export function near(value: number, sum: number): boolean {
  return Math.abs(value - sum) <= 1e-6 + Math.abs(sum) * 1e-9;
}
