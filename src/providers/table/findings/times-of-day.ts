/** Times of day in the form 8:30: working hours from start to end. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round, rowList } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { groupColumns } from './group-columns.ts';
import { weekdays } from './weekday.ts';

const begins = new Set('start begin beginn from von in anfang kommen arrival login'.split(' '));
const ends = new Set('end ende to bis out finish stop gehen departure logout'.split(' '));
const pauses = new Set('break pause breaks pausen lunch'.split(' '));
const maxGroups = 8;
const maxGroupings = 3;
const maxGroupValues = 40;
const rowsNamed = 5;
const minuteMs = 60_000;
const dayMinutes = 24 * 60;
const maxClockChars = 12;

export function clockFindings(table: ColumnsInMemory): Finding[] {
  const clocks = clocksOf(table);
  const found = beginAndEnd(clocks);
  const read = (plan: ColumnPlan) => table.texts(plan).map(minutesOf);
  if (found !== null) return worked(table, found, [read(found[0]), read(found[1])]);
  const moments = beginAndEnd(table.plans.filter(({ reads, dateDoubt, timed }) => reads === 'date' && !dateDoubt && timed));
  if (moments === null) return [];
  const [from, to] = moments.map((plan) => Array.from(table.dates(plan), (ms) => (Number.isNaN(ms) ? null : ms / minuteMs)));
  const rows = from!.flatMap((start, at) => (start === null || to![at] == null ? [] : [to![at]! - start]));
  // Longer stretches, such as that from an order to its delivery, are no time of work.
  return rows.some((each) => each < 0 || each > dayMinutes) ? [] : worked(table, moments, [from!, to!]);
}

/** The columns of times of day. */
export function clocksOf(table: ColumnsInMemory): ColumnPlan[] {
  return table.plans.filter((plan) => isClockColumn(table, plan));
}

export function isClockColumn(table: ColumnsInMemory, plan: ColumnPlan): boolean {
  return plan.reads === 'text' && plan.meanChars >= 3 && plan.meanChars <= 8.5 && isClock(table, plan);
}

/** Whether the names are those of the start and the end of one thing, such as a shift, which ends on the next day if it ends earlier. */
export function isBeginAndEnd(from: ColumnPlan, to: ColumnPlan): boolean {
  return has(nameTokens(from.name), begins) && has(nameTokens(to.name), ends);
}

/** The time from one time of day to another that is near it: from 23:50 to 00:08 it is 18 minutes. */
export function nearestMinutes(minutes: number): number {
  if (minutes < -dayMinutes / 2) return minutes + dayMinutes;
  return minutes > dayMinutes / 2 ? minutes - dayMinutes : minutes;
}

function beginAndEnd(plans: readonly ColumnPlan[]): [ColumnPlan, ColumnPlan] | null {
  const begin = plans.find(({ name }) => has(nameTokens(name), begins));
  const end = plans.find((plan) => plan !== begin && has(nameTokens(plan.name), ends));
  return begin === undefined || end === undefined ? null : [begin, end];
}

type Minutes = readonly (number | null)[];

function worked(
  table: ColumnsInMemory,
  [begin, end]: readonly [ColumnPlan, ColumnPlan],
  [from, to]: readonly [Minutes, Minutes],
): Finding[] {
  const pausePlan = table.plans.find(({ name }) => has(nameTokens(name), pauses));
  const pause = (at: number) => {
    if (pausePlan === undefined) return 0;
    if (pausePlan.reads !== 'number') return minutesOf(table.texts(pausePlan)[at]!) ?? 0;
    const value = table.numbers(pausePlan)[at]!;
    // Breaks of up to three are hours, larger ones minutes.
    return Number.isNaN(value) ? 0 : pausePlan.max <= 3 ? value * 60 : value;
  };
  const rows = [...from.keys()].filter((at) => from[at] !== null && to[at] !== null);
  if (rows.length < 2) return [];
  const overnight = rows.filter((at) => to[at]! < from[at]!);
  const minutes = new Map(rows.map((at) => [at, to[at]! - from[at]! + (to[at]! < from[at]! ? dayMinutes : 0) - pause(at)]));
  const sum = [...minutes.values()].reduce((total, each) => total + each, 0);
  const less = pausePlan === undefined ? '' : ` less ${pausePlan.name}`;
  const longest = rows.toSorted((a, b) => minutes.get(b)! - minutes.get(a)!)[0]!;
  const findings: Finding[] = [
    {
      kind: 'worked',
      text: `From ${begin.name} to ${end.name}${less} there are ${exact(clean(sum / 60))} hours (${clock(sum)}) over ${countOf(rows.length, 'row')}, ${round(sum / 60 / rows.length)} on average; most in ${table.rowName(longest)}: ${exact(clean(minutes.get(longest)! / 60))}.`,
    },
  ];
  if (overnight.length > 0)
    findings.push({
      kind: 'overnight',
      text: `${end.name} is before ${begin.name} in ${listed(
        overnight.map((at) => table.rowName(at)),
        5,
      )}; read as ending on the next day, which may be a mistake.`,
    });
  const open = [...from.keys()].filter((at) => (from[at] === null) !== (to[at] === null));
  const left =
    open.length === 0
      ? ''
      : ` Without ${rowList(
          open.map((at) => table.row(at)),
          rowsNamed,
        )}, where a time is missing or unreadable.`;
  const byGroup = groupings(table, [begin, end]).flatMap(({ name, keys }): Finding[] => {
    const own = [
      ...Map.groupBy(
        rows.filter((at) => keys[at] !== ''),
        (at) => keys[at]!,
      ),
    ].map(([key, at]) => ({
      key,
      count: at.length,
      hours: at.reduce((total, each) => total + minutes.get(each)!, 0) / 60,
    }));
    const ranked = own.toSorted((a, b) => b.hours - a.hours);
    if (ranked.length < 2) return [];
    const each = ranked.map(
      ({ key, count, hours }) => `${key} ${exact(clean(hours))} (${countOf(count, 'row')}, ${round(hours / count)} on average)`,
    );
    const more = each.length > maxGroups ? ` and ${each.length - maxGroups} more` : '';
    return [{ kind: 'worked_by', text: `Hours by ${name}: ${each.slice(0, maxGroups).join(', ')}${more}.${left}` }];
  });
  return [...findings, ...byGroup];
}

type Grouping = { name: string; keys: readonly string[] };

/** Columns of few texts, then the days and the days of the week. */
function groupings(table: ColumnsInMemory, clocks: readonly ColumnPlan[]): Grouping[] {
  const groups = groupColumns(table, { except: clocks, mostValues: maxGroupValues, most: maxGroupings });
  const texts = groups.map((plan) => ({ name: plan.name, keys: table.texts(plan) }));
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined) return texts;
  const days = Array.from(table.dates(date), (ms) => (Number.isNaN(ms) ? null : new Date(ms)));
  const keyOf = (key: (day: Date) => string) => days.map((day) => (day === null ? '' : key(day)));
  return [
    ...texts,
    { name: `day (${date.name})`, keys: keyOf((day) => day.toISOString().slice(0, 10)) },
    { name: `weekday (${date.name})`, keys: keyOf((day) => weekdays[day.getUTCDay()]!) },
    { name: `month (${date.name})`, keys: keyOf((day) => day.toISOString().slice(0, 7)) },
  ];
}

function isClock(table: ColumnsInMemory, plan: ColumnPlan): boolean {
  const texts = table.texts(plan).filter((text) => text !== '');
  return texts.length >= 2 && texts.filter((text) => minutesOf(text) !== null).length >= texts.length * 0.9;
}

/** 8:30, 08:30:00, 8.30, 8h30 and 8:30 pm as minutes; null for anything else. */
export function minutesOf(text: string): number | null {
  const match = text.length > maxClockChars ? null : /^(\d{1,3})[:.h]([0-5]\d)(?::([0-5]\d))?(?: ?([ap])\.?m\.?)?$/i.exec(text);
  if (match === null) return null;
  const [, hours, minutes, seconds = '0', half] = match;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return hour * 60 + Number(minutes) + Number(seconds) / 60;
}

/** Null also for what is no time of a day: 27:15. */
export function timeOfDay(text: string): number | null {
  const minutes = minutesOf(text);
  return minutes === null || minutes >= dayMinutes ? null : minutes;
}

function clock(minutes: number): string {
  const whole = Math.round(minutes);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
