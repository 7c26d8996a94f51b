/** Columns that correlate when extreme rows are left out. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, rowList } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import type { Finding } from '../table-profile.ts';

const minCorrelation = 0.7;
const minRows = 12;
const maxColumns = 8;
const fenceRanges = 3;

/** The column that a column correlates with most, both without their extreme rows. */
export function closestTo(table: ColumnsInMemory, name: string): ColumnPlan | null {
  const plans = varying(table);
  const own = plans.find((plan) => plan.name === name);
  if (own === undefined) return null;
  const [x, far] = [table.numbers(own), farRows(table.numbers(own))];
  let closest: { plan: ColumnPlan; r: number } | null = null;
  for (const plan of plans) {
    if (plan === own) continue;
    const y = table.numbers(plan);
    const out = new Set([...far, ...farRows(y)]);
    const kept = [...x.keys()].filter((at) => !Number.isNaN(x[at]!) && !Number.isNaN(y[at]!) && !out.has(at));
    const r = kept.length < minRows ? 0 : Math.abs(correlation(x, y, kept));
    if (r >= minCorrelation && r > (closest?.r ?? 0)) closest = { plan, r };
  }
  return closest?.plan ?? null;
}

function varying(table: ColumnsInMemory): ColumnPlan[] {
  return table
    .quantities()
    .filter(({ units, values, role }) => units.size < 2 && values.distinct > 4 && role !== 'code')
    .slice(0, maxColumns);
}

export function withoutFindings(table: ColumnsInMemory): Finding[] {
  const plans = varying(table);
  const far = plans.map((plan) => farRows(table.numbers(plan)));
  const findings: Finding[] = [];
  for (const [i, a] of plans.entries()) {
    for (const [j, b] of plans.entries()) {
      if (j <= i) continue;
      const out = new Set([...far[i]!, ...far[j]!]);
      const [x, y] = [table.numbers(a), table.numbers(b)];
      const rows = [...x.keys()].filter((at) => !Number.isNaN(x[at]!) && !Number.isNaN(y[at]!));
      const kept = rows.filter((at) => !out.has(at));
      const left = rows.filter((at) => out.has(at));
      if (left.length === 0 || left.length > 2 || kept.length < minRows) continue;
      const [all, r] = [correlation(x, y, rows), correlation(x, y, kept)];
      if (Math.abs(r) < minCorrelation || (Math.abs(all) >= minCorrelation && Math.sign(all) === Math.sign(r))) continue;
      findings.push({
        kind: 'correlation_without',
        text: `Without ${rowList(left.map((at) => table.row(at)))}, ${a.name} and ${b.name} ${r > 0 ? 'rise together' : 'move against each other'} (correlation ${r.toFixed(2)} over ${exact(kept.length)} rows; ${all.toFixed(2)} with ${left.length === 1 ? 'it' : 'them'}); that is no proof of cause.`,
      });
    }
  }
  return findings.slice(0, 3);
}

/** Rows with values more than three times the interquartile range beyond the quartiles. */
export function farRows(numbers: Float64Array): number[] {
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort();
  if (sorted.length < minRows) return [];
  const [q1, q3] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  return [...numbers.keys()].filter((at) => numbers[at]! < q1 - fenceRanges * (q3 - q1) || numbers[at]! > q3 + fenceRanges * (q3 - q1));
}

function correlation(x: Float64Array, y: Float64Array, rows: number[]): number {
  const mean = (numbers: Float64Array) => rows.reduce((sum, at) => sum + numbers[at]!, 0) / rows.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xx, yy, xy] = [0, 0, 0];
  for (const at of rows) {
    xx += (x[at]! - mx) ** 2;
    yy += (y[at]! - my) ** 2;
    xy += (x[at]! - mx) * (y[at]! - my);
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}
