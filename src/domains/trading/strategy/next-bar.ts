/** When bars become complete, by the market's clock, and how far back a run must read. */

import { minutesIn } from '../market/bars.ts';
import { isoDate, msPerDay, nextCloseMs, nextSession, sessionAt, utcDay } from '../market/calendar.ts';
import type { Timeframe } from '../market/port.ts';
import { type AssetClass, parseSymbol } from '../market/symbol.ts';

const msPerMinute = 60_000;
/** The length of the shortest session. */
const minutesOfHalfDay = 210;
const minutesOfDay = 1_440;
const bothClasses: ReadonlySet<AssetClass> = new Set(['equity', 'crypto']);

/** The first time after `ms` at which a bar of the class is complete. */
export function nextBarEndMs(assetClass: AssetClass, timeframe: Timeframe, ms: number): number {
  const minutes = minutesIn(timeframe);
  if (minutes === null) return assetClass === 'crypto' ? (utcDay(ms) + 1) * msPerDay : nextCloseMs(ms);
  const barMs = minutes * msPerMinute;
  if (assetClass === 'crypto') return (Math.floor(ms / barMs) + 1) * barMs;
  const { openMs, closeMs } = sessionAt(ms) ?? nextSession(ms);
  const since = Math.max(0, ms - openMs);
  return Math.min(closeMs, openMs + (Math.floor(since / barMs) + 1) * barMs);
}

/** The same for several symbols: the first of all. */
export function nextBarEndOf(symbols: readonly string[], timeframe: Timeframe, ms: number): number {
  return Math.min(...[...classesOf(symbols)].map((assetClass) => nextBarEndMs(assetClass, timeframe, ms)));
}

/** A date from which there are at least `count` bars of these classes before `ms`; for coins provided they trade all the time. */
export function dateBefore(count: number, timeframe: Timeframe, ms: number, classes: ReadonlySet<AssetClass> = bothClasses): string {
  const minutes = minutesIn(timeframe);
  if (!classes.has('equity')) return dateOf(ms, Math.ceil((count * (minutes ?? minutesOfDay)) / minutesOfDay) + 2);
  const sessions = minutes === null ? count : Math.ceil(count / Math.ceil(minutesOfHalfDay / minutes));
  // Weekends and holidays: after the first ten days there are always at least 9 sessions in 15 days.
  return dateOf(ms, Math.ceil((sessions * 5) / 3) + 12);
}

export function classesOf(symbols: readonly string[]): Set<AssetClass> {
  return new Set(symbols.map((symbol) => parseSymbol(symbol)!.assetClass));
}

function dateOf(ms: number, daysBefore: number): string {
  return isoDate(Math.max(utcDay(ms) - daysBefore, 0));
}
