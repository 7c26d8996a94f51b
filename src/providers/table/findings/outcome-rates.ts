/** The share of rows with an unwanted outcome (absent, late, failed) in all rows that count, by category, weekday and month. */
import { isCancelled } from '../basis.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, partOf } from '../figure-text.ts';
import { eventDates, isMoney, leadingMeasure } from '../plan-figures.ts';
import { spellingOf } from '../same-value.ts';
import type { Finding } from '../table-profile.ts';
import { wordSet } from '../word-set.ts';
import { duplicateRows } from './rows.ts';
import { clocksOf, timeOfDay } from './times-of-day.ts';
import { weekdays } from './weekday.ts';

const stateNames = wordSet(
  'status state outcome result attendance attended presence present anwesenheit ergebnis statut état estado resultado',
);
/** Unwanted outcomes by the beginning of their words; the first that a column has is the one whose share is told. */
const unwanted: readonly (readonly string[])[] = [
  ['noshow', 'absent', 'missed', 'fehlt', 'abwesend', 'ausente'],
  ['late', 'delayed', 'verspatet', 'overdue', 'retard'],
  ['fail', 'reject', 'damag', 'defect', 'lost', 'unpaid', 'returned', 'durchgefallen', 'abgelehnt'],
];
/** A column of marks of attendance by their first letters. */
const marks = wordSet('p a e l');
const minRows = 20;
const maxStates = 10;
const [maxValues, maxGroupings, maxCrossed] = [12, 6, 3];
const maxShare = 0.6;
const minFilled = 0.3;
const noonMinutes = 720;
const mostOfWorth = 0.4;
const none = 'none';

/** @param table the rows that count; rows with a status of cancelled are not among them */
export function outcomeRateFindings(table: ColumnsInMemory): Finding[] {
  if (table.count < minRows) return [];
  const found = table.plans.flatMap((plan) => {
    const value = unwantedOf(plan, table);
    return value === null ? [] : [{ plan, value }];
  })[0];
  if (found === undefined) return [];
  const { plan, value } = found;
  const repeated = new Set(duplicateRows(table).map(([again]) => again));
  const texts = table.texts(plan);
  const known = [...texts.keys()].filter((at) => texts[at] !== '' && !repeated.has(at));
  const rows = known.filter((at) => !isCancelled(texts[at]!));
  const isOut = (at: number) => texts[at] === value;
  const whole = outOf(rows, isOut);
  if (rows.filter(isOut).length === 0 || rows.filter(isOut).length > rows.length * maxShare) return [];
  const missing = texts.filter((text) => text === '').length;
  const worth = worthOf(table, rows.filter(isOut));
  const groupings = groupingsOf(table, plan);
  const by = ({ name, keys, isTime }: Grouping) => {
    const groups = [
      ...Map.groupBy(
        rows.filter((at) => keys[at] !== ''),
        (at) => keys[at]!,
      ),
    ].map(([key, own]) => ({ key, own, share: own.filter(isOut).length / own.length }));
    if (groups.length < 2 || groups.length > maxValues) return [];
    const ranked = isTime
      ? groups.toSorted((a, b) => orderOf(a.key) - orderOf(b.key) || (a.key < b.key ? -1 : 1))
      : groups.toSorted((a, b) => b.share - a.share);
    return [
      {
        kind: 'outcome_rate',
        text: `Share of ${value} by ${name}: ${ranked.map(({ key, own }) => `${key} ${outOf(own, isOut)}`).join(', ')}.`,
      },
    ];
  };
  return [
    {
      kind: 'outcome_rate',
      text: `${plan.name} is ${value} in ${whole} of the rows that count and have one${missing === 0 ? '' : `; ${exact(missing)} have none`}${known.length === rows.length ? '' : `; ${exact(known.length - rows.length)} cancelled are left out`}${worth}. A small group's share may be chance.`,
    },
    ...groupings.flatMap(by),
  ];
}

/** The money of the rows with the outcome, and without a value that makes up most of it. */
function worthOf(table: ColumnsInMemory, rows: readonly number[]): string {
  const measure = leadingMeasure(table.plans);
  if (measure === undefined || !isMoney(measure)) return '';
  const numbers = table.numbers(measure);
  const valued = rows.filter((at) => !Number.isNaN(numbers[at]!)).toSorted((a, b) => numbers[b]! - numbers[a]!);
  const sum = valued.reduce((total, at) => total + numbers[at]!, 0);
  const [top] = valued;
  if (top === undefined) return '';
  const carried =
    numbers[top]! > sum * mostOfWorth && valued.length > 2
      ? ` (${exact(clean(sum - numbers[top]!))} without row ${table.row(top)}, ${exact(numbers[top]!)})`
      : '';
  return `; their ${measure.name} adds up to ${exact(clean(sum))}${carried}`;
}

type Grouping = { name: string; keys: readonly string[]; isTime: boolean };

/** The value whose share is told; null for a column that is none of outcomes. */
function unwantedOf({ name, reads, type, values }: ColumnPlan, table: ColumnsInMemory): string | null {
  if (reads !== 'text' || type !== 'text' || !values.exact || values.distinct > mostSpelled || !has(nameTokens(name), stateNames))
    return null;
  const plan = table.plans.find((each) => each.name === name)!;
  const texts = [...new Set(table.texts(plan))].filter((text) => text !== '');
  if (texts.length < 2 || texts.length > maxStates) return null;
  const keys = texts.map((text) => ({ text, key: spellingOf(text).key }));
  if (
    keys.every(({ key }) => marks.has(key[0]!) && key.length <= 9) &&
    keys.some(({ key }) => key === 'a') &&
    keys.some(({ key }) => key === 'p')
  )
    return keys.find(({ key }) => key === 'a')!.text;
  for (const stems of unwanted) {
    const match = keys.find(({ key }) => stems.some((stem) => key.startsWith(stem)) && !key.includes('cancel'));
    if (match !== undefined) return match.text;
  }
  return null;
}

const mostSpelled = 40;

function groupingsOf(table: ColumnsInMemory, outcome: ColumnPlan): Grouping[] {
  const clocks = clocksOf(table);
  const plans = table.plans
    .filter(
      (plan) =>
        plan !== outcome &&
        !clocks.includes(plan) &&
        plan.reads === 'text' &&
        plan.type !== 'empty' &&
        plan.filled >= table.count * minFilled &&
        plan.values.distinct >= 2 &&
        plan.values.distinct <= mostSpelled,
    )
    .map((plan) => ({ name: plan.name, keys: table.texts(plan).map((text) => text || none), isTime: false }))
    .filter(({ keys }) => new Set(keys).size <= maxValues)
    .slice(0, maxGroupings);
  const few = plans.filter(({ keys }) => new Set(keys).size <= maxCrossed);
  const crossed = few.flatMap((one, i) => few.slice(i + 1).map((other) => crossedOf(one, other))).slice(0, maxCrossed);
  const date = eventDates(table.plans, table.count)[0];
  const times = date === undefined ? [] : ofTime(table, date, clocks[0]);
  const months = times.slice(-1).flatMap((month) => few.map((one) => crossedOf(one, month)));
  return [...plans, ...times, ...crossed, ...months];
}

function crossedOf(one: Grouping, other: Grouping): Grouping {
  return { name: `${one.name} and ${other.name}`, keys: one.keys.map((key, at) => `${key} / ${other.keys[at]!}`), isTime: false };
}

/** By weekday, by weekday before and after noon, and by month. */
function ofTime(table: ColumnsInMemory, date: ColumnPlan, clock: ColumnPlan | undefined): Grouping[] {
  const days = Array.from(table.dates(date), (ms) => (Number.isNaN(ms) ? null : new Date(ms)));
  const weekdayOf = days.map((day) => (day === null ? '' : weekdays[day.getUTCDay()]!));
  const halves = clock === undefined ? [] : table.texts(clock).map(timeOfDay);
  const isHalved = new Set(halves.map((minutes) => minutes !== null && minutes < noonMinutes)).size === 2;
  return [
    { name: `weekday of ${date.name}`, keys: weekdayOf, isTime: true },
    ...(isHalved
      ? [
          {
            name: `weekday of ${date.name} and half of the day`,
            keys: weekdayOf.map((day, at) =>
              day === '' || halves[at] == null ? '' : `${day} ${halves[at]! < noonMinutes ? 'morning' : 'afternoon'}`,
            ),
            isTime: true,
          },
        ]
      : []),
    { name: `month of ${date.name}`, keys: days.map((day) => (day === null ? '' : day.toISOString().slice(0, 7))), isTime: true },
  ];
}

/** Weekdays from Monday on; other keys by their texts. */
function orderOf(key: string): number {
  const day = weekdays.indexOf(key.split(' ')[0]!);
  return day < 0 ? 0 : (day + 6) % 7;
}

function outOf(rows: readonly number[], isOut: (at: number) => boolean): string {
  return partOf(rows.filter(isOut).length, rows.length);
}
