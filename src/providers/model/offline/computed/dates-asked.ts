/** "before 1 April 2026", "seit dem 3. Mai", "in March", "on Mondays": the days of the rows that a question is about. */
import { monthNumber } from '../../../table/month-names.ts';
import type { Condition } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';
import type { Column } from './columns-meant.ts';
import type { Word } from './question-tokens.ts';
import { weekdayNumbers } from './vocabulary.ts';

type Days = Omit<Condition, 'column'>;
/** `split` is the day between two periods that are compared; `column` is the one that the words before the date name. */
export type AskedDays = { days: Days | null; split: string | null };
type Moment = { day: string; end: string; at: number; length: number };

const dayMs = 86_400_000;
const beforeWords = wordSet('before prior vor avant antes prima');
const untilWords = wordSet("until till through bis jusqu'au jusqu hasta fino");
const afterWords = wordSet('after following nach après después dopo');
const sinceWords = wordSet('since from starting ab seit depuis dès partir desde dal da beginning onwards');
const afterwards = wordSet('after afterwards danach nachher seitdem après ensuite después dopo');
const inWords = wordSet('in during of for im während en au durant pendant de nel a within throughout');
const betweenWords = wordSet('between zwischen entre tra');
const skipped = wordSet('the dem den der le la el il of to as and 1st');
const maxLead = 3;
const maxMoments = 4;

/** Null for the days if the question names none; null in all if it names some that cannot be read. */
export function daysIn(words: readonly Word[], column: Column | null): AskedDays | null {
  const years = yearsOf(words, column);
  const moments = momentsIn(words, years);
  if (moments === null) return null;
  const weekdays = weekdaysIn(words);
  const months = moments.length === 0 ? monthsIn(words, years) : null;
  const none = { days: weekdays === null ? months : { ...months, weekdays }, split: null };
  const [first, second] = moments;
  if (first === undefined) return none;
  const lead = leadOf(words, first.at);
  if (second !== undefined) {
    if (lead !== 'between' && lead !== 'since') return null;
    return { days: { from: first.day, before: second.end, ...(weekdays === null ? {} : { weekdays }) }, split: null };
  }
  const isCompared = words.some(({ lower }) => beforeWords.has(lower)) && words.some((_, i) => isAfterwards(words, i));
  if (isCompared && lead !== null)
    return { days: weekdays === null ? null : { weekdays }, split: lead === 'after' ? first.end : first.day };
  const days =
    lead === 'before'
      ? { before: first.day }
      : lead === 'until'
        ? { before: first.end }
        : lead === 'after'
          ? { from: first.end }
          : lead === 'since'
            ? { from: first.day }
            : { from: first.day, before: first.end };
  return { days: { ...days, ...(weekdays === null ? {} : { weekdays }) }, split: null };
}

/** "Before 1 May and after": "nach" is one only at the end of its clause, for "nach Filiale" groups. */
function isAfterwards(words: readonly Word[], i: number): boolean {
  const next = words[i + 1];
  return afterwards.has(words[i]!.lower) || (words[i]!.lower === 'nach' && (next === undefined || next.kind === 'mark'));
}

type Lead = 'before' | 'until' | 'after' | 'since' | 'between';

function leadOf(words: readonly Word[], at: number): Lead | null {
  for (let i = at - 1; i >= Math.max(0, at - maxLead); i--) {
    const { lower } = words[i]!;
    if (beforeWords.has(lower)) return 'before';
    if (untilWords.has(lower)) return 'until';
    if (afterWords.has(lower)) return 'after';
    if (betweenWords.has(lower)) return 'between';
    if (sinceWords.has(lower)) return 'since';
    if (!skipped.has(lower)) return null;
  }
  return null;
}

/** The dates with a day; null if one of them has no year that is known. */
function momentsIn(words: readonly Word[], years: readonly number[]): Moment[] | null {
  const found: Moment[] = [];
  for (let i = 0; i < words.length && found.length < maxMoments; i++) {
    const written = dateAt(words, i);
    if (written === null) continue;
    const year = written.year ?? (years.length === 1 ? years[0]! : null);
    const ms = year === null ? Number.NaN : Date.UTC(year, written.month - 1, written.day);
    if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== written.day) return null;
    found.push({ day: dayText(ms), end: dayText(ms + dayMs), at: i, length: written.length });
    i += written.length - 1;
  }
  return found;
}

type Written = { year: number | null; month: number; day: number; length: number };

function dateAt(words: readonly Word[], i: number): Written | null {
  const text = words[i]!.lower;
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]), length: 1 };
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (dotted !== null) return { year: Number(dotted[3]), month: Number(dotted[2]), day: Number(dotted[1]), length: 1 };
  const day = /^(\d{1,2})(?:st|nd|rd|th|er|º)?$/.exec(text);
  if (day !== null) {
    let at = i + 1;
    while (at < i + 3 && ['.', 'of', 'de', 'di'].includes(words[at]?.lower ?? '')) at++;
    const month = monthNumber(words[at]?.lower ?? '');
    if (month === 0) return null;
    const next = ['of', 'de', 'del', ','].includes(words[at + 1]?.lower ?? '') ? at + 2 : at + 1;
    const year = yearOf(words[next]?.lower);
    return { year, month, day: Number(day[1]), length: (year === null ? at : next) - i + 1 };
  }
  // "April 1, 2026".
  const month = words[i]!.kind === 'word' ? monthNumber(text) : 0;
  const dayBehind = month === 0 ? null : /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(words[i + 1]?.lower ?? '');
  if (dayBehind === null) return null;
  const next = words[i + 2]?.lower === ',' ? i + 3 : i + 2;
  const year = yearOf(words[next]?.lower);
  return { year, month, day: Number(dayBehind[1]), length: (year === null ? i + 1 : next) - i + 1 };
}

/** "In March", "im März 2026", "since March": a month without a day. */
function monthsIn(words: readonly Word[], years: readonly number[]): Days | null {
  const months: number[] = [];
  for (let i = 1; i < words.length; i++) {
    const month = words[i]!.kind === 'word' ? monthNumber(words[i]!.lower) : 0;
    if (month === 0) continue;
    const lead = leadOf(words, i);
    const before = words[i - 1]!.lower;
    const joined = months.length > 0 && ['and', 'und', 'et', 'y', 'e', 'or', ','].includes(before);
    if (lead === null && !inWords.has(before) && !joined) continue;
    const year = yearOf(words[i + 1]?.lower) ?? (years.length === 1 ? years[0]! : null);
    const day = (offset: number) => dayText(Date.UTC(year!, month - 1 + offset, 1));
    if (lead !== null && year === null) return null;
    if (lead === 'before') return { before: day(0) };
    if (lead === 'until') return { before: day(1) };
    if (lead === 'after') return { from: day(1) };
    if (lead === 'since') return { from: day(0) };
    months.push(month);
  }
  return months.length === 0 ? null : { months };
}

function weekdaysIn(words: readonly Word[]): number[] | null {
  const days = [...new Set(words.flatMap(({ lower }) => weekdayNumbers.get(lower) ?? []))];
  return days.length === 0 ? null : days;
}

/** The years that a date without one may be of: that of the question, or those of the column. */
function yearsOf(words: readonly Word[], column: Column | null): number[] {
  const written = [...new Set(words.flatMap(({ lower }) => yearOf(lower) ?? []))];
  if (written.length > 0) return written;
  const dates = column?.profile.dates;
  return dates === undefined ? [] : [...new Set([dates.first, dates.last].map((day) => Number(day.slice(0, 4))))];
}

function yearOf(text: string | undefined): number | null {
  return /^(?:19|20)\d\d$/.test(text ?? '') ? Number(text) : null;
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
