/** The period that a task asks about, and the rows of a table that are of another time. */
import type { ColumnPlan } from './column-evidence.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { isAttributeDate } from './plan-figures.ts';

/** First and last day, as 2025-04-01. */
export type Period = { from: string; to: string };

const dayMs = 86_400_000;

/** The rows with a date outside of the period; null if the table has no date or several, or if all rows are inside. */
export function rowsOutside(table: ColumnsInMemory, period: Period): { plan: ColumnPlan; rows: number[] } | null {
  const plan = onlyDate(table);
  if (plan === null) return null;
  const dates = table.dates(plan);
  const rows = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!) && !isInside(dates[at]!, period));
  return rows.length === 0 ? null : { plan, rows };
}

export function isInside(ms: number, { from, to }: Period): boolean {
  return ms >= Date.parse(from) && ms < Date.parse(to) + dayMs;
}

/** With two dates, such as of the order and of the payment, the period may be of either. */
export function onlyDate(table: ColumnsInMemory): ColumnPlan | null {
  const dates = table.plans.filter(({ reads, name }) => reads === 'date' && !isAttributeDate(name, table.plans));
  const [plan] = dates;
  return plan === undefined || dates.length > 1 || plan.dateDoubt ? null : plan;
}

export function periodText({ from, to }: Period): string {
  return `${from} to ${to}`;
}
