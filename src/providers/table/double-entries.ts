/** Entries with the same number, key, amount and texts on different dates: an invoice that is booked twice. */

import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import type { Side } from './join-side.ts';

const minUnique = 0.9;
const maxIdChars = 40;

export type DoubleEntry = { again: number; first: number; id: string; value: number };

/** None without a column that numbers nearly every entry. */
export function doubleEntries({ table, plans }: Side, date: ColumnPlan, amount: ColumnPlan): DoubleEntry[] {
  const id = table.plans.find(
    (plan) =>
      plan.reads === 'text' &&
      !plans.includes(plan) &&
      plan.values.exact &&
      plan.filled === table.count &&
      plan.values.distinct >= table.count * minUnique &&
      plan.values.distinct < table.count,
  );
  if (id === undefined) return [];
  const texts = table.plans.filter(({ reads }) => reads === 'text').map((plan) => table.texts(plan));
  const [ids, numbers, dates] = [table.texts(id), table.numbers(amount), table.dates(date)];
  const known = new Map<string, number>();
  const found: DoubleEntry[] = [];
  for (let at = 0; at < table.count; at++) {
    const entry = JSON.stringify([numbers[at], ...texts.map((column) => column[at])]);
    const first = known.get(entry);
    if (first === undefined) known.set(entry, at);
    else if (dates[first] !== dates[at]) found.push({ again: at, first, id: cellText(ids[at]!, maxIdChars), value: numbers[at]! });
  }
  return found;
}
