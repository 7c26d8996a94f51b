/** Durations written as 1:30, 0:18:42 or 45:56: shortest, longest and mean, also by group. Only time that is spent is added up. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, listed, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import { kindWords } from '../roles-by-rows.ts';
import type { Finding } from '../table-profile.ts';

const spentNames = new Set('hours duration dauer stunden std spent worked arbeitszeit length total'.split(' '));
const takenNames = new Set(
  'finish result results elapsed runtime laufzeit endzeit lap laps pace split race chip gun netto brutto run swim bike ride cycle leg marathon time times zeit temps tiempo tempo czas tijd tid'.split(
    ' ',
  ),
);
/** Names of durations that may be times of day too. */
const ambiguousNames = new Set('time times zeit total finish temps tiempo tempo czas tijd tid run ride leg'.split(' '));
const begins = new Set('start begin beginn from von'.split(' '));
const clockNames = new Set([...begins, ...'end ende to bis at clock uhrzeit arrival departure login logout open close'.split(' ')]);
const inSecondsNames = new Set('mm min ss pace lap race run km 10k 5k marathon'.split(' '));
const inHoursNames = new Set('hours stunden std arbeitszeit worked h'.split(' '));
const morning = 5 * 3600;
const noon = 12 * 3600;
const day = 24 * 3600;
const secondsIn = { hours: 3600, minutes: 60 };
const maxGroups = 8;
const maxColumns = 3;
const shownOdd = 6;

export type Durations = {
  plan: ColumnPlan;
  seconds: Float64Array;
  isSpent: boolean;
  unit: 'hours' | 'minutes';
  write: (seconds: number) => string;
};

/** The columns of durations; `seconds` is NaN for a cell that is none. */
export function durationsOf(table: ColumnsInMemory): Durations[] {
  const hasBegin = table.plans.some(({ name }) => has(nameTokens(name), begins));
  return table.plans.flatMap((plan): Durations[] => {
    if (plan.reads !== 'text' || plan.meanChars < 3 || plan.meanChars > 11) return [];
    const texts = table.texts(plan);
    const parsed = texts.map(partsOf);
    const known = parsed.filter((parts) => parts !== null);
    if (known.length < 2 || known.length < plan.filled * 0.9) return [];
    const tokens = nameTokens(plan.name);
    const whole = known.some(({ seconds }) => seconds !== null);
    const decimals = Math.max(...known.map((parts) => parts.decimals));
    const isShort = !whole && (decimals > 0 || isInSeconds(tokens, known));
    const seconds = Float64Array.from(parsed, (parts) => (parts === null ? Number.NaN : secondsOf(parts, isShort)));
    const measured = seconds.filter((each) => !Number.isNaN(each));
    if (!isDuration(tokens, measured, whole) || (hasBegin && tokens.includes('finish'))) return [];
    const padded = known.every(({ first }) => first.length > 1);
    const form = { whole, isShort, decimals, digits: padded ? 2 : 1 };
    const isSpent = has(tokens, spentNames) && !has(tokens, takenNames);
    return [{ plan, seconds, isSpent, unit: isShort ? 'minutes' : 'hours', write: (value) => writeDuration(value, form) }];
  });
}

/** By the name; where it says nothing, or may mean times of day, by the values: times of day lie after the early morning, or reach the afternoon. */
function isDuration(tokens: readonly string[], seconds: Float64Array, whole: boolean): boolean {
  const isAmbiguous = has(tokens, ambiguousNames);
  const isNamed = has(tokens, spentNames) || has(tokens, takenNames);
  if (isNamed && !isAmbiguous) return true;
  if (has(tokens, clockNames)) return false;
  if (!isNamed) return whole && seconds.every((each) => each < morning);
  const withinDay = seconds.every((each) => each < day);
  return !withinDay || (seconds.some((each) => each < morning) && seconds.every((each) => each < noon));
}

export function durationFindings(table: ColumnsInMemory): Finding[] {
  return durationsOf(table)
    .slice(0, maxColumns)
    .flatMap((durations) => {
      const { plan, seconds, isSpent, unit, write } = durations;
      const ranked = rankedRows(seconds);
      const sum = sumAt(seconds, ranked);
      const mean = sum / ranked.length;
      const median = quantile(Float64Array.from(ranked, (at) => seconds[at]!).sort(), 0.5);
      const nameOf = (at: number) => table.rowInWords(at);
      const [short, long] = [seconds[ranked[0]!]!, seconds[ranked.at(-1)!]!];
      const ends = `longest ${write(long)} in ${rowsWith(long, ranked, seconds, nameOf)}, shortest ${write(short)} in ${rowsWith(short, ranked, seconds, nameOf)}`;
      const over = `over ${countOf(ranked.length, 'row')}`;
      const odd = unlike(table, plan, seconds);
      // A mean over several distances depends on how often each was run.
      const hasKinds = durationGroups(table, durations).some(isKind);
      const text = isSpent
        ? `${plan.name} adds up to ${write(sum)} ${unit} (${round(sum / secondsIn[unit])}) ${over}, ${write(mean)} (${unit === 'hours' ? `${round(mean / 60)} minutes` : `${round(mean)} seconds`}) on average; ${ends}; median ${write(median)}.${odd}`
        : `${plan.name}: ${hasKinds ? '' : `mean ${write(mean)}, median ${write(median)} `}${over}; ${ends}.${odd}`;
      return [{ kind: 'durations', text }, ...byGroups(table, durations)];
    });
}

/** The columns by which durations are told: kinds, such as distances, alone; without them texts of few values. */
export function durationGroups(table: ColumnsInMemory, { plan: own, isSpent }: Durations): ColumnPlan[] {
  const groups = table.plans.filter(
    (plan) =>
      plan !== own &&
      plan.reads === 'text' &&
      (plan.type === 'text' || plan.role === 'code') &&
      plan.role !== 'identifier' &&
      plan.values.distinct >= 2 &&
      plan.values.distinct <= Math.min(40, plan.filled / 2),
  );
  const kinds = isSpent ? [] : groups.filter(isKind);
  return (kinds.length > 0 ? kinds : groups).slice(0, maxColumns);
}

/** Distances and sizes, of which each has its own durations. */
function isKind({ name, role }: ColumnPlan): boolean {
  return role === 'code' && has(nameTokens(name), kindWords);
}

/** The rows with a duration by their value of another column, the shortest first. */
export function rowsByGroup(table: ColumnsInMemory, { seconds }: Durations, group: ColumnPlan): [string, number[]][] {
  const texts = table.texts(group);
  const groups = new Map<string, number[]>();
  for (const at of rankedRows(seconds)) {
    if (texts[at] === '') continue;
    const rows = groups.get(texts[at]!);
    if (rows === undefined) groups.set(texts[at]!, [at]);
    else rows.push(at);
  }
  return [...groups];
}

/** The rows with a duration, the shortest first. */
export function rankedRows(seconds: Float64Array): number[] {
  return [...seconds.keys()].filter((at) => !Number.isNaN(seconds[at]!)).sort((a, b) => seconds[a]! - seconds[b]! || a - b);
}

/** "row 3 (0059)", or the number of rows that share the duration. */
export function rowsWith(value: number, rows: readonly number[], seconds: Float64Array, nameOf: (at: number) => string): string {
  const tied = rows.filter((at) => seconds[at] === value);
  return tied.length > 3 ? countOf(tied.length, 'row') : listed(tied.map(nameOf));
}

function byGroups(table: ColumnsInMemory, durations: Durations): Finding[] {
  const { plan, seconds, isSpent, unit, write } = durations;
  return durationGroups(table, durations).map((group) => {
    const groups = rowsByGroup(table, durations, group).map(([key, rows]) => ({ key, rows, sum: sumAt(seconds, rows) }));
    const ranked = groups.toSorted((a, b) => (isSpent ? b.sum - a.sum : a.sum / a.rows.length - b.sum / b.rows.length));
    const nameOf = (at: number) => table.rowInWords(at);
    const each = ranked.map(({ key, rows, sum }) => {
      if (isSpent) return `${key} ${write(sum)} ${unit} (${round(sum / secondsIn[unit])})`;
      const [short, long] = [seconds[rows[0]!]!, seconds[rows.at(-1)!]!];
      return `${key} mean ${write(sum / rows.length)} over ${countOf(rows.length, 'row')}, from ${write(short)} in ${rowsWith(short, rows, seconds, nameOf)} to ${write(long)} in ${rowsWith(long, rows, seconds, nameOf)}`;
    });
    const more = each.length > maxGroups ? `${isSpent ? ', ' : '; '}and ${each.length - maxGroups} more` : '';
    return { kind: 'durations', text: `${plan.name} by ${group.name}: ${each.slice(0, maxGroups).join(isSpent ? ', ' : '; ')}${more}.` };
  });
}

function sumAt(seconds: Float64Array, rows: readonly number[]): number {
  return rows.reduce((total, at) => total + seconds[at]!, 0);
}

/** "DNF" among times. */
function unlike(table: ColumnsInMemory, plan: ColumnPlan, seconds: Float64Array): string {
  const texts = table.texts(plan);
  const rows = [...texts.keys()].filter((at) => texts[at] !== '' && Number.isNaN(seconds[at]!));
  if (rows.length === 0) return '';
  return ` No time: ${listed(
    rows.map((at) => `'${texts[at]!.slice(0, 20)}' in ${table.rowName(at)}`),
    shownOdd,
  )}.`;
}

type Parts = { first: string; second: number; seconds: number | null; fraction: number; decimals: number };

function partsOf(text: string): Parts | null {
  const match = /^(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?:[.,](\d{1,3}))?$/.exec(text);
  if (match === null) return null;
  const [, first, second, seconds, fraction = ''] = match;
  return {
    first: first!,
    second: Number(second),
    seconds: seconds === undefined ? null : Number(seconds),
    fraction: Number(`0.${fraction}0`),
    decimals: fraction.length,
  };
}

function secondsOf({ first, second, seconds, fraction }: Parts, isShort: boolean): number {
  const unit = isShort ? 1 : 60;
  return (Number(first) * 60 + second) * unit + (seconds ?? 0) + fraction;
}

/** 45:56 is minutes and seconds if hours would give days, unless the name contains hours. */
function isInSeconds(tokens: readonly string[], known: readonly Parts[]): boolean {
  if (has(tokens, inHoursNames)) return false;
  return has(tokens, inSecondsNames) || known.some(({ first }) => Number(first) >= 24);
}

/** In the form of the column. */
function writeDuration(
  value: number,
  { whole, isShort, decimals, digits }: { whole: boolean; isShort: boolean; decimals: number; digits: number },
): string {
  const scale = 10 ** decimals;
  const rounded = Math.round(value * scale) / scale;
  const two = (each: number) => String(each).padStart(2, '0');
  const seconds = (rest: number) => rest.toFixed(decimals).padStart(decimals === 0 ? 2 : decimals + 3, '0');
  const lead = (each: number) => String(each).padStart(digits, '0');
  if (isShort) return `${lead(Math.floor(rounded / 60))}:${seconds(rounded % 60)}`;
  if (whole) return `${lead(Math.floor(rounded / 3600))}:${two(Math.floor((rounded % 3600) / 60))}:${seconds(rounded % 60)}`;
  const minutes = Math.round(value / 60);
  return `${lead(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
