/** Columns that are the sum of others, and rows that are the sum of others: which part is the largest, and whether the total rows fit. */
import { type ColumnPlan, readNumber } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent } from '../figure-text.ts';
import { periodColumnsOf } from '../period-columns.ts';
import { near } from '../summed-rows.ts';
import type { Finding } from '../table-profile.ts';
import type { TotalRow } from '../total-row-texts.ts';
import type { TotalColumn } from './relations.ts';

const partsNamed = 12;
const rowsNamed = 5;

/** The parts of a total column by size, and the subtotals by size. */
export function totalColumnFindings(table: ColumnsInMemory, columns: readonly TotalColumn[], rows: readonly TotalRow[]): Finding[] {
  return [...columns.flatMap((column) => partsBySize(table, column)), ...subtotalsBySize(table, columns, rows)];
}

/** Total rows in which a total column is not the sum of its parts, and columns that only records fill. */
export function totalRowFindings(table: ColumnsInMemory, columns: readonly TotalColumn[], rows: readonly TotalRow[]): Finding[] {
  return [...columns.flatMap((column) => acrossTotalRows(column, rows)), ...emptyInTotalRows(table, rows)];
}

function partsBySize(table: ColumnsInMemory, { total, parts }: TotalColumn): Finding[] {
  // Periods are ranked by a rule of their own.
  if (parts.some(({ role, min }) => role !== 'measure' || min < 0) || periodColumnsOf(parts).length > 0) return [];
  const sums = parts.map((plan) => ({ name: plan.name, sum: sumOf(table.numbers(plan)) })).toSorted((a, b) => b.sum - a.sum);
  const whole = clean(sums.reduce((all, { sum }) => all + sum, 0));
  if (whole <= 0) return [];
  const each = sums.slice(0, partsNamed).map(({ name, sum }) => `${name} ${exact(sum)} (${percent(sum, whole)})`);
  return [
    {
      kind: 'parts',
      text: `Of the columns that make up ${total.name}, ${sums[0]!.name} is the largest and ${sums.at(-1)!.name} the smallest: ${each.join(', ')}${sums.length > partsNamed ? ' and more' : ''}; together ${exact(whole)}.`,
    },
  ];
}

/** Rows that add up a part of the records each: quarters, regions. Those of one name, such as a region in each month, are taken together. */
function subtotalsBySize(table: ColumnsInMemory, columns: readonly TotalColumn[], rows: readonly TotalRow[]): Finding[] {
  const subtotals = rows.filter((row) => row.rows > 0 && row.rows < table.count && nameOf(row) !== '');
  if (subtotals.length < 2) return [];
  const plan = columns[0]?.total ?? largestMeasure(table);
  if (plan === undefined) return [];
  const figureIn = (row: TotalRow) => readNumber(plan, row.cells[plan.index] ?? null)?.value ?? Number.NaN;
  const ranked = [...Map.groupBy(subtotals, nameOf)]
    .map(([label, own]) => ({ label, rows: own.length, value: clean(own.reduce((sum, row) => sum + figureIn(row), 0)) }))
    .toSorted((a, b) => b.value - a.value);
  const whole = clean(ranked.reduce((all, { value }) => all + value, 0));
  if (Number.isNaN(whole) || ranked.length < 2 || ranked[0]!.value === ranked.at(-1)!.value) return [];
  const hasShares = ranked.at(-1)!.value >= 0 && whole > 0;
  const each = ranked.slice(0, partsNamed).map(({ label, rows: count, value }) => {
    const details = [...(hasShares ? [percent(value, whole)] : []), ...(count > 1 ? [countOf(count, 'row')] : [])];
    return `"${label}" ${exact(value)}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
  });
  return [
    {
      kind: 'subtotal_rank',
      text: `Of the ${subtotals.length} subtotals, "${ranked[0]!.label}" has the largest ${plan.name} and "${ranked.at(-1)!.label}" the smallest, as written: ${each.join(', ')}${ranked.length > partsNamed ? ' and more' : ''}.${besideWhole(table, plan, subtotals, rows)}`,
    },
  ];
}

/** What the subtotals add up to beside the last total row and the records, for each column in which these differ; every record is in one subtotal. */
function besideWhole(table: ColumnsInMemory, main: ColumnPlan, subtotals: readonly TotalRow[], rows: readonly TotalRow[]): string {
  const last = rows.at(-1);
  if (last === undefined || last.rows > 0 || subtotals.reduce((count, row) => count + row.rows, 0) !== table.count) return '';
  const figureIn = (row: TotalRow, plan: ColumnPlan) => readNumber(plan, row.cells[plan.index] ?? null)?.value ?? Number.NaN;
  const others = table.quantities().filter((plan) => plan !== main && plan.role === 'measure');
  return [main, ...others]
    .map((plan) => {
      const written = figureIn(last, plan);
      const together = clean(subtotals.reduce((sum, row) => sum + figureIn(row, plan), 0));
      if (Number.isNaN(written) || Number.isNaN(together) || near(written, together)) return '';
      return ` Their ${plan.name} together is ${exact(together)}, ${exact(clean(Math.abs(written - together)))} ${together < written ? 'less' : 'more'} than row ${last.number} ("${last.label}") with ${exact(written)}; the records add up to ${exact(sumOf(table.numbers(plan)))}.`;
    })
    .join('');
}

/** The name of the group that the row adds up, or else its own. */
function nameOf({ group, label }: TotalRow): string {
  return group === '' ? label : group;
}

function acrossTotalRows({ total, parts }: TotalColumn, rows: readonly TotalRow[]): Finding[] {
  const compared = rows.flatMap(({ number, label, cells }) => {
    const valueIn = (plan: ColumnPlan) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN;
    const values = parts.map(valueIn);
    const [sum, written] = [clean(values.reduce((all, value) => all + value, 0)), valueIn(total)];
    return Number.isNaN(sum) || Number.isNaN(written) ? [] : [{ number, label, values, sum, written }];
  });
  const wrong = compared.filter(({ sum, written }) => !near(written, sum));
  // If the sum holds in no total row, the rows are totals of another kind.
  if (wrong.length === 0 || (wrong.length === compared.length && compared.length > 1)) return [];
  const each = wrong.map(
    ({ number, label, values, sum, written }) =>
      `row ${number}${label === '' ? '' : ` ("${label}")`}: ${values.map(exact).join(' + ')} = ${exact(sum)}, written ${exact(written)} (difference ${exact(clean(written - sum))})`,
  );
  return [
    {
      kind: 'relation_broken',
      text: `In the total rows, ${total.name} is the sum of its columns in ${compared.length - wrong.length} of ${compared.length}, but not in ${listed(each, rowsNamed)}.`,
    },
  ];
}

function emptyInTotalRows(table: ColumnsInMemory, rows: readonly TotalRow[]): Finding[] {
  if (rows.length === 0) return [];
  const names = table
    .quantities()
    .filter((plan) => plan.filled > 0 && rows.every(({ cells }) => readNumber(plan, cells[plan.index] ?? null) === null))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  return [
    {
      kind: 'total_empty',
      text: `${listed(names, partsNamed)} ${names.length === 1 ? 'is' : 'are'} empty in the ${countOf(rows.length, 'total row')}.`,
    },
  ];
}

function largestMeasure(table: ColumnsInMemory): ColumnPlan | undefined {
  return table
    .quantities()
    .filter(({ role }) => role === 'measure')
    .toSorted((a, b) => sumOf(table.numbers(b)) - sumOf(table.numbers(a)))[0];
}

function sumOf(numbers: Float64Array): number {
  return clean(numbers.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0));
}
