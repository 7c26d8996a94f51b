/** Runs of one value that are longer than chance allows: a stuck sensor, or an entry that was repeated. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import { untrueReadings } from '../lone-spikes.ts';
import type { Finding } from '../table-profile.ts';
import type { Series } from './series.ts';

const minRun = 5;
const maxSeries = 50;
const maxReported = 8;
const minVarying = 4;
const maxMeanwhile = 2;
/** Other columns that are read for it. */
const maxCompared = 6;

export function stuckFindings(table: ColumnsInMemory, series: readonly Series[]): Finding[] {
  const time = table.plans.find(({ reads }) => reads === 'date');
  return table
    .quantities()
    .flatMap((plan) => stuckRuns(table, plan, series).map((run) => ({ plan, ...run })))
    .slice(0, maxReported)
    .map(({ plan, name, rows }) => {
      const [first, last] = [rows[0]!, rows.at(-1)!];
      const when = `, ${table.texts(time!)[first]} to ${table.texts(time!)[last]}`;
      return {
        kind: 'stuck',
        text: `${name === '' ? '' : `${name}: `}${plan.name} stands still at ${exact(table.numbers(plan)[first]!)} for ${rows.length} rows in a row (rows ${table.row(first)} to ${table.row(last)}${when}), while it changes elsewhere; the sensor or the entry may be stuck.${meanwhile(table, plan, rows)}`,
      };
    });
}

/** A column that varies in these rows shows that the others did not stop. */
function meanwhile(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): string {
  const others = table.quantities().filter((other) => other !== plan);
  const each = others.slice(0, maxCompared).flatMap((other) => {
    const untrue = untrueReadings(other, table);
    const values = rows
      .filter((at) => !untrue.has(at))
      .map((at) => table.numbers(other)[at]!)
      .filter((value) => !Number.isNaN(value));
    if (new Set(values).size < minVarying) return [];
    const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    return [`${other.name} goes on varying (${exact(low)} to ${exact(high)})`];
  });
  return each.length === 0 ? '' : ` In these rows ${listed(each.slice(0, maxMeanwhile))}.`;
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
