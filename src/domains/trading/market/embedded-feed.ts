/**
 * The market data that needs no provider: invented prices of some 400 well-known symbols from 2000 to 2100. A price is a function of symbol
 * and time, the same on every node and for ever (`feedVersion`); nothing is stored, and no price depends on computing earlier ones. Bars
 * cover regular sessions; quotes exist at all times, and lead from a close to the next open.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../errors.ts';
import { type BarColumns, cutBars } from '../bars.ts';
import { barEndMs, emptyBars, maxBars, minutesIn } from './bars.ts';
import {
  type DayNumber,
  firstDay,
  lastDay,
  type MarketHours,
  msPerDay,
  newYorkDay,
  nextSession,
  parseDate,
  previousSession,
  sessionAt,
  sessionOn,
  sessionState,
  utcDay,
} from './calendar.ts';
import { betweenCloses, closeTicks, closeTicksIn, type Day, dayOf, type Minutes, secondOf, writeMinutes } from './embedded/day.ts';
import { daySigma } from './embedded/levels.ts';
import { hash, uniform } from './embedded/random.ts';
import { actionsBetween, splitFactor, splitRatio } from './embedded/splits.ts';
import { type Listing, universe } from './embedded/universe.ts';
import type { Bars, BarsRequest, CorporateAction, Quote } from './port.ts';

export { feedVersion } from './embedded/universe.ts';

const msPerMinute = 60_000;
const secondsOfSession = 23_400;
const minutesPerDay = 1_440;

type Content = { lastTicks: number; volume: number; atMs: number; isNight: boolean };

/** The order has no meaning. */
export function embeddedSymbols(): string[] {
  return [...universe.keys()];
}

/** The quote of the second that contains this time; null for an unknown symbol, and before 2000 and after 2100. */
export function embeddedQuote(symbol: string, ms: number, hours: MarketHours): Quote | null {
  const listing = universe.get(symbol);
  if (listing === undefined || utcDay(ms) <= firstDay || utcDay(ms) >= lastDay) return null;
  const content = contentAt(listing, Math.floor(ms / 1000) * 1000, hours);
  const { lastTicks, volume, atMs, isNight } = content;
  const width = lastTicks * listing.spread * 2 * (0.7 + 0.6 * uniform(listing.seed, Math.floor(atMs / 1000))) * (isNight ? 4 : 1);
  const spreadTicks = Math.max(1, Math.round(width));
  const bidTicks = Math.max(1, lastTicks - (spreadTicks >> 1));
  return {
    symbol,
    assetClass: listing.assetClass,
    bid: bidTicks / listing.ticksPerUnit,
    ask: (bidTicks + spreadTicks) / listing.ticksPerUnit,
    last: lastTicks / listing.ticksPerUnit,
    volume: volume / listing.volumeUnits,
    atMs,
    ...sessionState(listing.assetClass, hours, ms),
    tick: 1 / listing.ticksPerUnit,
    source: 'embedded',
    sequence: atMs * 1_000,
  };
}

/**
 * The bars of the period that are complete at `nowMs`; null for an unknown symbol. Throws `AppError` `payload_too_large` for more than `maxBars`, and
 * `RangeError` for an invalid date.
 */
export function embeddedBars(request: BarsRequest, nowMs: number): Bars | null {
  const { symbol, timeframe, adjusted } = request;
  const listing = universe.get(symbol);
  if (listing === undefined) return null;
  const sharesOf = dateOf(request.adjustedTo ?? request.end);
  const minutes = minutesIn(timeframe);
  const length = countOf(listing, request, nowMs);
  if (length > maxBars) throw new AppError('payload_too_large', `The period has ${length} bars; the maximum is ${maxBars}`);
  const columns = emptyBars(length);
  let at = 0;
  for (const day of daysOf(listing, request, nowMs)) {
    const from = at;
    at = minutes === null ? writeDay(day, columns, at) : writeIntraday(listing, day, minutes, columns, at);
    scale(listing, columns, from, at, adjusted ? splitRatio(listing, day.day, Math.max(sharesOf, day.day)) : 1);
  }
  while (at > 0 && barEndMs(listing.assetClass, timeframe, columns.time[at - 1]!) > nowMs) at--;
  return { symbol, assetClass: listing.assetClass, timeframe, source: 'embedded', adjusted, bars: cutBars(columns, 0, at) };
}

/** The number of bars that `embeddedBars` would return, including today's incomplete ones; null for an unknown symbol. Cheap. */
export function embeddedBarCount(request: Pick<BarsRequest, 'symbol' | 'timeframe' | 'start' | 'end'>, nowMs: number): number | null {
  const listing = universe.get(request.symbol);
  return listing === undefined ? null : countOf(listing, request, nowMs);
}

/** null for an unknown symbol. */
export function embeddedActions(symbol: string, start: string, end: string): CorporateAction[] | null {
  const listing = universe.get(symbol);
  if (listing === undefined) return null;
  return actionsBetween(listing, dateOf(start), dateOf(end), (day) => closeTicks(listing, day));
}

function contentAt(listing: Listing, ms: number, hours: MarketHours): Content {
  const session = listing.assetClass === 'crypto' ? { day: utcDay(ms) } : sessionAt(ms);
  if (session !== null) return contentOfDay(listing, session.day, ms);
  if (hours === 'always') return contentOfNight(listing, ms);
  const { day, closeMs } = previousSession(ms);
  return { lastTicks: closeTicksIn(listing, day, newYorkDay(ms)), volume: 0, atMs: closeMs, isNight: true };
}

function contentOfDay(listing: Listing, dayNumber: DayNumber, ms: number): Content {
  const { day, minutes } = minutesOf(listing, dayNumber);
  const minute = Math.floor((ms - day.openMs) / msPerMinute);
  const range = {
    open: minutes.open[minute]!,
    high: minutes.high[minute]!,
    low: minutes.low[minute]!,
    close: minutes.close[minute]!,
    volume: minutes.volume[minute]!,
  };
  const second = Math.floor((ms - day.openMs - minute * msPerMinute) / 1000);
  const { last, volume } = secondOf(listing, dayNumber, minute, range, second);
  return { lastTicks: last, volume, atMs: ms, isNight: false };
}

/**
 * The price between a close and the next open, possibly days later, with a fifth of the day's volume. A split applies from midnight of its
 * day.
 */
function contentOfNight(listing: Listing, ms: number): Content {
  const before = previousSession(ms);
  const next = nextSession(ms);
  const seed = hash(hash(listing.seed, next.day), 7);
  const from = closeTicksIn(listing, before.day, next.day);
  const length = (next.openMs - before.closeMs) / 1000;
  const at = (ms - before.closeMs) / 1000;
  const price = betweenCloses(seed, length, at, from, dayOf(listing, next.day)!.open, from * daySigma(listing) * 0.4);
  const today = newYorkDay(ms);
  const lastTicks = Math.max(listing.minTicks, Math.round(price * splitRatio(listing, today, next.day)));
  const volume = (listing.dayVolume * splitFactor(listing, today) * 0.2 * (0.5 + uniform(seed, at))) / secondsOfSession;
  return { lastTicks, volume: Math.max(1, Math.floor(volume)), atMs: ms, isNight: true };
}

const cache = new LRUCache<string, { day: Day; minutes: Minutes }>({ max: 512 });

function minutesOf(listing: Listing, dayNumber: DayNumber): { day: Day; minutes: Minutes } {
  const key = `${listing.symbol}/${dayNumber}`;
  let found = cache.get(key);
  if (found === undefined) {
    const day = dayOf(listing, dayNumber)!;
    found = { day, minutes: emptyBars(day.minutes) };
    writeMinutes(listing, day, found.minutes, 0);
    cache.set(key, found);
  }
  return found;
}

function* daysOf(listing: Listing, request: BarsRequest, nowMs: number): Generator<Day> {
  const [first, last] = daysIn(request, nowMs);
  for (let day = first; day <= last; day++) {
    const found = dayOf(listing, day);
    if (found !== null) yield found;
  }
}

function daysIn({ start, end }: Pick<BarsRequest, 'start' | 'end'>, nowMs: number): [DayNumber, DayNumber] {
  return [Math.max(dateOf(start), firstDay + 1), Math.min(dateOf(end), lastDay - 1, utcDay(nowMs))];
}

function countOf({ assetClass }: Listing, request: Pick<BarsRequest, 'timeframe' | 'start' | 'end'>, nowMs: number): number {
  const [first, last] = daysIn(request, nowMs);
  const minutes = minutesIn(request.timeframe);
  const inDay = (minutesOfDay: number) => (minutes === null ? 1 : Math.ceil(minutesOfDay / minutes));
  if (assetClass === 'crypto') return Math.max(0, last - first + 1) * inDay(minutesPerDay);
  let count = 0;
  for (let day = first; day <= last; day++) {
    const session = sessionOn(day);
    if (session !== null) count += inDay((session.closeMs - session.openMs) / msPerMinute);
  }
  return count;
}

function writeDay(day: Day, columns: BarColumns, at: number): number {
  columns.time[at] = day.day * msPerDay;
  columns.open[at] = day.open;
  columns.high[at] = day.high;
  columns.low[at] = day.low;
  columns.close[at] = day.close;
  columns.volume[at] = day.volume;
  return at + 1;
}

const scratch = emptyBars(minutesPerDay);

/** Bars of this many minutes, counted from the day's opening. */
function writeIntraday(listing: Listing, day: Day, minutes: number, columns: BarColumns, at: number): number {
  const target = minutes === 1 ? columns : scratch;
  writeMinutes(listing, day, target, minutes === 1 ? at : 0);
  const count = Math.ceil(day.minutes / minutes);
  for (let n = 0; n < count; n++) {
    columns.time[at + n] = day.openMs + n * minutes * msPerMinute;
    if (minutes > 1) foldTicks(n * minutes, Math.min(day.minutes, (n + 1) * minutes), columns, at + n);
  }
  return at + count;
}

function foldTicks(from: number, to: number, columns: BarColumns, at: number): void {
  let high = 0;
  let low = Number.POSITIVE_INFINITY;
  let volume = 0;
  for (let n = from; n < to; n++) {
    if (scratch.high[n]! > high) high = scratch.high[n]!;
    if (scratch.low[n]! < low) low = scratch.low[n]!;
    volume += scratch.volume[n]!;
  }
  columns.open[at] = scratch.open[from]!;
  columns.high[at] = high;
  columns.low[at] = low;
  columns.close[at] = scratch.close[to - 1]!;
  columns.volume[at] = volume;
}

/**
 * Converts ticks to prices. Adjusted prices are not multiples of the tick and are rounded to six places; `ratio`: new shares per old share.
 */
function scale({ ticksPerUnit, volumeUnits }: Listing, columns: BarColumns, from: number, to: number, ratio: number): void {
  const price =
    ratio === 1 ? (ticks: number) => ticks / ticksPerUnit : (ticks: number) => Math.round((ticks * 1e6) / ticksPerUnit / ratio) / 1e6;
  for (const column of [columns.open, columns.high, columns.low, columns.close]) {
    for (let n = from; n < to; n++) column[n] = price(column[n]!);
  }
  for (let n = from; n < to; n++)
    columns.volume[n] = ratio === 1 ? columns.volume[n]! / volumeUnits : Math.round(columns.volume[n]! * ratio) / volumeUnits;
}

function dateOf(text: string): DayNumber {
  const day = parseDate(text);
  if (day === null) throw new RangeError(`${text} is not a date`);
  return day;
}
