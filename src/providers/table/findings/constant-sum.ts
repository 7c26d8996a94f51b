/** Two columns that make the same sum in every row: days taken and days left. Rows that break it are named. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const minRows = 4;
const minDistinct = 3;
const maxColumns = 12;
const maxFindings = 3;
const rowsNamed = 6;

export function constantSumFindings(table: ColumnsInMemory): Finding[] {
  const plans = table
    .quantities()
    .filter(({ units, values }) => units.size < 2 && values.distinct >= minDistinct)
    .slice(0, maxColumns);
  const findings: Finding[] = [];
  for (const [i, a] of plans.entries())
    for (const b of plans.slice(i + 1)) {
      if (findings.length === maxFindings) return findings;
      findings.push(...constantSum(table, a, b));
    }
  return findings;
}

function constantSum(table: ColumnsInMemory, a: ColumnPlan, b: ColumnPlan): Finding[] {
  const [x, y] = [table.numbers(a), table.numbers(b)];
  const rows = [...x.keys()].filter((at) => !Number.isNaN(x[at]!) && !Number.isNaN(y[at]!));
  if (rows.length < minRows) return [];
  const sums = new Map<number, number>();
  for (const at of rows) {
    const sum = clean(x[at]! + y[at]!);
    sums.set(sum, (sums.get(sum) ?? 0) + 1);
  }
  const [sum, count] = [...sums].reduce((best, each) => (each[1] > best[1] ? each : best));
  const broken = rows.filter((at) => clean(x[at]! + y[at]!) !== sum);
  if (sum === 0 || broken.length > (rows.length >= 8 ? rows.length * 0.15 : 0)) return [];
  const but = broken.slice(0, rowsNamed).map((at) => `${table.rowName(at)}: ${exact(clean(x[at]! + y[at]!))}`);
  const where =
    broken.length === 0
      ? `every row (${exact(count)})`
      : `${exact(count)} of ${countOf(rows.length, 'row')}, but not in ${listed(but, rowsNamed)}`;
  return [{ kind: broken.length === 0 ? 'relation' : 'relation_broken', text: `${a.name} + ${b.name} = ${exact(sum)} in ${where}.` }];
}
