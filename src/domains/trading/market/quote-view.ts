/** Quotes and bars as clients see them. */
import { isoTimestamp } from '../../../clock.ts';
import { barDate, dataHash } from '../bars.ts';
import { barRows } from './bars.ts';
import type { Bars, Quote } from './port.ts';

/** Older quotes are not used for orders while the session is open. */
export const staleAfterMs = 15_000;

export function isStale({ session, atMs }: Quote, marketMs: number): boolean {
  return session === 'open' && marketMs - atMs > staleAfterMs;
}

export function quoteView(quote: Quote) {
  const { symbol, assetClass, bid, ask, last, volume, atMs, session, nextOpenMs, nextCloseMs, tick, source } = quote;
  return {
    symbol,
    asset_class: assetClass,
    bid,
    ask,
    last,
    volume,
    at: isoTimestamp(atMs),
    session,
    next_open: nextOpenMs === null ? null : isoTimestamp(nextOpenMs),
    next_close: nextCloseMs === null ? null : isoTimestamp(nextCloseMs),
    tick,
    source,
  };
}

export function barsView(bars: Bars) {
  const { symbol, timeframe, source, adjusted } = bars;
  const dividends = (bars.dividends ?? []).map(({ timeMs, amount }) => ({ date: barDate(timeMs, true), amount }));
  return { symbol, timeframe, source, adjusted, data_hash: dataHash([bars]), bars: barRows(bars), dividends };
}
