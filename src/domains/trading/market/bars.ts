/** Bars by column: made, folded into longer ones, shown as rows, hashed. */
import { createHash } from 'node:crypto';
import { fromNano, roundedToNano } from '../decimal.ts';
import { msPerDay, sessionAt, sessionOn, utcDay } from './calendar.ts';
import type { Bars, Timeframe } from './port.ts';
import type { AssetClass } from './symbol.ts';

const minutesOf: Readonly<Record<Exclude<Timeframe, '1d'>, number>> = { '1m': 1, '5m': 5, '1h': 60 };
const msPerMinute = 60_000;

export type BarRow = { date: string; open: number; high: number; low: number; close: number; volume: number };
export type Columns = Pick<Bars, 'timesMs' | 'open' | 'high' | 'low' | 'close' | 'volume'>;

export function emptyColumns(length: number): Columns {
  const column = () => new Float64Array(length);
  return { timesMs: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
}

/** The same columns without what is past `length`. */
export function cutColumns(columns: Columns, from: number, to: number): Columns {
  const { timesMs, open, high, low, close, volume } = columns;
  return {
    timesMs: timesMs.subarray(from, to),
    open: open.subarray(from, to),
    high: high.subarray(from, to),
    low: low.subarray(from, to),
    close: close.subarray(from, to),
    volume: volume.subarray(from, to),
  };
}

/** `2024-01-02` of a daily bar, else the minute it begins: `2024-01-02T14:30:00Z`. */
export function barDate(timeframe: Timeframe, timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  return timeframe === '1d' ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

export function barRow({ timeframe, timesMs, open, high, low, close, volume }: Bars, n: number): BarRow {
  const date = barDate(timeframe, timesMs[n]!);
  return { date, open: open[n]!, high: high[n]!, low: low[n]!, close: close[n]!, volume: volume[n]! };
}

export function barRows(bars: Bars): BarRow[] {
  return Array.from(bars.timesMs, (_, n) => barRow(bars, n));
}

/**
 * When the bar that begins at `timeMs` is complete. Bars of hours are counted from the session's opening, so the last of a session is cut at its close.
 * A daily bar of an equity on a day without session (other people's data) ends with its UTC day.
 */
export function barEndMs(assetClass: AssetClass, timeframe: Timeframe, timeMs: number): number {
  if (timeframe === '1d') {
    const session = assetClass === 'equity' ? sessionOn(utcDay(timeMs)) : null;
    return session?.closeMs ?? timeMs + msPerDay;
  }
  const end = timeMs + minutesOf[timeframe] * msPerMinute;
  const session = assetClass === 'equity' ? sessionAt(timeMs) : null;
  return session === null ? end : Math.min(end, session.closeMs);
}

/** How many minutes a bar of the timeframe holds; null of a day, which holds a session. */
export function minutesIn(timeframe: Timeframe): number | null {
  return timeframe === '1d' ? null : minutesOf[timeframe];
}

/** One bar of several that follow each other: first open, highest high, lowest low, last close, volume summed as decimals. */
export function foldBars(columns: Columns, from: number, to: number): Omit<BarRow, 'date'> {
  let high = columns.high[from]!;
  let low = columns.low[from]!;
  let volume = 0n;
  for (let n = from; n < to; n++) {
    high = Math.max(high, columns.high[n]!);
    low = Math.min(low, columns.low[n]!);
    volume += roundedToNano(columns.volume[n]!);
  }
  return { open: columns.open[from]!, high, low, close: columns.close[to - 1]!, volume: fromNano(volume) };
}

/** `sha256:` and hexadecimal digits over the columns' bytes, little-endian: the same bars, the same hash, whatever they came from. */
export function hashBars({ timesMs, open, high, low, close, volume }: Columns): string {
  const hash = createHash('sha256');
  for (const column of [timesMs, open, high, low, close, volume])
    hash.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  return `sha256:${hash.digest('hex')}`;
}
