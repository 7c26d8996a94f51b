/**
 * Sessions of the New York exchanges, 9:30 to 16:00 New York time and to 13:00 on half days, as UTC times; and days as dates. Daylight
 * saving follows our own rules (`calendar-rules.ts`), so that every node has the same ones, whatever its time-zone data. Crypto always
 * trades; its day is the UTC day.
 */
import { type DayNumber, dayNumber, halfDaysOf, holidaysOf, msPerDay, newYorkBehindMinutes, weekday } from './calendar-rules.ts';
import type { AssetClass } from './symbol.ts';

export { type DayNumber, dayNumber, msPerDay, weekday } from './calendar-rules.ts';

export type Session = { day: DayNumber; openMs: number; closeMs: number; half: boolean };

const msPerMinute = 60_000;
const openMinute = 9 * 60 + 30;
const closeMinute = 16 * 60;
const halfDayCloseMinute = 13 * 60;
const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The range of dates; earlier years had other rules. */
export const firstDay: DayNumber = dayNumber(2000, 1, 1);
export const lastDay: DayNumber = dayNumber(2100, 12, 31);

/** null for a text that is no date, such as 2023-02-29, and for a year below 1000. */
export function parseDate(text: string): DayNumber | null {
  const parts = datePattern.exec(text);
  if (parts === null) return null;
  const day = dayNumber(Number(parts[1]), Number(parts[2]), Number(parts[3]));
  return isoDate(day) === text ? day : null;
}

/** `2026-11-20`, for years from 1000 to 9999. */
export function isoDate(day: DayNumber): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

/** The UTC day of a time. */
export function utcDay(ms: number): DayNumber {
  return Math.floor(ms / msPerDay);
}

/** The date in New York at a time. */
export function newYorkDay(ms: number): DayNumber {
  const day = Math.floor((ms - 300 * msPerMinute) / msPerDay);
  return ms >= newYorkMidnightMs(day + 1) ? day + 1 : day;
}

/** When the day begins in New York: clocks change at 02:00, so the offset is still that of the day before. */
export function newYorkMidnightMs(day: DayNumber): number {
  return day * msPerDay + newYorkBehindMinutes(day - 1) * msPerMinute;
}

/** null if the exchange has no session on that day. */
export function sessionOn(day: DayNumber): Session | null {
  const { first, sessions } = yearOf(day);
  return sessions[day - first] ?? null;
}

/** The session that is open at this time: from its opening to before its close. */
export function sessionAt(ms: number): Session | null {
  const session = sessionOn(newYorkDay(ms));
  return session !== null && ms >= session.openMs && ms < session.closeMs ? session : null;
}

/** The first session that opens after this time. */
export function nextSession(ms: number): Session {
  if (ms >= next.fromMs && ms < next.untilMs) return next.session!;
  const session = search(newYorkDay(ms), 1, ({ openMs }) => openMs > ms);
  next = { session, fromMs: sessionBefore(session.day).openMs, untilMs: session.openMs };
  return session;
}

/** The last session that closed at or before this time. */
export function previousSession(ms: number): Session {
  if (ms >= previous.fromMs && ms < previous.untilMs) return previous.session!;
  const session = search(newYorkDay(ms), -1, ({ closeMs }) => closeMs <= ms);
  previous = { session, fromMs: session.closeMs, untilMs: sessionAfter(session.day).closeMs };
  return session;
}

/** The last session before that day. */
export function sessionBefore(day: DayNumber): Session {
  return search(day - 1, -1, () => true);
}

/** The first session after that day. */
export function sessionAfter(day: DayNumber): Session {
  return search(day + 1, 1, () => true);
}

export function nextOpenMs(ms: number): number {
  return nextSession(ms).openMs;
}

/** The next regular close: of the open session, else of the next one. */
export function nextCloseMs(ms: number): number {
  return (sessionAt(ms) ?? nextSession(ms)).closeMs;
}

export function previousCloseMs(ms: number): number {
  return previousSession(ms).closeMs;
}

/** From one day to another, inclusive, in order. */
export function sessionsBetween(first: DayNumber, last: DayNumber): Session[] {
  const found: Session[] = [];
  for (let day = first; day <= last; day++) {
    const session = sessionOn(day);
    if (session !== null) found.push(session);
  }
  return found;
}

/** `always`: as if the exchange never closed; its next opening and close are returned all the same. */
export type MarketHours = 'always' | 'exchange';

export type SessionState = { session: 'open' | 'closed'; nextOpenMs: number | null; nextCloseMs: number | null };

export function sessionState(assetClass: AssetClass, hours: MarketHours, ms: number): SessionState {
  if (assetClass === 'crypto') return { session: 'open', nextOpenMs: null, nextCloseMs: null };
  const isOpen = hours === 'always' || sessionAt(ms) !== null;
  return { session: isOpen ? 'open' : 'closed', nextOpenMs: nextOpenMs(ms), nextCloseMs: nextCloseMs(ms) };
}

/**
 * When the current day of an asset class began, for its day result: at the previous regular close, or at 00:00 UTC. A close begins the next
 * day.
 */
export function resultDayBeganMs(assetClass: AssetClass, ms: number): number {
  return assetClass === 'crypto' ? utcDay(ms) * msPerDay : previousCloseMs(ms);
}

/** When a block of that class ends: at the next regular opening of the exchange, or at the next 00:00 UTC. */
export function blockEndsMs(assetClass: AssetClass, ms: number): number {
  return assetClass === 'crypto' ? (utcDay(ms) + 1) * msPerDay : nextOpenMs(ms);
}

/** The last results, and for which times they are valid: each turn and each quote queries the current time. */
type Known = { session: Session | null; fromMs: number; untilMs: number };
let next: Known = { session: null, fromMs: 0, untilMs: 0 };
let previous: Known = next;

type Year = { first: DayNumber; sessions: (Session | null)[] };

const years = new Map<number, Year>();

function yearOf(day: DayNumber): Year {
  const year = new Date(day * msPerDay).getUTCFullYear();
  let table = years.get(year);
  if (table === undefined) {
    table = yearTable(year);
    // Bounds memory if a clock is set far off.
    if (years.size > 400) years.clear();
    years.set(year, table);
  }
  return table;
}

function yearTable(year: number): Year {
  const first = dayNumber(year, 1, 1);
  const closed = new Set(holidaysOf(year));
  const halves = new Set(halfDaysOf(year));
  const sessions = Array.from({ length: dayNumber(year + 1, 1, 1) - first }, (_, n): Session | null => {
    const day = first + n;
    if (weekday(day) === 0 || weekday(day) === 6 || closed.has(day)) return null;
    const midnight = day * msPerDay + newYorkBehindMinutes(day) * msPerMinute;
    const half = halves.has(day);
    const close = half ? halfDayCloseMinute : closeMinute;
    return { day, openMs: midnight + openMinute * msPerMinute, closeMs: midnight + close * msPerMinute, half };
  });
  return { first, sessions };
}

/** Any ten days contain a session. */
function search(from: DayNumber, step: 1 | -1, wanted: (session: Session) => boolean): Session {
  for (let day = from; ; day += step) {
    const session = sessionOn(day);
    if (session !== null && wanted(session)) return session;
  }
}
