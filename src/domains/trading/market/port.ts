/**
 * The market-data port: quotes, bars and corporate actions of a symbol, from any source. Times are UTC milliseconds; prices are numbers
 * that print as decimals of at most nine places (`../decimal.ts` makes them exact).
 */
import type { Series } from '../bars.ts';
import type { AssetClass } from './symbol.ts';

export const timeframes = ['1m', '5m', '1h', '1d'] as const;
export type Timeframe = (typeof timeframes)[number];

export type SourceName = 'embedded' | 'file' | 'broker';

export type Quote = {
  symbol: string;
  assetClass: AssetClass;
  bid: number;
  ask: number;
  last: number;
  /** The volume traded in this content of the quote; 0: nothing can fill against it. */
  volume: number;
  atMs: number;
  session: 'open' | 'closed';
  /** The exchange's next close; null if trading never closes. */
  nextOpenMs: number | null;
  nextCloseMs: number | null;
  tick: number;
  source: SourceName;
  /**
   * Microseconds of the wall clock: grows with each new content, also across restarts and other sources. Equal numbers mean equal content
   * of a source.
   */
  sequence: number;
};

/**
 * Times of `bars` ascend, and are the beginnings of bars; of a daily bar 00:00 UTC of its date, which for equities is a label and no moment (`barEndMs` of
 * `bars.ts` says when it is complete).
 */
export type Bars = Series & {
  assetClass: AssetClass;
  timeframe: Timeframe;
  source: SourceName | 'csv';
  adjusted: boolean;
};

export type BarsRequest = {
  symbol: string;
  timeframe: Timeframe;
  /** First and last date, inclusive: days of the exchange for daily bars, UTC days for the others. `YYYY-MM-DD`. */
  start: string;
  end: string;
  /**
   * true: prices and volumes as if the splits up to `adjustedTo` (default: `end`) had happened before the first bar. Dividends are never taken out of
   * prices: they are cash (`actions`).
   */
  adjusted: boolean;
  adjustedTo?: string;
  signal?: AbortSignal;
};

/**
 * What a company does to its shares on a date, effective from 00:00 New York time on. `id` is the same for the same action wherever it is read.
 * split: `ratio` new shares for each old one. dividend: USD a share held at the close before. symbol_change: `from` is the old name.
 */
export type CorporateAction = { id: string; symbol: string; date: string; effectiveMs: number } & (
  | { type: 'split'; ratio: number }
  | { type: 'dividend'; amount: number }
  | { type: 'symbol_change'; from: string }
);

/** The vendor refuses the account's credentials, or they do not allow the request. */
export class CredentialsRefused extends Error {
  override name = 'CredentialsRefused';
}

/**
 * All return null for a symbol that the source does not know. A source that cannot be reached, or sends an invalid answer, throws
 * `AppError` `unavailable`; one that refuses the credentials throws `CredentialsRefused`.
 */
export interface MarketSource {
  readonly name: SourceName;
  quote(symbol: string, signal?: AbortSignal): Promise<Quote | null>;
  /** Only bars that are complete by the market's clock. */
  bars(request: BarsRequest): Promise<Bars | null>;
  /** Effective from the first date to the last, inclusive, in order. */
  actions(symbol: string, start: string, end: string): Promise<CorporateAction[] | null>;
}
