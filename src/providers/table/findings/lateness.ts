/** How many rows are late by the minute: by a planned and an actual time of day, or by two dates with times. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round, rowList } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { dueAndDone } from './due-dates.ts';
import { groupColumns } from './group-columns.ts';
import { rowsByValue } from './spans.ts';
import { clocksOf, minutesOf, nearestMinutes } from './times-of-day.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
const shown = 10;
const maxGroups = 12;
const maxGroupings = 2;
const minRows = 3;

/** @param tolerance a limit of the task, told as minutes; a row is late beyond it */
export function latenessFindings(table: ColumnsInMemory, tolerance: number | undefined): Finding[] {
  const clocks = dueAndDone(clocksOf(table));
  if (clocks.due !== undefined && clocks.done !== undefined) {
    const [by, at] = [clocks.due, clocks.done].map((plan) => table.texts(plan).map(minutesOf));
    const late = by!.map((due, row) => (due === null || at![row] == null ? null : nearestMinutes(at![row] - due)));
    return lateRows(table, clocks.due, clocks.done, late, tolerance);
  }
  const { due, done } = dueAndDone(table.plans.filter(({ reads, dateDoubt, timed }) => reads === 'date' && !dateDoubt && timed));
  if (due === undefined || done === undefined) return [];
  const [by, at] = [table.dates(due), table.dates(done)];
  const late = Array.from(by, (ms, row) => (Number.isNaN(ms) || Number.isNaN(at[row]!) ? null : (at[row]! - ms) / minuteMs));
  return lateRows(table, due, done, late, tolerance);
}

function lateRows(
  table: ColumnsInMemory,
  due: ColumnPlan,
  done: ColumnPlan,
  minutes: readonly (number | null)[],
  tolerance: number | undefined,
): Finding[] {
  const both = [...minutes.keys()].filter((row) => minutes[row] !== null);
  if (both.length < minRows) return [];
  const beyond = (limit: number) => both.filter((row) => minutes[row]! > limit).toSorted((a, b) => minutes[b]! - minutes[a]!);
  const share = (rows: readonly number[], of: readonly number[]) =>
    `${exact(rows.length)} of ${exact(of.length)} (${percent(rows.length, of.length)})`;
  const late = beyond(0);
  const meant = tolerance === undefined ? late : beyond(tolerance);
  const isMeant = new Set(meant);
  const names = listed(
    meant.slice(0, shown).map((row) => `${table.rowName(row)} by ${minutesText(minutes[row]!)}`),
    shown,
  );
  const more = meant.length > shown ? ' and more' : '';
  const early = both.filter((row) => minutes[row]! < 0).length;
  const without = [...minutes.keys()].filter((row) => minutes[row] === null);
  const byGroup = groupColumns(table, { except: [due, done], mostValues: maxGroups, most: maxGroupings }).map((plan) => {
    const groups = rowsByValue(table, plan, both).map(([key, rows]) => ({ key, rows, late: rows.filter((row) => isMeant.has(row)) }));
    const ranked = groups.toSorted((a, b) => b.late.length / b.rows.length - a.late.length / a.rows.length);
    return ` By ${plan.name}: ${ranked.map(({ key, rows, late: own }) => `${key} ${share(own, rows)}`).join(', ')}.`;
  });
  const limit = tolerance === undefined ? '' : `; more than ${countOf(tolerance, 'minute')} late: ${share(meant, both)}`;
  const left =
    without.length === 0
      ? ''
      : ` Not counted, because a time is missing or unreadable: ${rowList(
          without.map((row) => table.row(row)),
          shown,
        )}.`;
  return [
    {
      kind: 'late',
      text: `Late (${done.name} after ${due.name}): ${share(late, both)} with both times${limit}${meant.length === 0 ? '' : `: ${names}${more}`}; early: ${exact(early)}.${byGroup.join('')}${left}`,
    },
  ];
}

function minutesText(minutes: number): string {
  return minutes > 2 * dayMinutes ? `${round(minutes / dayMinutes)} days` : `${round(minutes)} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
