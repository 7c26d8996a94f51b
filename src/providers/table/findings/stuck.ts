/** Runs of one value that are longer than chance allows: a stuck sensor, or an entry that was repeated. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import type { Series } from './series.ts';

const minRun = 5;
const maxSeries = 50;
const maxReported = 8;

export function stuckFindings(table: ColumnsInMemory, series: readonly Series[]): Finding[] {
  const time = table.plans.find(({ reads }) => reads === 'date');
  return table
    .quantities()
    .flatMap((plan) =>
      stuckRuns(table, plan, series).map(({ name, rows }) => {
        const [first, last] = [rows[0]!, rows.at(-1)!];
        const when = `, ${table.texts(time!)[first]} to ${table.texts(time!)[last]}`;
        return {
          kind: 'stuck',
          text: `${name === '' ? '' : `${name}: `}${plan.name} stands still at ${exact(table.numbers(plan)[first]!)} for ${rows.length} rows in a row (rows ${table.row(first)} to ${table.row(last)}${when}), while it changes elsewhere; the sensor or the entry may be stuck.`,
        };
      }),
    )
    .slice(0, maxReported);
}

/** The longest run of each series, if it is longer than chance allows. Without a time the order of the rows says nothing. */
export function stuckRuns(table: ColumnsInMemory, plan: ColumnPlan, series: readonly Series[]): Series[] {
  if (plan.values.distinct < 4 || !table.plans.some(({ reads }) => reads === 'date')) return [];
  const numbers = table.numbers(plan);
  return series.slice(0, maxSeries).flatMap(({ name, rows }) => {
    const run = longestRun(rows.map((at) => numbers[at]!));
    if (run === null || run.length < minRun) return [];
    const value = numbers[rows[run.start]!]!;
    const same = rows.filter((at) => numbers[at] === value).length - run.length;
    const likely = (same + 1) / (rows.length - run.length + 2);
    if (rows.length * likely ** (run.length - 1) > 0.01 || run.length > rows.length * 0.9) return [];
    return [{ name, rows: rows.slice(run.start, run.start + run.length) }];
  });
}

function longestRun(values: number[]): { start: number; length: number } | null {
  let best: { start: number; length: number } | null = null;
  let start = 0;
  for (let i = 1; i <= values.length; i++) {
    if (values[i] === values[start]) continue;
    if (!Number.isNaN(values[start]!) && (best === null || i - start > best.length)) best = { start, length: i - start };
    start = i;
  }
  return best;
}
