/** Lateness against the times that another table gives each key: departures beside a timetable. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { exact, listed } from './figure-text.ts';
import { isGroup } from './findings/crossed-groups.ts';
import { isDoneName, isDueName } from './findings/due-dates.ts';
import { lateRows } from './findings/late-rows.ts';
import { minutesLate } from './findings/lateness.ts';
import { clocksOf, timeOfDay } from './findings/times-of-day.ts';
import { uniqueness } from './join-key.ts';
import { type Side, written } from './join-side.ts';
import type { Finding } from './table-profile.ts';
import { wordSet } from './word-set.ts';

const plannedNames = wordSet('departs departure departures dep leaves starts start time abfahrt départ salida partenza');
/** A departure counts as punctual up to this delay in most reports. */
const usualTolerance = 5;
const maxGroupings = 3;
const shown = 6;

/** @param b the table with one planned time for each key */
export function joinedLateness(a: Side, b: Side): Finding[] {
  if (uniqueness(b.rows) < 1) return [];
  const due = plannedOf(b.table);
  const own = clocksOf(a.table);
  const done = own.find(({ name }) => isDoneName(name));
  if (due === undefined || done === undefined) return [];
  const planned = b.table.texts(due).map(timeOfDay);
  const partner = new Array<number>(a.table.count).fill(-1);
  for (const [key, rows] of a.rows) for (const at of rows) partner[at] = b.rows.get(key)?.[0] ?? -1;
  const isCounted = (at: number) => partner[at]! >= 0 && (a.counted?.has(at) ?? true);
  const actual = a.table.texts(done).map(timeOfDay);
  const times = partner.map((at, row) => (isCounted(row) ? planned[at]! : null));
  const groups = b.table.plans.filter((plan) => plan !== due && isGroup(b.table, plan)).slice(0, maxGroupings);
  const groupings = groups.map((plan) => {
    const texts = b.table.texts(plan);
    return { name: plan.name, keys: partner.map((at) => (at < 0 ? '' : texts[at]!)) };
  });
  const keys = { name: a.plans[0]!.name, keys: partner.map((_, row) => written(a, row)) };
  const found = lateRows(a.table, {
    done: done.name,
    due: `${due.name} of ${b.name}`,
    minutes: minutesLate(times, actual),
    groupings: [...groupings, keys],
    tolerance: usualTolerance,
  });
  const ownDue = own.find(({ name }) => isDueName(name));
  return [...found.map(({ text }) => ({ kind: 'join_late', text })), ...(ownDue === undefined ? [] : differing(a, b, ownDue, due, times))];
}

function plannedOf(table: ColumnsInMemory): ColumnPlan | undefined {
  const clocks = clocksOf(table);
  const named = clocks.find(({ name }) => isDueName(name)) ?? clocks.find(({ name }) => has(nameTokens(name), plannedNames));
  return named ?? (clocks.length === 1 ? clocks[0] : undefined);
}

/** The planned times that the two tables write differently: the list was changed, and the log not. */
function differing(a: Side, b: Side, own: ColumnPlan, due: ColumnPlan, times: readonly (number | null)[]): Finding[] {
  const texts = a.table.texts(own);
  const rows = [...times.keys()].filter(
    (row) => times[row] !== null && timeOfDay(texts[row]!) !== null && timeOfDay(texts[row]!) !== times[row],
  );
  if (rows.length === 0) return [];
  const each = [...Map.groupBy(rows, (row) => written(a, row))].map(([key, at]) => {
    const clock = times[at[0]!]!;
    return `${key} ${texts[at[0]!]} beside ${Math.floor(clock / 60)}:${String(clock % 60).padStart(2, '0')} (${exact(at.length)} rows)`;
  });
  return [
    {
      kind: 'join_conflicts',
      text: `${own.name} of ${a.name} differs from ${due.name} of ${b.name}: ${listed(each.slice(0, shown))}${each.length > shown ? ' and more' : ''}. Lateness is told against ${due.name} of ${b.name}.`,
    },
  ];
}
