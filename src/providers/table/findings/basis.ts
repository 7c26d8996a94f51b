/** Which rows and values the figures leave out, and what amounts in several currencies add up to without and with them. */
import type { Basis } from '../basis.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, leftOutText, listed, rowList } from '../figure-text.ts';
import { unitColumns } from '../plan-figures.ts';
import type { Finding, LeftOut } from '../table-profile.ts';

const maxColumns = 2;
const rowsNamed = 6;

export function basisFindings(basis: Basis | null, all: ColumnsInMemory, counted: ColumnsInMemory): Finding[] {
  if (basis === null) return [];
  // Duplicates are told with their cells elsewhere.
  const rowsOf = ({ kind, rows }: LeftOut) => (kind === 'duplicates' ? rowList(rows, rowsNamed) : namedRows(all, rows));
  const what = leftOutText(basis.leftOut.map((each) => ({ ...each, what: `${each.what} (${rowsOf(each)})` })));
  const count = counted.count < all.count ? `: ${exact(counted.count)} of ${exact(all.count)} rows count` : '';
  const beside = hasOtherFigures(all, counted) ? ' Where a figure with them differs, it stands beside the main ones.' : '';
  return [{ kind: 'basis', text: `The figures leave out ${what}${count}.${beside}` }, ...byCurrency(all, counted)];
}

/** Whether a column has another sum or another number of values with all rows. */
function hasOtherFigures(all: ColumnsInMemory, counted: ColumnsInMemory): boolean {
  return all.quantities().some((plan) => {
    const [own, whole] = [counted, all].map((table) => table.numbers(plan).filter((value) => !Number.isNaN(value)));
    return own!.length !== whole!.length || own!.some((value, at) => value !== whole![at]);
  });
}

/** The rows with their keys, where these are few. */
function namedRows(table: ColumnsInMemory, rows: readonly number[]): string {
  if (rows.length > rowsNamed || table.labelPlan === undefined) return rowList(rows, rowsNamed);
  const at = new Map(table.rows.numbers.map((number, i) => [number, i]));
  return listed(rows.map((row) => table.rowName(at.get(row)!)));
}

/** Sums in each currency: the profile has no single sum of such a column. */
function byCurrency(all: ColumnsInMemory, counted: ColumnsInMemory): Finding[] {
  const units = unitColumns({ columns: all.plans });
  return all
    .quantities()
    .filter(({ role, index }) => role === 'measure' && units.has(index))
    .slice(0, maxColumns)
    .flatMap((plan) => {
      const [without, withAll] = [counted, all].map((table) => sums(table, plan, units.get(plan.index)!));
      const changed = [...withAll!].filter(([unit, sum]) => (without!.get(unit) ?? 0) !== sum);
      if (changed.length === 0) return [];
      const each = changed.map(([unit, sum]) => `${unit} ${exact(clean(without!.get(unit) ?? 0))} (${exact(clean(sum))} with them)`);
      return [{ kind: 'basis', text: `${plan.name} without what the figures leave out: ${listed(each)}.` }];
    });
}

function sums(table: ColumnsInMemory, plan: ColumnPlan, unit: ColumnPlan): Map<string, number> {
  const [numbers, units] = [table.numbers(plan), table.texts(unit)];
  const found = new Map<string, number>();
  for (const [at, value] of numbers.entries())
    if (!Number.isNaN(value) && units[at] !== '') found.set(units[at]!, (found.get(units[at]!) ?? 0) + value);
  return found;
}
