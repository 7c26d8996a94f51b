/** Dates on which one group has no row while all others have some: its sums are not comparable with theirs. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import { eventDates } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';

const minDays = 8;
const minGroups = 3;
const maxGroups = 30;
/** A group that lacks more days has another rhythm. */
const maxLacking = 0.3;
const daysNamed = 8;
const dayMs = 86_400_000;

export function groupGapFindings(table: ColumnsInMemory): Finding[] {
  const dates = eventDates(table.plans, table.count).filter(({ filled }) => filled === table.count);
  if (dates.length !== 1) return [];
  const days = [...table.dates(dates[0]!)].map((ms) => Math.floor(ms / dayMs));
  const all = [...new Set(days)].toSorted((a, b) => a - b);
  if (all.length < minDays) return [];
  return table.plans
    .filter((plan) => isGroup(table, plan) && plan.filled === table.count)
    .flatMap((plan) => gapsOf(table, plan, days, all));
}

function gapsOf(table: ColumnsInMemory, plan: ColumnPlan, days: readonly number[], all: readonly number[]): Finding[] {
  const groups = Map.groupBy(days.keys(), (at) => table.texts(plan)[at]!);
  if (groups.size < minGroups || groups.size > maxGroups) return [];
  const own = [...groups].map(([name, rows]) => ({ name, days: new Set(rows.map((at) => days[at]!)) }));
  const complete = own.filter((group) => group.days.size === all.length);
  const lacking = own.filter((group) => group.days.size < all.length);
  // Only one group may lack days: otherwise nothing is expected of every day.
  if (lacking.length !== 1 || complete.length < minGroups - 1) return [];
  const [group] = lacking;
  const missing = all.filter((day) => !group!.days.has(day));
  if (missing.length > all.length * maxLacking) return [];
  const named = missing.map((day) => new Date(day * dayMs).toISOString().slice(0, 10));
  return [
    {
      kind: 'group_gaps',
      text: `${plan.name} ${group!.name} has no rows on ${listed(named, daysNamed)}, on which all others have some: ${exact(group!.days.size)} days against ${exact(all.length)}, so its sums are not comparable with theirs as they are.`,
    },
  ];
}
