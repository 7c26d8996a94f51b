/** The columns by whose values rows are grouped where no task names one: few texts, each in several rows. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { differentValues } from '../spellings.ts';

/** @param except the columns that the figures are of @param mostValues in one column @param most columns */
export function groupColumns(
  table: ColumnsInMemory,
  { except, mostValues, most }: { except: readonly ColumnPlan[]; mostValues: number; most: number },
): ColumnPlan[] {
  return table.plans
    .filter(
      (plan) =>
        plan.reads === 'text' &&
        plan.values.distinct >= 2 &&
        differentValues(plan) <= Math.min(mostValues, plan.filled / 2) &&
        !except.includes(plan),
    )
    .slice(0, most);
}
