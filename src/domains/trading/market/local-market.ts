/** A node's own market: quotes, embedded or from a file, embedded history, and the clock that all of trading uses. */
import { type Clock, systemClock } from '../../../clock.ts';
import type { Config } from '../../../config.ts';
import type { Log } from '../../../log.ts';
import { type DayNumber, isoDate, type MarketHours, newYorkDay } from './calendar.ts';
import { embeddedActions, embeddedBars, embeddedQuote } from './embedded-feed.ts';
import { MarketFile, type NewContent } from './market-file.ts';
import type { Bars, BarsRequest, CorporateAction, MarketSource, Quote } from './port.ts';

export type LocalMarketOptions = { settings: Pick<Config, 'marketDataFile' | 'marketHours'>; log: Log; system?: Clock };

export interface LocalMarket extends MarketSource {
  readonly name: 'embedded' | 'file';
  /** The market's clock, for sessions, ages of quotes, ends of days and blocks. `created_at` and similar fields do not use it. */
  readonly clock: Clock;
  readonly hours: MarketHours;
  /** As `quote`, but synchronous: for a caller that may not wait. */
  quoteNow(symbol: string): Quote | null;
  /** The result of `quoteNow` at a past time; null if it is no longer known. */
  quoteAt(symbol: string, ms: number): Quote | null;
  /** Corporate actions in effect: those that the file names, or those of the last 40 days. In order. */
  actionsNow(symbol: string): readonly CorporateAction[];
  barsNow(request: BarsRequest): Bars | null;
  /**
   * Calls the listener with each new content of the file, and the corporate actions that appeared in it. The embedded feed has new content
   * each second, for which listeners are not called. Returns a function that ends the calls.
   */
  onContent(listener: (content: NewContent) => void): () => void;
  /** false while a configured file has not been read: its clock may differ from the market's. */
  hasPrices(): boolean;
  /** Resolves once quotes can be queried: before the file is read for the first time, no symbol is known. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** A file that is missing or invalid is logged, and polled until it is valid. */
export function openLocalMarket({ settings, log, system = systemClock }: LocalMarketOptions): LocalMarket {
  if (settings.marketDataFile === null) return embeddedMarket(settings.marketHours ?? 'always', system);
  const hours = settings.marketHours ?? 'exchange';
  const file = MarketFile.open({ path: settings.marketDataFile, hours, log, system });
  return marketOfFile(file, hours);
}

function embeddedMarket(hours: MarketHours, clock: Clock): LocalMarket {
  const quoteNow = quotesOfSecond(clock, hours);
  return {
    name: 'embedded',
    hours,
    clock,
    ...history(clock),
    quoteNow,
    quoteAt: (symbol, ms) => embeddedQuote(symbol, ms, hours),
    actionsNow: recentActions(clock),
    quote: async (symbol) => quoteNow(symbol),
    actions: async (symbol, start, end) => embeddedActions(symbol, start, end),
    onContent: () => () => {},
    hasPrices: () => true,
    ready: Promise.resolve(),
    close: async () => {},
  };
}

/** A symbol that the file does not have has no quote, though it may have a history. */
function marketOfFile(file: MarketFile, hours: MarketHours): LocalMarket {
  const known = (symbol: string, start: string, end: string): CorporateAction[] | null =>
    file.quote(symbol) === null
      ? null
      : file.actions().filter((action) => action.symbol === symbol && action.date >= start && action.date <= end);
  return {
    name: 'file',
    hours,
    clock: file.clock,
    ...history(file.clock),
    quoteNow: (symbol) => file.quote(symbol),
    quoteAt: () => null,
    actionsNow: (symbol) => file.actions().filter((action) => action.symbol === symbol),
    quote: async (symbol) => file.quote(symbol),
    actions: async (symbol, start, end) => known(symbol, start, end),
    onContent: (listener) => file.onContent(listener),
    hasPrices: () => file.hasContent,
    ready: file.polled,
    close: () => file.close(),
  };
}

/** One quote per second, however many accounts are marked with it. */
function quotesOfSecond(clock: Clock, hours: MarketHours): LocalMarket['quoteNow'] {
  let second = Number.NaN;
  const bySymbol = new Map<string, Quote | null>();
  return (symbol) => {
    const ms = clock.nowMs();
    if (Math.floor(ms / 1_000) !== second) bySymbol.clear();
    second = Math.floor(ms / 1_000);
    let quote = bySymbol.get(symbol);
    if (quote === undefined) {
      quote = embeddedQuote(symbol, ms, hours);
      // A caller's text may be no symbol.
      if (quote !== null) bySymbol.set(symbol, quote);
    }
    return quote;
  };
}

const recentDays = 40;
const maxSymbols = 1_000;

/** Looked up once a day for each symbol. */
function recentActions(clock: Clock): LocalMarket['actionsNow'] {
  let of: DayNumber | null = null;
  const bySymbol = new Map<string, CorporateAction[]>();
  return (symbol) => {
    const day = newYorkDay(clock.nowMs());
    if (of !== day || bySymbol.size >= maxSymbols) bySymbol.clear();
    of = day;
    let found = bySymbol.get(symbol);
    if (found === undefined) {
      found = embeddedActions(symbol, isoDate(day - recentDays), isoDate(day)) ?? [];
      bySymbol.set(symbol, found);
    }
    return found;
  };
}

function history(clock: Clock): Pick<LocalMarket, 'bars' | 'barsNow'> {
  const barsNow = (request: BarsRequest) => embeddedBars(request, clock.nowMs());
  return { barsNow, bars: async (request) => barsNow(request) };
}
