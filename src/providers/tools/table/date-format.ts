/** Dates as people write them. 03/04/2024 is read by the order its whole column shows (survey.ts), since the cell alone does not say. */
import type { Cell } from './cell.ts';

/** Which comes first in dates like 03/04/2024. */
export type DateOrder = 'day_first' | 'month_first';

/** Milliseconds since 1970 of the date as written (read as UTC); `ordered` is false when only the column can say which number is the month. */
export type ParsedDate = { ms: number; hasTime: boolean; ordered: boolean };

const iso = /^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/;
const numeric = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
const dayWord = /^(\d{1,2})(?:\.|st|nd|rd|th)?[ -]([A-Za-zäÄ]{3,9})\.?,?[ -](\d{4})$/;
const wordDay = /^([A-Za-zäÄ]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const germanMonths: Record<string, number> = { mär: 3, mai: 5, okt: 10, dez: 12 };
const longestDate = 35;
const shortestDate = 6;

/** Reads a cell as a date; null when it is none. A date that the calendar does not have (30 February) is none. */
export function parseDate(cell: Cell, order: DateOrder): ParsedDate | null {
  if (typeof cell !== 'string' || cell.length < shortestDate || cell.length > longestDate) return null;
  const text = cell.trim();
  const isIso = iso.exec(text);
  if (isIso !== null) {
    const [, year, month, day, hour, minute, second, zone] = isIso;
    const ms = calendarMs(Number(year), Number(month), Number(day ?? 1), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
    // A month without a day is a date only with a dash: 2024.5 is a number.
    if (ms === null || (day === undefined && !/^\d{4}-\d{2}$/.test(text))) return null;
    return { ms: ms - zoneMs(zone), hasTime: hour !== undefined, ordered: true };
  }
  const parts = numeric.exec(text);
  if (parts !== null) return fromNumbers(parts, order);
  const words = dayWord.exec(text);
  if (words !== null) return fromWords(words[3]!, words[2]!, words[1]!);
  const american = wordDay.exec(text);
  return american === null ? null : fromWords(american[3]!, american[1]!, american[2]!);
}

/** `2024-03-05`, or with the time where one was written. */
export function dateText(ms: number, hasTime: boolean): string {
  const text = new Date(ms).toISOString();
  return hasTime ? `${text.slice(0, 19)}Z` : text.slice(0, 10);
}

function fromNumbers(parts: RegExpExecArray, order: DateOrder): ParsedDate | null {
  const [, first, separator, second, yearText, hour, minute, secondOfMinute] = parts;
  // Dots are German and always put the day first.
  const dayFirst = separator === '.' || order === 'day_first';
  const day = Number(dayFirst ? first : second);
  const month = Number(dayFirst ? second : first);
  const short = Number(yearText);
  const year = yearText!.length === 4 ? short : short < 70 ? 2000 + short : 1900 + short;
  const ms = calendarMs(year, month, day, Number(hour ?? 0), Number(minute ?? 0), Number(secondOfMinute ?? 0));
  return ms === null ? null : { ms, hasTime: hour !== undefined, ordered: separator === '.' };
}

function fromWords(year: string, word: string, day: string): ParsedDate | null {
  const short = word.slice(0, 3).toLowerCase();
  const month = germanMonths[short] ?? months.indexOf(short) + 1;
  const ms = month === 0 ? null : calendarMs(Number(year), month, Number(day), 0, 0, 0);
  return ms === null ? null : { ms, hasTime: false, ordered: true };
}

function calendarMs(year: number, month: number, day: number, hour: number, minute: number, second: number): number | null {
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  return new Date(ms).getUTCDate() === day && year >= 1000 ? ms : null;
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone[0] === '-' ? -1 : 1) * minutes * 60_000;
}
