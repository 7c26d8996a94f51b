/**
 * Converts bars of a broker to bars of this service: of regular sessions only, hours that begin at the session's opening, days of crypto that begin at
 * 00:00 UTC, and complete bars only.
 */
import { AppError } from '../../../errors.ts';
import { type BarColumns, barFields, cutBars } from '../bars.ts';
import { barEndMs, emptyBars, foldBars, minutesIn } from './bars.ts';
import { msPerDay, newYorkDay, parseDate, sessionAt, utcDay } from './calendar.ts';
import type { Bars, BarsRequest } from './port.ts';
import type { AssetClass } from './symbol.ts';

const msPerMinute = 60_000;

/** A day's bar has the time 00:00 UTC of its date. */
export type VendorBar = { timeMs: number; open: number; high: number; low: number; close: number; volume: number };
/** In ascending order. `minutes`: the length of a bar; null: a day. */
export type VendorBars = { minutes: number | null; bars: readonly VendorBar[] };
export type BarsOf = Pick<BarsRequest, 'symbol' | 'timeframe' | 'start' | 'end' | 'adjusted'> & { assetClass: AssetClass };

/** Throws `unavailable` if a bar is invalid, or the bars are not in ascending order. @param nowMs the market's clock */
export function barsOfVendor(given: VendorBars, of: BarsOf, nowMs: number): Bars {
  const { assetClass, symbol, timeframe, adjusted } = of;
  const folded = fold(columnsOf(given, of), startOfLonger(given.minutes, of));
  let length = folded.time.length;
  while (length > 0 && barEndMs(assetClass, timeframe, folded.time[length - 1]!) > nowMs) length--;
  return { symbol, assetClass, timeframe, source: 'broker', adjusted, bars: cutBars(folded, 0, length) };
}

function columnsOf({ minutes, bars }: VendorBars, { assetClass, start, end }: BarsOf): BarColumns {
  const [first, last] = [parseDate(start)!, parseDate(end)!];
  const isDaily = minutes === null;
  // Regular sessions lie within one UTC day, so both days are the same there.
  const dayOf = (timeMs: number) => (isDaily || assetClass === 'crypto' ? utcDay(timeMs) : newYorkDay(timeMs));
  const columns = emptyBars(bars.length);
  let length = 0;
  let before = Number.NEGATIVE_INFINITY;
  for (const { timeMs: time, ...prices } of bars) {
    const { open, high, low, close } = prices;
    const isBar = time > before && low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close);
    if (!isBar)
      throw new AppError('unavailable', 'The broker returned invalid bars: a price is out of range, or the dates are not ascending');
    before = time;
    const day = dayOf(time);
    if (day < first || day > last || (assetClass === 'equity' && !isDaily && sessionAt(time) === null)) continue;
    const row = { time, ...prices };
    for (const field of barFields) columns[field][length] = row[field];
    length++;
  }
  return cutBars(columns, 0, length);
}

/** Maps the time of a bar to the beginning of the longer bar that contains it; null if the bars have the requested length already. */
function startOfLonger(minutes: number | null, { assetClass, timeframe }: BarsOf): ((timeMs: number) => number) | null {
  const wanted = minutesIn(timeframe);
  if (minutes === wanted) return null;
  if (wanted === null) return assetClass === 'crypto' ? (timeMs) => utcDay(timeMs) * msPerDay : (timeMs) => newYorkDay(timeMs) * msPerDay;
  const lengthMs = wanted * msPerMinute;
  if (assetClass === 'crypto') return (timeMs) => Math.floor(timeMs / lengthMs) * lengthMs;
  return (timeMs) => {
    const { openMs } = sessionAt(timeMs)!;
    return openMs + Math.floor((timeMs - openMs) / lengthMs) * lengthMs;
  };
}

function fold(columns: BarColumns, startOf: ((timeMs: number) => number) | null): BarColumns {
  if (startOf === null) return columns;
  const out = emptyBars(columns.time.length);
  let length = 0;
  for (let from = 0, to = 0; from < columns.time.length; from = to) {
    const time = startOf(columns.time[from]!);
    while (to < columns.time.length && startOf(columns.time[to]!) === time) to++;
    const row = { time, ...foldBars(columns, from, to) };
    for (const field of barFields) out[field][length] = row[field];
    length++;
  }
  return cutBars(out, 0, length);
}
