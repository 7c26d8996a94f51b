/**
 * Alpaca's market data API as a source, with the keys of one account's connection. Shapes are those of the vendor's OpenAPI (market data 1.1); of them only
 * the fields that are used are checked. Requests are not repeated here: a caller that needs a newer quote requests it.
 *
 * What differs from the vendor: bars are of regular sessions, hours begin at the session's opening and days of crypto at 00:00 UTC, so those are folded from
 * shorter ones; a quote's `last` is the middle of bid and ask, and its `volume` the sizes of both.
 */
import Type, { type Static, type TSchema } from 'typebox';
import Value from 'typebox/value';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { answerLimits, parseWithin } from '../../../json-bounds.ts';
import type { Outbound, OutboundResponse } from '../../../providers/outbound/port.ts';
import { fromNano, nanoOf, toNano } from '../decimal.ts';
import { maxBars } from './bars.ts';
import { isoDate, type MarketHours, msPerDay, newYorkDay, newYorkMidnightMs, parseDate, utcDay } from './calendar.ts';
import { type Bars, type BarsRequest, type CorporateAction, CredentialsRefused, type MarketSource } from './port.ts';
import { quoteOfSides, type Sides } from './quote-of-sides.ts';
import { type AssetClass, parseSymbol } from './symbol.ts';
import { barsOfVendor, type VendorBar } from './vendor-bars.ts';

export type AlpacaDataOptions = {
  outbound: Outbound;
  /** ALPACA_DATA_URL, or null for the vendor's own address. */
  url: string | null;
  credentials: { apiKey: string; apiSecret: string };
  /** The account of the requests (`OutboundRequest.account`). */
  account: string;
  /** The market's clock. */
  clock: Clock;
  hours: MarketHours;
  /** The timeout of one call. */
  timeoutMs: number;
  /** Most pages of one answer; more count as a fault of the vendor. Default 2,000. */
  maxPages?: number;
};

const vendorUrl = 'https://data.alpaca.markets';
const maxPageBytes = 8 * 1024 * 1024;
/** Half of what the vendor gives at most: such a page has 85,000 values and names, well below `answerLimits`, also with further fields. */
const barsOfPage = 5_000;
const defaultMaxPages = 2_000;
/** Actions are sorted by when they are processed, which may be long after the day they are effective. */
const processedWithinDays = 120;

const price = Type.Number({ minimum: 0, maximum: 1e12 });
const QuotePart = Type.Object({ t: Type.String(), ap: price, as: price, bp: price, bs: price });
const StockQuote = Type.Object({ quote: QuotePart });
const CryptoQuotes = Type.Object({ quotes: Type.Record(Type.String(), QuotePart) });
const Bar = Type.Object({ t: Type.String(), o: price, h: price, l: price, c: price, v: Type.Number({ minimum: 0 }) });
const BarsPage = Type.Object({
  bars: Type.Union([Type.Record(Type.String(), Type.Array(Bar, { maxItems: barsOfPage })), Type.Null()]),
  next_page_token: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]),
});
const Split = Type.Object({
  id: Type.String(),
  symbol: Type.String(),
  ex_date: Type.String(),
  new_rate: Type.Number(),
  old_rate: Type.Number(),
});
const Dividend = Type.Object({ id: Type.String(), symbol: Type.String(), ex_date: Type.String(), rate: Type.Number() });
const ActionsPage = Type.Object({
  corporate_actions: Type.Object({
    forward_splits: Type.Optional(Type.Array(Split)),
    reverse_splits: Type.Optional(Type.Array(Split)),
    cash_dividends: Type.Optional(Type.Array(Dividend)),
  }),
  next_page_token: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]),
});

export function createAlpacaData(options: AlpacaDataOptions): MarketSource {
  return {
    name: 'broker',
    async quote(symbol, signal) {
      const instrument = parseSymbol(symbol);
      if (instrument === null) return null;
      const found =
        instrument.assetClass === 'equity' ? await stockQuote(options, symbol, signal) : await cryptoQuote(options, symbol, signal);
      return found === null ? null : quoteOfSides(instrument, sidesOf(found), options);
    },
    async bars(request) {
      const instrument = parseSymbol(request.symbol);
      return instrument === null ? null : await bars(options, request, instrument.assetClass);
    },
    async actions(symbol, start, end) {
      const instrument = parseSymbol(symbol);
      if (instrument === null) return null;
      return instrument.assetClass === 'crypto' ? [] : await actions(options, symbol, start, end);
    },
  };
}

async function stockQuote(options: AlpacaDataOptions, symbol: string, signal?: AbortSignal) {
  const body = await get(options, `/v2/stocks/${symbol}/quotes/latest`, {}, StockQuote, signal);
  return body?.quote ?? null;
}

async function cryptoQuote(options: AlpacaDataOptions, symbol: string, signal?: AbortSignal) {
  const body = await get(options, '/v1beta3/crypto/us/latest/quotes', { symbols: vendorSymbol(symbol) }, CryptoQuotes, signal);
  return body === null ? null : (own(body.quotes, vendorSymbol(symbol)) ?? null);
}

function sidesOf({ ap, as, bp, bs, t }: Static<typeof QuotePart>): Sides {
  return { bid: bp, ask: ap, bidSize: bs, askSize: as, atMs: Date.parse(t) };
}

const minutesOf = { '1Min': 1, '5Min': 5, '1Hour': 60, '1Day': null } as const;
/** The interval requested from the vendor, and the one its bars are folded to. */
const timeframes: Readonly<Record<AssetClass, Readonly<Record<BarsRequest['timeframe'], keyof typeof minutesOf>>>> = {
  equity: { '1m': '1Min', '5m': '5Min', '1h': '5Min', '1d': '1Day' },
  crypto: { '1m': '1Min', '5m': '5Min', '1h': '1Hour', '1d': '1Hour' },
};

async function bars(options: AlpacaDataOptions, request: BarsRequest, assetClass: AssetClass): Promise<Bars | null> {
  const { symbol, timeframe, adjusted, signal } = request;
  const vendorTimeframe = timeframes[assetClass][timeframe];
  const end = parseDate(request.end);
  if (end === null || parseDate(request.start) === null) throw new RangeError(`${request.start} or ${request.end} is not a date`);
  const nowMs = options.clock.nowMs();
  const query: Record<string, string> = {
    symbols: assetClass === 'equity' ? symbol : vendorSymbol(symbol),
    timeframe: vendorTimeframe,
    start: request.start,
    limit: String(barsOfPage),
    // Without an end the vendor returns what the subscription allows; if the end is today it refuses subscriptions that may only see older
    // data.
    ...(end < utcDay(nowMs) ? { end: `${request.end}T23:59:59Z` } : {}),
    ...(assetClass === 'equity' ? { adjustment: adjusted ? 'split' : 'raw' } : {}),
  };
  const path = assetClass === 'equity' ? '/v2/stocks/bars' : '/v1beta3/crypto/us/bars';
  const found: Static<typeof Bar>[] = [];
  let pages = 0;
  for (let token: string | null = ''; token !== null; ) {
    if (++pages > (options.maxPages ?? defaultMaxPages)) throw unusable('pages without end');
    const page: Static<typeof BarsPage> | null = await get(
      options,
      path,
      token === '' ? query : { ...query, page_token: token },
      BarsPage,
      signal,
    );
    if (page === null) return null;
    for (const bar of own(page.bars ?? {}, query.symbols!) ?? []) found.push(bar);
    if (found.length > maxBars) throw new AppError('payload_too_large', `The period has more than ${maxBars} bars`);
    token = page.next_page_token;
  }
  const isDaily = vendorTimeframe === '1Day';
  return barsOfVendor(
    { minutes: minutesOf[vendorTimeframe], bars: found.map((bar) => vendorBar(bar, isDaily)) },
    { ...request, assetClass },
    nowMs,
  );
}

/** The vendor marks daily bars with midnight in New York; here they are marked with their date. */
function vendorBar({ t, o: open, h: high, l: low, c: close, v: volume }: Static<typeof Bar>, isDaily: boolean): VendorBar {
  const parsed = Date.parse(t);
  return { timeMs: isDaily ? newYorkDay(parsed) * msPerDay : parsed, open, high, low, close, volume };
}

async function actions(options: AlpacaDataOptions, symbol: string, start: string, end: string): Promise<CorporateAction[] | null> {
  const query = {
    symbols: symbol,
    types: 'forward_split,reverse_split,cash_dividend',
    start,
    end: isoDate((parseDate(end) ?? 0) + processedWithinDays),
    limit: '1000',
  };
  const found: CorporateAction[] = [];
  let pages = 0;
  for (let token: string | null = ''; token !== null; ) {
    if (++pages > (options.maxPages ?? defaultMaxPages)) throw unusable('pages without end');
    const page: Static<typeof ActionsPage> | null = await get(
      options,
      '/v1/corporate-actions',
      token === '' ? query : { ...query, page_token: token },
      ActionsPage,
    );
    if (page === null) return null;
    const { forward_splits = [], reverse_splits = [], cash_dividends = [] } = page.corporate_actions;
    for (const { id, new_rate, old_rate, ...each } of [...forward_splits, ...reverse_splits]) {
      if (!(new_rate > 0 && old_rate > 0)) throw unusable('a split without a ratio');
      found.push({ ...placeOf(id, each), type: 'split', ratio: new_rate / old_rate });
    }
    for (const { id, rate, ...each } of cash_dividends) {
      if (nanoOf(rate) === null) throw unusable('a dividend that is not a decimal number');
      found.push({ ...placeOf(id, each), type: 'dividend', amount: fromNano(toNano(rate)) });
    }
    token = page.next_page_token;
  }
  return found
    .filter((each) => each.symbol === symbol && each.date >= start && each.date <= end)
    .sort((a, b) => a.effectiveMs - b.effectiveMs);
}

function placeOf(id: string, { symbol, ex_date }: { symbol: string; ex_date: string }) {
  const day = parseDate(ex_date);
  if (day === null) throw unusable('an action without a date');
  return { id: `alpaca:${id}`, symbol, date: ex_date, effectiveMs: newYorkMidnightMs(day) };
}

/** null if the vendor does not know the symbol. */
async function get<S extends TSchema>(
  options: AlpacaDataOptions,
  path: string,
  query: Record<string, string>,
  schema: S,
  signal?: AbortSignal,
): Promise<Static<S> | null> {
  const search = new URLSearchParams(query).toString();
  const base = (options.url ?? vendorUrl).replace(/\/$/, '');
  const response = await options.outbound.fetch(`${base}${path}${search === '' ? '' : `?${search}`}`, {
    headers: {
      accept: 'application/json',
      'APCA-API-KEY-ID': options.credentials.apiKey,
      'APCA-API-SECRET-KEY': options.credentials.apiSecret,
    },
    account: options.account,
    configured: true,
    timeoutMs: options.timeoutMs,
    maxBytes: maxPageBytes,
    ...(signal === undefined ? {} : { signal }),
  });
  const { status } = response;
  if (status === 400 || status === 404 || status === 422) return null;
  if (status === 401 || status === 403) throw new CredentialsRefused(`Alpaca's market data API answered ${status}`);
  if (status !== 200 || response.truncated) throw noAnswer(response, options.clock);
  const body = parsed(response);
  if (!Value.Check(schema, body)) throw unusable('an answer of another form');
  return body;
}

function parsed({ body }: OutboundResponse): unknown {
  const value = parseWithin(body, answerLimits);
  if (value === undefined) throw unusable('an answer that is no JSON, or has too many values');
  return value;
}

/** The body's text is left out of the message: it is not for callers. */
function noAnswer({ status, truncated, headers }: OutboundResponse, clock: Clock): AppError {
  if (truncated) return unusable('an answer that is too large');
  const waitS = Math.ceil(Number(headers['x-ratelimit-reset']) - clock.nowMs() / 1000);
  const retryAfterS = status === 429 && waitS > 0 && waitS <= 120 ? { retryAfterS: waitS } : {};
  return new AppError('unavailable', `Alpaca's market data API answered ${status}`, retryAfterS);
}

function unusable(what: string): AppError {
  return new AppError('unavailable', `Alpaca's market data API gave ${what}`);
}

/** `BTC/USD` of `BTC-USD`. */
function vendorSymbol(symbol: string): string {
  return symbol.replace('-', '/');
}

function own<T>(record: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
