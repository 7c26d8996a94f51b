/** Bars of a source: rows as clients see them, the time at which a bar is complete, and folding shorter bars into longer ones. */
import { type BarColumns, barDate, type Dividend } from '../bars.ts';
import { fromNano, roundedToNano } from '../decimal.ts';
import { msPerDay, sessionAt, sessionOn, utcDay } from './calendar.ts';
import type { Bars, CorporateAction, Timeframe } from './port.ts';
import type { AssetClass } from './symbol.ts';

const minutesOf: Readonly<Record<Exclude<Timeframe, '1d'>, number>> = { '1m': 1, '5m': 5, '1h': 60 };
const msPerMinute = 60_000;

/** In one answer of a source, or one file; more are refused. */
export const maxBars = 5_000_000;

export type BarRow = { date: string; open: number; high: number; low: number; close: number; volume: number };

export function emptyBars(length: number): BarColumns {
  const column = () => new Float64Array(length);
  return { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
}

/** `date` is a day, or the minute in which the bar begins: `2024-01-02T14:30:00Z`. */
export function barRow({ timeframe, bars: { time, open, high, low, close, volume } }: Bars, n: number): BarRow {
  const date = barDate(time[n]!, timeframe === '1d');
  return { date, open: open[n]!, high: high[n]!, low: low[n]!, close: close[n]!, volume: volume[n]! };
}

export function barRows(bars: Bars): BarRow[] {
  return Array.from(bars.bars.time, (_, n) => barRow(bars, n));
}

/**
 * When the bar that begins at `timeMs` is complete. Bars of hours are counted from the session's opening, so the last of a session is cut at its close.
 * A daily bar of an equity on a day without session (external data) ends with its UTC day.
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

/** The minutes of a bar of the timeframe; null for a day, which contains a session. */
export function minutesIn(timeframe: Timeframe): number | null {
  return timeframe === '1d' ? null : minutesOf[timeframe];
}

/** Folds consecutive bars into one: first open, highest high, lowest low, last close, volume summed as decimals. */
export function foldBars({ open, high, low, close, volume }: BarColumns, from: number, to: number): Omit<BarRow, 'date'> {
  let highest = high[from]!;
  let lowest = low[from]!;
  let traded = 0n;
  for (let n = from; n < to; n++) {
    highest = Math.max(highest, high[n]!);
    lowest = Math.min(lowest, low[n]!);
    traded += roundedToNano(volume[n]!);
  }
  return { open: open[from]!, high: highest, low: lowest, close: close[to - 1]!, volume: fromNano(traded) };
}

type DividendsWanted = {
  /** A day's bar begins at 00:00 UTC of its date. */
  daily: boolean;
  /** Counted in shares of the end of the period, as adjusted prices are. */
  adjusted: boolean;
  /** Dividends after the period are left out. */
  nowMs: number;
};

export function dividendsOf(actions: readonly CorporateAction[], { daily, adjusted, nowMs }: DividendsWanted): Dividend[] {
  const dividends: Dividend[] = [];
  let sharesPerShare = 1;
  for (const action of actions.toReversed()) {
    if (action.type === 'split' && adjusted) sharesPerShare *= action.ratio;
    if (action.type !== 'dividend' || action.effectiveMs > nowMs) continue;
    dividends.push({ timeMs: daily ? Date.parse(action.date) : action.effectiveMs, amount: action.amount / sharesPerShare });
  }
  return dividends.reverse();
}
