/** The value of each row that a query asks for, with its unit and its name. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import { isBeginAndEnd, isClockColumn, minutesOf, nearestMinutes } from '../findings/times-of-day.ts';
import { foldSpelling, spellingsOf } from '../spellings.ts';
import { wordSet } from '../word-set.ts';
import type { Limit, RowValue, TimeUnit } from './query.ts';
import { isYesNo, yesOrNo } from './yes-no.ts';

/** `numbers` is NaN where a row has no value. `unit` is a unit of time, another unit, or ''. `note` says how values were read. */
export type RowValues = { name: string; numbers: Float64Array; unit: TimeUnit | string; note: string; columns: readonly ColumnPlan[] };

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
export const unitMinutes: Readonly<Record<TimeUnit, number>> = { minutes: 1, hours: 60, days: dayMinutes };
/** Times between these medians are told in minutes, hours and days. */
const [mostMinutes, mostHours] = [180, 3 * dayMinutes];
const unitNames: readonly (readonly [TimeUnit, ReadonlySet<string>])[] = [
  ['minutes', wordSet('min mins minute minutes minuten')],
  ['hours', wordSet('h hr hrs hour hours stunde stunden std heures horas ore')],
  ['days', wordSet('d day days tag tage jours días giorni')],
];
const shownSpellings = 12;

/** Null if the table has no such columns, or if they cannot be computed with one another. */
export function rowValues(table: ColumnsInMemory, value: RowValue, wanted: TimeUnit | undefined): RowValues | null {
  if (value.kind === 'row') return { name: 'rows', numbers: new Float64Array(table.count).fill(1), unit: '', note: '', columns: [] };
  const of = planOf(table, value.of);
  if (of === undefined) return null;
  if (value.kind === 'outcome') return outcomes(table, of, value.is);
  if (value.kind === 'column') return of.reads === 'number' && of.units.size < 2 ? inOneUnit(numeric(table, of), wanted) : null;
  const other = planOf(table, value.kind === 'difference' ? value.less : value.times);
  if (other === undefined || other === of) return null;
  const name = `${of.name} ${value.kind === 'difference' ? '−' : '×'} ${other.name}`;
  if (of.reads === 'number' && other.reads === 'number') {
    if (of.units.size > 1 || other.units.size > 1) return null;
    const [a, b] = [table.numbers(of), table.numbers(other)];
    const numbers = a.map((each, at) => clean(value.kind === 'difference' ? each - b[at]! : each * b[at]!));
    const unit = value.kind === 'difference' && of.unit === other.unit ? timeUnitOf(of) || of.unit : '';
    return inOneUnit({ name, numbers, unit, note: '', columns: [of, other] }, wanted);
  }
  if (value.kind === 'product') return null;
  const minutes = minutesBetween(table, other, of);
  return minutes === null ? null : inUnit({ name, minutes, columns: [of, other] }, wanted);
}

/** The limit in the unit of the values; null if the two have no common unit. */
export function limitIn({ amount, unit }: Limit, of: string): number | null {
  if (amount === 0) return 0;
  if (unit === undefined || unit === 'percent') return unit === undefined && isTimeUnit(of) ? null : amount;
  return isTimeUnit(of) ? clean((amount * unitMinutes[unit]) / unitMinutes[of]) : null;
}

export function isTimeUnit(unit: string): unit is TimeUnit {
  return Object.hasOwn(unitMinutes, unit);
}

export function planOf(table: ColumnsInMemory, name: string): ColumnPlan | undefined {
  return table.plans.find((plan) => plan.name === name);
}

function numeric(table: ColumnsInMemory, plan: ColumnPlan): RowValues {
  return { name: plan.name, numbers: table.numbers(plan), unit: timeUnitOf(plan) || plan.unit, note: '', columns: [plan] };
}

/** The unit of time in the name or the cells of a column. */
function timeUnitOf({ name, unit }: ColumnPlan): TimeUnit | '' {
  const tokens = unit === '' ? nameTokens(name) : [unit.toLowerCase()];
  return unitNames.find(([, words]) => has(tokens, words))?.[0] ?? '';
}

function inOneUnit(values: RowValues, wanted: TimeUnit | undefined): RowValues {
  if (wanted === undefined || !isTimeUnit(values.unit) || values.unit === wanted) return values;
  const factor = unitMinutes[values.unit] / unitMinutes[wanted];
  return {
    ...values,
    numbers: values.numbers.map((each) => clean(each * factor)),
    unit: wanted,
    note: `${values.name} is in ${values.unit} in the file.`,
  };
}

/** The minutes from one column to another; null if they are not both dates or both times of day. */
function minutesBetween(table: ColumnsInMemory, from: ColumnPlan, to: ColumnPlan): Float64Array | null {
  if (from.reads === 'date' && to.reads === 'date') {
    if (from.dateDoubt || to.dateDoubt) return null;
    const [a, b] = [table.dates(from), table.dates(to)];
    const days = !(from.timed && to.timed);
    const ms = days ? (each: number) => Math.floor(each / (dayMinutes * minuteMs)) * dayMinutes * minuteMs : (each: number) => each;
    return a.map((each, at) => (ms(b[at]!) - ms(each)) / minuteMs);
  }
  if (!isClockColumn(table, from) || !isClockColumn(table, to)) return null;
  const [a, b] = [from, to].map((plan) => Float64Array.from(table.texts(plan), (text) => minutesOf(text) ?? Number.NaN));
  const shift = isBeginAndEnd(from, to);
  return a!.map((each, at) => {
    const minutes = b![at]! - each;
    return shift ? minutes + (minutes < 0 ? dayMinutes : 0) : nearestMinutes(minutes);
  });
}

function inUnit(
  { name, minutes, columns }: { name: string; minutes: Float64Array; columns: readonly ColumnPlan[] },
  wanted: TimeUnit | undefined,
): RowValues {
  const known = minutes
    .filter((each) => !Number.isNaN(each))
    .map(Math.abs)
    .sort();
  const middle = known[Math.floor(known.length / 2)] ?? 0;
  const timed = columns.every(({ reads, timed: own }) => reads !== 'date' || own);
  const unit = wanted ?? (!timed || middle > mostHours ? 'days' : middle > mostMinutes ? 'hours' : 'minutes');
  return { name, numbers: minutes.map((each) => clean(each / unitMinutes[unit])), unit, note: '', columns };
}

/** 1 for a row with the outcome, 0 for one with another. */
function outcomes(table: ColumnsInMemory, of: ColumnPlan, is: readonly string[]): RowValues | null {
  const texts = table.written(of);
  const merges = isYesNo(texts) && is.every((each) => yesOrNo(each) !== null);
  const names = spellingsOf(of);
  const keyOf = (text: string) => (merges ? yesOrNo(text)! : foldSpelling(names.get(text) ?? text));
  const meant = new Set(is.map(keyOf));
  const isMeant = (text: string) => meant.has(keyOf(text));
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
  const spellings = [...counts].toSorted((a, b) => b[1] - a[1]);
  if (!merges && !spellings.some(([text]) => isMeant(text))) return null;
  const spelled = (mine: boolean) => spellings.filter(([text]) => isMeant(text) === mine).map(([text, count]) => `${text} ${exact(count)}`);
  const isMerged = new Set(spellings.map(([text]) => keyOf(text))).size < spellings.length;
  const note = isMerged
    ? `Spellings in ${of.name} are merged; counted: ${listed(spelled(true), shownSpellings) || 'none'}; not counted: ${listed(spelled(false), shownSpellings) || 'none'}.`
    : '';
  return {
    name: `${of.name} is ${listed([...new Set(merges ? meant : spellings.flatMap(([text]) => (isMeant(text) ? [keyOf(text)] : [])))])}`,
    numbers: Float64Array.from(texts, (text) => (text === '' ? Number.NaN : isMeant(text) ? 1 : 0)),
    unit: '',
    note,
    columns: [of],
  };
}
