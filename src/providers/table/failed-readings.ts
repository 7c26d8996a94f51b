/** Values that devices and programs write in place of a failed reading, such as -999. */
import type { ColumnPlan } from './column-evidence.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { exact, listed, round, rowList } from './figure-text.ts';
import { quantile } from './number-column.ts';
import { isMoney } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const failedMeaning = 'devices and programs write such a value for a failed reading';

const failedValues = new Set([-127, -99, -99.9, -999, -999.9, -9999, 999, 999.9, 9999, 99_999, 999_999]);
const minValues = 8;
/** Multiples of the interquartile range beyond the quartiles. */
const farFences = 3;
/** With more of them the value is a usual one. */
const maxShare = 0.3;

/** A large amount may be a true one, a negative amount of money a refund; a temperature of 9999 is none. */
function isFailedValue(plan: ColumnPlan, value: number): boolean {
  return failedValues.has(value) && (value < 0 || plan.role !== 'measure') && !(value < 0 && isMoney(plan));
}

/** Positions of the failed readings of a column: far from its other values, and no reversal of one of them. */
export function failedReadings(plan: ColumnPlan, table: ColumnsInMemory): number[] {
  const numbers = table.numbers(plan);
  const candidates = [...numbers.keys()].filter((at) => isFailedValue(plan, numbers[at]!));
  if (candidates.length === 0) return [];
  const { count, q1, q3 } = quartiles(numbers);
  const reach = farFences * (q3 - q1);
  const known = new Set(numbers);
  const rows = candidates.filter((at) => {
    const value = numbers[at]!;
    return (value < q1 - reach || value > q3 + reach) && !known.has(-value);
  });
  return count < minValues || rows.length > count * maxShare ? [] : rows;
}

export function failedReadingFindings(table: ColumnsInMemory): Finding[] {
  return table.quantities().flatMap((plan) => {
    const rows = failedReadings(plan, table);
    if (rows.length === 0) return [];
    const numbers = table.numbers(plan);
    const { q1, q3 } = quartiles(numbers);
    const values = listed([...new Set(rows.map((at) => exact(numbers[at]!)))]);
    const where = `${exact(rows.length)} ${rows.length === 1 ? 'row' : 'rows'} (${rowList(rows.map((at) => table.row(at)))})`;
    return [
      {
        kind: 'outlier',
        text: `${rows.length === 1 ? 'Outlier' : 'Outliers'}: ${plan.name} is ${values} in ${where}, far from the usual ${round(q1)} to ${round(q3)}; ${failedMeaning}.`,
      },
    ];
  });
}

function quartiles(numbers: Float64Array): { count: number; q1: number; q3: number } {
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort();
  return { count: sorted.length, q1: quantile(sorted, 0.25), q3: quantile(sorted, 0.75) };
}
