/** A price, a rate or a level with few values that changes at a point in time and stays: from when each value holds. */
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact } from '../figure-text.ts';
import { trendPlan } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { isRatingName } from './ratings.ts';

const maxSteps = 5;
const maxColumns = 4;
const minRowsOfValue = 3;

export function stepFindings(table: ColumnsInMemory): Finding[] {
  const trend = trendPlan({ columns: [...table.plans], rows: table.count, columnCount: 0, ragged: { count: 0, first: [] }, warnings: [] });
  if (trend === null) return [];
  const dates = table.dates(trend.plan);
  const inTime = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!)).sort((a, b) => dates[a]! - dates[b]! || a - b);
  const plans = table
    .quantities()
    .filter(
      ({ role, values, units, name }) =>
        role !== 'measure' && values.distinct >= 2 && values.distinct <= maxSteps + 1 && units.size < 2 && !isRatingName(name),
    );
  return plans.slice(0, maxColumns).flatMap((plan): Finding[] => {
    const numbers = table.numbers(plan);
    const runs: { value: number; from: number; rows: number }[] = [];
    for (const at of inTime) {
      const value = numbers[at]!;
      if (Number.isNaN(value)) continue;
      const last = runs.at(-1);
      if (last?.value === value) last.rows++;
      else if (runs.length > maxSteps) return [];
      else runs.push({ value, from: at, rows: 1 });
    }
    if (runs.length < 2 || runs.some(({ rows }) => rows < minRowsOfValue)) return [];
    const each = runs.map(
      ({ value, from, rows }, i) =>
        `${exact(value)}${i === 0 ? '' : ` from ${table.texts(trend.plan)[from]} (row ${table.row(from)})`} in ${countOf(rows, 'row')}`,
    );
    return [{ kind: 'step', text: `${plan.name} changes in time and stays: ${each.join(', then ')}.` }];
  });
}
