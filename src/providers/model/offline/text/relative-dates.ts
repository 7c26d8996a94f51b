/** Dates relative to the day of a text: "Friday", "next Tuesday", "tomorrow", "end of the month", "in two weeks". English and German. */
import { monthNumber } from '../../../table/month-names.ts';
import { numberOfWord } from './number-words.ts';

export type RelativeDate = {
  /** Null where two days are possible; the note names both. */
  iso: string | null;
  note: string;
};

const dayMs = 86_400_000;
const maxCounted = 999;
const weekdays: readonly RegExp[] = [
  /^(?:sunday|sun|sonntag|dimanche|domingo|domenica)$/i,
  /^(?:monday|mon|montag|lundi|lunes|lunedì)$/i,
  /^(?:tuesday|tues|tue|dienstag|mardi|martes|martedì)$/i,
  /^(?:wednesday|wed|mittwoch|mercredi|miércoles|mercoledì)$/i,
  /^(?:thursday|thurs|thu|donnerstag|jeudi|jueves|giovedì)$/i,
  /^(?:friday|fri|freitag|vendredi|viernes|venerdì)$/i,
  /^(?:saturday|sat|samstag|sonnabend|samedi|sábado|sabato)$/i,
];
/**
 * The date that `written` means in a text of the day `base` (ISO). Null if it is not a relative date, or too vague.
 *
 * @param from source of the base date, for the note
 */
export function relativeDate(written: string, base: string, from: string): RelativeDate | null {
  const words = written
    .toLowerCase()
    .replace(/^(?:the|den|dem|der|am|zum|bis) /, '')
    .replace(/[.,;:!?]{1,3}$/, '')
    .trim()
    .split(/\s+/)
    .slice(0, 8);
  const start = Date.parse(`${base}T00:00:00Z`);
  if (Number.isNaN(start)) return null;
  const on = (ms: number): RelativeDate => ({ iso: isoOf(ms), note: `counted from ${from}` });
  const [first = '', second = ''] = words;
  const joined = words.join(' ');
  if (/^(?:today|tonight|heute|eod)$/.test(joined) || joined === 'end of day' || joined === 'end of the day') return on(start);
  if (/^(?:tomorrow|morgen)$/.test(joined)) return on(start + dayMs);
  if (/^(?:übermorgen|the day after tomorrow)$/.test(joined)) return on(start + 2 * dayMs);
  const day = weekdays.findIndex((name) => name.test(words.length === 1 ? first : second));
  if (day >= 0 && words.length === 1) return on(weekdayAfter(start, day));
  if (day >= 0 && words.length === 2) return namedWeekday(first, day, start, from, on);
  if (/^(?:eow|end of (?:the |this )?week|ende der woche)$/.test(joined)) return on(weekdayAfter(start - dayMs, 5));
  if (
    /^(?:end of (?:the |this )?month|ende des monats|monatsende|fin (?:du|de) mois|fin de mes|final de mes|fine (?:del )?mese)$/.test(
      joined,
    )
  )
    return on(lastOfMonth(start, 0));
  if (/^(?:end of next month|ende nächsten monats)$/.test(joined)) return on(lastOfMonth(start, 1));
  if (/^(?:end of (?:the |this )?year|ende des jahres|jahresende)$/.test(joined))
    return on(Date.parse(`${base.slice(0, 4)}-12-31T00:00:00Z`));
  const dayOfMonth = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(joined)?.[1];
  if (dayOfMonth !== undefined) return onDayOfMonth(Number(dayOfMonth), start, on);
  const month = /^(?:end of|ende|fin|fin de|finales de|fine|fine di) (\p{L}{3,10})$/u.exec(joined)?.[1];
  if (month !== undefined && monthNumber(month) > 0) return endOf(monthNumber(month), start, from);
  if (/^(?:next week|(?:nächste|kommende)n? woche)$/.test(joined)) {
    const monday = weekdayAfter(start, 1);
    return { iso: null, note: `${isoOf(monday)} to ${isoOf(monday + 6 * dayMs)}, counted from ${from}` };
  }
  return counted(words, start, on);
}

/** "The 12th": of this month, or of the next where it is over; null where that month has no such day. */
function onDayOfMonth(day: number, start: number, on: (ms: number) => RelativeDate): RelativeDate | null {
  const base = new Date(start);
  const later = day < base.getUTCDate() ? 1 : 0;
  const found = new Date(Date.UTC(base.getUTCFullYear(), base.getUTCMonth() + later, day));
  return found.getUTCDate() === day ? on(found.getTime()) : null;
}

/** "this Friday" is the next one; "next Friday" may be one week later if the nearer one is still in this week. */
function namedWeekday(lead: string, day: number, start: number, from: string, on: (ms: number) => RelativeDate): RelativeDate | null {
  const near = weekdayAfter(start, day);
  if (/^(?:this|diese[nrms]?|coming|kommende[nrms]?|on|am)$/.test(lead)) return on(near);
  if (!/^(?:next|nächste[nrms]?)$/.test(lead)) return null;
  const inThisWeek = weekOf(near) === weekOf(start);
  if (!inThisWeek) return on(near);
  return { iso: null, note: `${isoOf(near)} or ${isoOf(near + 7 * dayMs)}, counted from ${from}; "${lead}" can mean either` };
}

/** "in two weeks", "within 14 days". */
function counted(words: readonly string[], start: number, on: (ms: number) => RelativeDate): RelativeDate | null {
  const [lead = '', count = '', unit = ''] = words;
  if (!/^(?:in|within|innerhalb|binnen)$/.test(lead) || words.length > 3) return null;
  const many = numberOfWord(count) ?? 0;
  if (many === 0 || many > maxCounted) return null;
  if (/^(?:days?|tage?n?)$/.test(unit)) return on(start + many * dayMs);
  if (/^(?:weeks?|wochen?)$/.test(unit)) return on(start + many * 7 * dayMs);
  return null;
}

function weekdayAfter(start: number, day: number): number {
  const ahead = (day - new Date(start).getUTCDay() + 7) % 7;
  return start + (ahead === 0 ? 7 : ahead) * dayMs;
}

/** The last day of a month that ends within half a year after the text; a month before it may be of the next year. */
function endOf(month: number, start: number, from: string): RelativeDate | null {
  const ahead = (month - 1 - new Date(start).getUTCMonth() + 12) % 12;
  return ahead > 6 ? null : { iso: isoOf(lastOfMonth(start, ahead)), note: `counted from ${from}` };
}

/** Weeks begin on Monday. */
function weekOf(ms: number): number {
  return Math.floor((ms / dayMs + 3) / 7);
}

function lastOfMonth(start: number, later: number): number {
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later + 1, 0);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
