/** Parses dates in usual notations. 03/04/2024 is read in the order of its whole column (survey.ts), because the cell alone is ambiguous. */
import type { Cell } from './cell.ts';
import { monthNumber, monthOfName } from './month-names.ts';

/** Which comes first in dates like 03/04/2024. */
export type DateOrder = 'day_first' | 'month_first';

/**
 * Milliseconds since 1970 of the date as written (read as UTC without its offset, so the day is the written one). `ordered` is false if
 * only the column can determine which number is the month; `form` is the notation; `coarse` is a month or quarter without a day; `offset`
 * is the written time zone in minutes ('' for none).
 */
export type ParsedDate = { ms: number; hasTime: boolean; ordered: boolean; form: string; coarse: boolean; offset?: number | '' };

const iso = /^(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)? ?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/;
const numeric = /^(\d{1,2})([./-]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?:,? (\d{1,2})[:.](\d{2})(?::(\d{2}))? ?([AaPp][Mm]|Uhr)?)?$/;
const dayWord =
  /^(?:\p{L}{2,10},? )?(\d{1,2})(?:\.|st|nd|rd|th|er|º)?(?: de)?[ -](\p{L}{3,10})\.?,?(?: de)?[ -](\d{4}|\d{2})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: [+-]\d{4}| GMT| UTC)?)?$/u;
const wordDay = /^([A-Za-zäÄ]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?, ?(\d{4})$/;
const wordDayBare = /^([A-Za-zäÄ]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)? (\d{4})$/;
const wordYear = /^([A-Za-zäÄ]{3,9})\.?[ -](\d{4})$/;
const monthYear = /^(\d{1,2})[/.](\d{4})$/;
const quarter = /^(?:Q([1-4])[ /-]?(\d{4})|(\d{4})[ /-]?Q([1-4]))$/i;
const logTime = /^(\d{2})\/([A-Za-z]{3})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?: [+-]\d{4})?$/;
const maxDateChars = 35;
const minDateChars = 6;

/** Parses a cell as a date; null if it is not one. A day that does not exist (30 February) gives null. */
export function parseDate(cell: Cell, order: DateOrder): ParsedDate | null {
  if (typeof cell !== 'string' || cell.length < minDateChars || cell.length > maxDateChars + 20) return null;
  const text = cell.trim();
  if (text.length > maxDateChars) return null;
  const first = text.charCodeAt(0);
  return first >= 48 && first <= 57 ? startsWithDigit(text, order) : startsWithWord(text);
}

/** `2024-03-05`, with the time if one was written, and `Z` only if it is known to be in UTC. */
export function dateText(ms: number, hasTime: boolean, inUtc = false): string {
  const text = new Date(ms).toISOString();
  return hasTime ? `${text.slice(0, 19)}${inUtc ? 'Z' : ''}` : text.slice(0, 10);
}

function startsWithDigit(text: string, order: DateOrder): ParsedDate | null {
  const isIso = iso.exec(text);
  if (isIso !== null) {
    const [, year, separator, month, day, hour, minute, second, zone] = isIso;
    const ms = calendarMs(Number(year), Number(month), Number(day ?? 1), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
    // A month without a day is a date only with a dash: 2024.5 is a number.
    if (ms === null || (day === undefined && (separator !== '-' || month!.length !== 2 || hour !== undefined))) return null;
    const form = day === undefined ? 'YYYY-MM' : `YYYY${separator}MM${separator}DD`;
    return { ms, hasTime: hour !== undefined, ordered: true, form, coarse: day === undefined, offset: offsetOf(zone) };
  }
  const parts = numeric.exec(text);
  if (parts !== null) return fromNumbers(parts, order);
  const words = dayWord.exec(text);
  if (words !== null) return fromWords(words[3]!, words[2]!, words[1]!, words.slice(4, 7), 'D Month YYYY');
  const log = logTime.exec(text);
  if (log !== null) return fromWords(log[3]!, log[2]!, log[1]!, log.slice(4, 7), 'DD/Mon/YYYY');
  const coarse = monthYear.exec(text);
  if (coarse !== null) return coarseDate(Number(coarse[2]), Number(coarse[1]), 'MM/YYYY');
  const quarters = quarter.exec(text);
  return quarters === null ? null : coarseDate(Number(quarters[3]), Number(quarters[4]) * 3 - 2, 'quarter');
}

/** "+02:00" is 120; "Z" is 0. */
function offsetOf(zone: string | undefined): number | '' {
  if (zone === undefined) return '';
  if (zone === 'Z' || zone === 'UTC') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone[0] === '-' ? -minutes : minutes;
}

function startsWithWord(text: string): ParsedDate | null {
  const american = wordDay.exec(text) ?? wordDayBare.exec(text);
  if (american !== null) return fromWords(american[3]!, american[1]!, american[2]!, [], 'Month D, YYYY');
  const month = wordYear.exec(text);
  if (month !== null) return coarseDate(Number(month[2]), monthOfName(month[1]!), 'Month YYYY');
  const quarters = quarter.exec(text);
  if (quarters !== null) return coarseDate(Number(quarters[2]), Number(quarters[1]) * 3 - 2, 'quarter');
  const words = dayWord.exec(text);
  return words === null ? null : fromWords(words[3]!, words[2]!, words[1]!, words.slice(4, 7), 'D Month YYYY');
}

function fromNumbers(parts: RegExpExecArray, order: DateOrder): ParsedDate | null {
  const [, first, separator, second, yearText, hourText, minute, secondOfMinute, half] = parts;
  // Dots are German notation: the day is first.
  const dayFirst = separator === '.' || order === 'day_first';
  const day = Number(dayFirst ? first : second);
  const month = Number(dayFirst ? second : first);
  let hour = Number(hourText ?? 0);
  if (half !== undefined && /m$/i.test(half)) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (/^p/i.test(half) ? 12 : 0);
  }
  const ms = calendarMs(fullYear(yearText!), month, day, hour, Number(minute ?? 0), Number(secondOfMinute ?? 0));
  if (ms === null) return null;
  const ordered = separator === '.';
  const form = ordered ? 'DD.MM.YYYY' : `NN${separator}NN${separator}YYYY`;
  return { ms, hasTime: hourText !== undefined, ordered, form: yearText!.length === 2 ? form.replace('YYYY', 'YY') : form, coarse: false };
}

function fromWords(year: string, word: string, day: string, time: (string | undefined)[], form: string): ParsedDate | null {
  // Beside a day and a year a foreign name of a month is no other word.
  const month = monthNumber(word);
  const [hour, minute, second] = time;
  const ms =
    month === 0 ? null : calendarMs(fullYear(year), month, Number(day), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
  return ms === null ? null : { ms, hasTime: hour !== undefined, ordered: true, form, coarse: false };
}

function coarseDate(year: number, month: number, form: string): ParsedDate | null {
  const ms = year < 1900 || year > 2100 ? null : calendarMs(year, month, 1, 0, 0, 0);
  return ms === null ? null : { ms, hasTime: false, ordered: true, form, coarse: true };
}

function fullYear(text: string): number {
  const year = Number(text);
  return text.length === 4 ? year : year < 70 ? 2000 + year : 1900 + year;
}

function calendarMs(year: number, month: number, day: number, hour: number, minute: number, second: number): number | null {
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  return new Date(ms).getUTCDate() === day && year >= 1000 ? ms : null;
}
