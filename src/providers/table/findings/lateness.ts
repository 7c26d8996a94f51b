/** How many rows are late by the minute: by a planned and an actual time of day, or by two dates with times. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import type { Finding } from '../table-profile.ts';
import { dueAndDone } from './due-dates.ts';
import { groupColumns } from './group-columns.ts';
import { type Lateness, lateRows } from './late-rows.ts';
import { clocksOf, nearestMinutes, timeOfDay } from './times-of-day.ts';

const minuteMs = 60_000;
const maxGroups = 60;
const maxGroupings = 3;

/** @param tolerance a limit of the task, told as minutes; a row is late beyond it */
export function latenessFindings(table: ColumnsInMemory, tolerance: number | undefined): Finding[] {
  const told = (due: ColumnPlan, done: ColumnPlan, minutes: Lateness['minutes']) => {
    const groups = groupColumns(table, { except: clocksOf(table).concat(due, done), mostValues: maxGroups, most: maxGroupings });
    const groupings = groups.map((plan) => ({ name: plan.name, keys: table.texts(plan) }));
    return lateRows(table, { due: due.name, done: done.name, minutes, groupings, tolerance });
  };
  const clocks = dueAndDone(clocksOf(table));
  if (clocks.due !== undefined && clocks.done !== undefined) {
    const [by, at] = [clocks.due, clocks.done].map((plan) => table.texts(plan).map(timeOfDay));
    return told(clocks.due, clocks.done, minutesLate(by!, at!));
  }
  const { due, done } = dueAndDone(table.plans.filter(({ reads, dateDoubt, timed }) => reads === 'date' && !dateDoubt && timed));
  if (due === undefined || done === undefined) return [];
  const [by, at] = [table.dates(due), table.dates(done)];
  return told(
    due,
    done,
    Array.from(by, (ms, row) => (Number.isNaN(ms) || Number.isNaN(at[row]!) ? null : (at[row]! - ms) / minuteMs)),
  );
}

/** From one time of day to the other, which may be after midnight. */
export function minutesLate(due: readonly (number | null)[], done: readonly (number | null)[]): (number | null)[] {
  return due.map((by, row) => (by === null || done[row] == null ? null : nearestMinutes(done[row] - by)));
}
