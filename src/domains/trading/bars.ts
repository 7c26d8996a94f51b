/**
 * Bars as columns: one typed array for each field, so that ten years of minutes are six arrays and not a million objects. Rows are in the order
 * of time; `time` is the beginning of a bar in milliseconds since 1970, UTC.
 */
import { createHash } from 'node:crypto';

export type BarColumns = {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
};
/**
 * Cash for each share held at the close before `timeMs`; shares are counted as in the bars' prices (after splits, if prices are adjusted).
 */
export type Dividend = { readonly timeMs: number; readonly amount: number };
export type Series = { readonly symbol: string; readonly bars: BarColumns; readonly dividends?: readonly Dividend[] };

export const barFields = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;
export const dayMs = 86_400_000;

/** The columns from row `from` up to but not including row `to`; they share memory with `bars`. */
export function cutBars(bars: BarColumns, from: number, to: number): BarColumns {
  const cut = (column: Float64Array) => column.subarray(from, to);
  return {
    time: cut(bars.time),
    open: cut(bars.open),
    high: cut(bars.high),
    low: cut(bars.low),
    close: cut(bars.close),
    volume: cut(bars.volume),
  };
}

/** The rows whose time is in [fromMs, toMs). */
export function barsBetween(bars: BarColumns, fromMs: number, toMs: number): BarColumns {
  return cutBars(bars, firstAtOrAfter(bars.time, fromMs), firstAtOrAfter(bars.time, toMs));
}

/** The first row whose time is not before `atMs`; the number of rows if there is none. */
export function firstAtOrAfter(time: Float64Array, atMs: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle]! < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `YYYY-MM-DD` for daily bars, `YYYY-MM-DDTHH:MM:00Z` for shorter ones. */
export function barDate(timeMs: number, daily: boolean): string {
  const text = new Date(timeMs).toISOString();
  return daily ? text.slice(0, 10) : `${text.slice(0, 16)}:00Z`;
}

/** The same for a whole column; the text of each day is made once. */
export function barDates(time: Float64Array, daily: boolean, from = 0, to = time.length): string[] {
  const dates: string[] = new Array(to - from);
  let day = Number.NaN;
  let dayText = '';
  for (let i = from; i < to; i++) {
    const ms = time[i]!;
    const itsDay = Math.floor(ms / dayMs);
    if (itsDay !== day) {
      day = itsDay;
      dayText = barDate(day * dayMs, true);
    }
    dates[i - from] = daily ? dayText : `${dayText}T${minuteTexts[Math.floor((ms - day * dayMs) / 60_000)]}`;
  }
  return dates;
}

const two = (value: number) => String(value).padStart(2, '0');
const minuteTexts = Array.from({ length: 1440 }, (_, minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}:00Z`);

/**
 * SHA-256, in hex, of the symbols and all their bars: for each symbol its name, a null byte, the number of bars as a double, then the columns
 * time, open, high, low, close, volume as little-endian doubles, then its dividends, if any, as pairs of time and amount.
 */
export function dataHash(series: readonly Series[]): string {
  const hash = createHash('sha256');
  for (const { symbol, bars, dividends = [] } of series) {
    hash.update(`${symbol}\0`).update(bytesOf(Float64Array.of(bars.time.length)));
    for (const field of barFields) hash.update(bytesOf(bars[field]));
    hash.update(bytesOf(Float64Array.from(dividends.flatMap(({ timeMs, amount }) => [timeMs, amount]))));
  }
  return hash.digest('hex');
}

export function bytesOf(column: Float64Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}
