/** The sums of the period that a task asks about, and the rows of another time. */
import { isInside, onlyDate, type Period, periodText, rowsOutside } from '../asked-period.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { unitColumns } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';

const rowsNamed = 6;
const maxColumns = 3;

/**
 * @param all every row
 * @param table the rows that the figures count, with or without those outside of the period
 */
export function periodFindings(all: ColumnsInMemory, table: ColumnsInMemory, period: Period | undefined): Finding[] {
  if (period === undefined) return [];
  const outside = rowsOutside(all, period);
  const plan = onlyDate(table);
  if (outside === null || plan === null) return [];
  const dates = table.dates(plan);
  const inside = [...dates.keys()].filter((at) => isInside(dates[at]!, period));
  const sum = (of: ColumnsInMemory, rows: readonly number[]) => sumsOf(of, rows).map(({ name, sum: value }) => `${name} ${exact(value)}`);
  const own = inside.length === 0 ? 'no row' : countOf(inside.length, 'row');
  const figures = sumsOf(table, inside).map(({ name, sum: value }) => `${name} adds up to ${exact(value)}`);
  const others =
    outside.rows.length > rowsNamed
      ? `${exact(outside.rows.length)} rows${together(sum(all, outside.rows))}`
      : listed(
          outside.rows.map((at) => `${all.rowName(at)} of ${all.texts(outside.plan)[at]}${together(sum(all, [at]))}`),
          rowsNamed,
        );
  const sums = sum(all, outside.rows);
  const whole = outside.rows.length > 1 && outside.rows.length <= rowsNamed && sums.length > 0 ? ` (in all${together(sums)})` : '';
  return [
    {
      kind: 'asked_period',
      text: `${plan.name} from ${periodText(period)}: ${own}${figures.length === 0 ? '' : `; ${listed(figures)}`}. Not of this period: ${others}${whole}.`,
    },
  ];
}

function together(figures: readonly string[]): string {
  return figures.length === 0 ? '' : ` with ${listed(figures)}`;
}

/** The columns that may be added up; amounts in several currencies may not. */
function sumsOf(table: ColumnsInMemory, rows: readonly number[]): { name: string; sum: number }[] {
  const mixed = unitColumns({ columns: table.plans });
  return table
    .quantities()
    .filter(({ role, units, index }) => role === 'measure' && units.size < 2 && !mixed.has(index))
    .slice(0, maxColumns)
    .flatMap((plan) => {
      const numbers = table.numbers(plan);
      const known = rows.filter((at) => !Number.isNaN(numbers[at]!));
      return known.length === 0 ? [] : [{ name: plan.name, sum: clean(known.reduce((sum, at) => sum + numbers[at]!, 0)) }];
    });
}
