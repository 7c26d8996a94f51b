/** Which prices the risk checks of an account use: those of a file, of its broker, or of this service. */
import assert from 'node:assert/strict';
import test, { beforeEach, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../../../src/clock.ts';
import { type BrokerPricesParts, brokerPrices } from '../../../../../src/domains/trading/brokers/connection/broker-prices.ts';
import { openBroker, type VenueCredentials } from '../../../../../src/domains/trading/brokers/open-broker.ts';
import { barRows } from '../../../../../src/domains/trading/market/bars.ts';
import { isoDate, previousSession, utcDay } from '../../../../../src/domains/trading/market/calendar.ts';
import { openLocalMarket } from '../../../../../src/domains/trading/market/local-market.ts';
import type { Bars } from '../../../../../src/domains/trading/market/port.ts';
import { noLog } from '../../../../../src/log.ts';
import { createOutbound } from '../../../../../src/providers/outbound/outbound.ts';
import { AlpacaDataServer } from '../../../../support/alpaca-data-server.ts';
import { CoinbaseServer, coinbaseKeys } from '../../../../support/coinbase-server.ts';
import { TradierServer, tradierKeys } from '../../../../support/tradier-server.ts';

let startedAtMs = 0;
/** It stands still: no hour or day ends during a test. Not read at the import, which may be many minutes earlier: tokens expire by the real clock. */
const clock: Clock = { nowMs: () => startedAtMs };
const owner = { accountId: 'acct_1', mode: 'live' as const };
const connected = { id: 'brk_1', brokerName: 'alpaca', mode: 'paper', filledBy: 'broker', status: 'connected', halted: false } as const;

beforeEach(() => {
  startedAtMs = systemClock.nowMs();
});

async function prices(t: TestContext, other: Partial<BrokerPricesParts> = {}, apiKey = 'PKTEST') {
  const server = await AlpacaDataServer.start();
  const outbound = createOutbound({ allow: [] });
  const market = openLocalMarket({ settings: { marketDataFile: null, marketHours: null }, log: noLog });
  t.after(() => Promise.all([server.close(), outbound.close(), market.close()]));
  server.quotes.set('AAPL', { ap: 172.7, as: 1, bp: 172.6, bs: 2, t: new Date(clock.nowMs()).toISOString() });
  const connections: BrokerPricesParts['connections'] = {
    of: async () => [connected],
    credentialsOf: async () => ({ venue: 'alpaca', apiKey, apiSecret: 'secret' }),
    quote: async () => ({ kind: 'no_data' }),
    bars: async () => ({ kind: 'known', value: null }),
  };
  const data = { outbound, url: server.url, clock: clock, hours: 'exchange' as const, timeoutMs: 5_000 };
  return { server, ...brokerPrices({ market, connections, data, hasData: true, ...other }) };
}

test("an account whose broker has market data uses the broker's prices, queried once a second", async (t) => {
  const { server, quoteOf } = await prices(t);
  let nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  const asked = await Promise.all([quoteOf(owner, 'AAPL'), quoteOf(owner, 'AAPL')]);
  assert.deepEqual(
    asked.map((quote) => [quote?.source, quote?.bid, quote?.ask]),
    [
      ['broker', 172.6, 172.7],
      ['broker', 172.6, 172.7],
    ],
  );
  assert.ok(server.requests.length <= 2);
  /** What is kept in memory reads the clock at most once a millisecond. */
  const pass = async (ms: number) => {
    nowMs += ms;
    await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await pass(999);
  await quoteOf(owner, 'AAPL');
  const inTheFirstSecond = server.requests.length;
  assert.ok(inTheFirstSecond <= 2);
  await pass(2);
  await quoteOf(owner, 'AAPL');
  assert.ok(server.requests.length > inTheFirstSecond);
  assert.equal(await quoteOf(owner, 'NOSUCH'), null);
});

test('without a connected broker, or without its market data, prices are those of this service', async (t) => {
  const credentialsOf = async () => null;
  const quote = async () => ({ kind: 'no_data' }) as const;
  const bars = async () => ({ kind: 'known', value: null }) as const;
  const none = await prices(t, { connections: { of: async () => [], credentialsOf, quote, bars } });
  const lost = await prices(t, { connections: { of: async () => [{ ...connected, status: 'error' }], credentialsOf, quote, bars } });
  const without = await prices(t, { hasData: false });
  for (const { quoteOf, server } of [none, lost, without]) {
    assert.equal((await quoteOf(owner, 'AAPL'))?.source, 'embedded');
    assert.equal(server.requests.length, 0);
  }
});

test('if a broker temporarily has no prices, no price is invented, and it is queried again', async (t) => {
  const { server, quoteOf } = await prices(t);
  server.failures = ['reset'];
  await assert.rejects(quoteOf(owner, 'AAPL'), { code: 'unavailable' });
  assert.equal((await quoteOf(owner, 'AAPL'))?.source, 'broker');
  const refused = await prices(t, {}, 'another key');
  await assert.rejects(refused.quoteOf(owner, 'AAPL'), { code: 'unavailable' });
});

/** Connections to test servers of these two, the newest first; Alpaca has no data. */
async function twoBrokers(t: TestContext) {
  const [tradier, coinbase] = [await new TradierServer().start(), await new CoinbaseServer().start()];
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  t.after(() => Promise.all([tradier.stop(), coinbase.stop(), outbound.close()]));
  const addresses = { alpacaApiUrl: null, tradierApiUrl: tradier.url, coinbaseApiUrl: coinbase.url };
  const open = (credentials: VenueCredentials) =>
    openBroker(credentials, 'live', 'acct_1', { outbound, clock: clock, addresses, timeoutMs: 5_000 });
  const brokers = {
    brk_coinbase: open({ venue: 'coinbase', ...coinbaseKeys }),
    brk_tradier: open({ venue: 'tradier', ...tradierKeys }),
  };
  const of = Object.entries(brokers).map(([id, { venue }]) => ({ ...connected, id, brokerName: venue, mode: 'live' as const }));
  const found = await prices(t, {
    hasData: false,
    connections: {
      of: async () => of,
      credentialsOf: async () => null,
      quote: (id, symbol) => brokers[id as keyof typeof brokers].quote!(symbol),
      bars: (id, request) => brokers[id as keyof typeof brokers].bars!(request),
    },
  });
  return { ...found, tradier, coinbase };
}

test('each class uses the newest broker that trades it: Tradier’s quotes for equities, the top of Coinbase’s book for coins', async (t) => {
  const { quoteOf, tradier, coinbase } = await twoBrokers(t);
  const atMs = clock.nowMs();
  tradier.quotes = new Map([
    ['AAPL', { bid: 172.6, ask: 172.7, bidsize: 2, asksize: 1, bid_date: atMs - 900, ask_date: atMs, last: 172.65 }],
    ['BRK/B', { bid: 480.1, ask: 0, bidsize: 3, asksize: 0, bid_date: atMs, ask_date: 0, last: 480 }],
  ]);
  coinbase.books = new Map([['BTC-USD', { bid: ['68923.66', '0.17189468'], ask: ['68923.67', '0.16987193'], atMs }]]);
  const shownQuote = async (symbol: string) => {
    const { source, bid, ask, last, volume, atMs: at } = (await quoteOf(owner, symbol))!;
    return [source, bid, ask, last, volume, at];
  };
  assert.deepEqual(await shownQuote('AAPL'), ['broker', 172.6, 172.7, 172.65, 3, atMs]);
  assert.deepEqual(await shownQuote('BRK.B'), ['broker', 480.1, 480.1, 480.1, 0, atMs], 'nothing trades against a side that nobody offers');
  assert.deepEqual(await shownQuote('BTC-USD'), ['broker', 68923.66, 68923.67, 68923.66, 0.34176661, atMs]);
  assert.equal(await quoteOf(owner, 'NOSUCH'), null);
});

test('a named broker prices its orders and decides which symbols it has; otherwise the next broker that knows the symbol is used', async (t) => {
  const answered: string[] = [];
  let status: 'connected' | 'error' = 'connected';
  const sides = { bid: 10, ask: 11, bidSize: 1, askSize: 1, atMs: clock.nowMs() };
  const known: Record<string, string[]> = { brk_new: ['BTC-USD'], brk_old: ['BTC-USD', 'X01-USD'] };
  const connections: BrokerPricesParts['connections'] = {
    of: async () => ['brk_new', 'brk_old'].map((id) => ({ ...connected, id, brokerName: 'coinbase', ...(id === 'brk_old' && { status }) })),
    credentialsOf: async () => null,
    quote: async (id, symbol) => {
      answered.push(`${id} ${symbol}`);
      return { kind: 'known', value: known[id]!.includes(symbol) ? sides : null };
    },
    bars: async (id) => {
      answered.push(`${id} bars`);
      return { kind: 'known', value: { minutes: 60, bars: [] } };
    },
  };
  const { quoteOf, barsOf } = await prices(t, { connections });
  const askedFor = async (symbol: string, brokerKey?: string) => {
    answered.length = 0;
    const quote = await quoteOf(owner, symbol, brokerKey);
    return [quote?.bid ?? null, ...answered];
  };
  assert.deepEqual(await askedFor('X01-USD'), [10, 'brk_new X01-USD', 'brk_old X01-USD']);
  assert.deepEqual(await askedFor('BTC-USD', 'brk_old'), [10, 'brk_old BTC-USD']);
  assert.deepEqual(await askedFor('BTC-USD', 'embedded'), [10, 'brk_new BTC-USD']);
  assert.deepEqual(await askedFor('Y01-USD', 'brk_new'), [null, 'brk_new Y01-USD'], 'its own market is not asked');
  assert.deepEqual(await askedFor('Z01-USD'), [null, 'brk_new Z01-USD', 'brk_old Z01-USD']);
  const barsFrom = async (symbol: string, brokerKey?: string) => {
    const request = { symbol, timeframe: '1h', start: '2026-10-05', end: '2026-10-06', adjusted: true } as const;
    answered.length = 0;
    const bars = await barsOf!(owner, request, brokerKey);
    return [bars !== null && bars !== 'own', answered.at(-1)];
  };
  assert.deepEqual(await barsFrom('X01-USD'), [true, 'brk_old bars'], 'the history of the price that is shown');
  assert.deepEqual(await barsFrom('BTC-USD', 'brk_old'), [true, 'brk_old bars']);
  assert.deepEqual(await barsFrom('W01-USD', 'brk_new'), [false, 'brk_new W01-USD']);
  status = 'error';
  await assert.rejects(barsFrom('BTC-USD', 'brk_old'), { code: 'unavailable' }, 'another broker has other prices');
});

test('a server for orders only has no prices; an unreachable server or an invalid answer leads to no invented price', async (t) => {
  const { quoteOf, tradier, coinbase } = await twoBrokers(t);
  assert.deepEqual([(await quoteOf(owner, 'AAPL'))?.source, (await quoteOf(owner, 'BTC-USD'))?.source], ['embedded', 'embedded']);
  tradier.quotes = new Map([
    ['KO', { bid: null, ask: null, bid_date: null, ask_date: null }],
    ['MSFT', { bid: -1, ask: 'many' }],
  ]);
  for (const symbol of ['KO', 'MSFT']) await assert.rejects(quoteOf(owner, symbol), { code: 'unavailable' });
  coinbase.dark = true;
  await assert.rejects(quoteOf(owner, 'ETH-USD'), { code: 'unavailable' });
});

test('the history of a price has the same source as the price: the broker or this service', async (t) => {
  const { server, barsOf } = await prices(t);
  const request = { symbol: 'AAPL', timeframe: '1d', start: '2026-01-05', end: '2026-01-09', adjusted: true } as const;
  server.bars.set('AAPL 1Day', [
    { t: '2026-01-05T05:00:00Z', o: 10, h: 12, l: 9, c: 11, v: 5 },
    { t: '2026-01-06T05:00:00Z', o: 11, h: 13, l: 10, c: 12, v: 5 },
  ]);
  const found = await barsOf!(owner, request);
  assert.ok(found !== null && found !== 'own');
  assert.deepEqual([[...found.bars.close], found.source], [[11, 12], 'broker']);
  assert.equal(await (await prices(t, { hasData: false })).barsOf!(owner, request), 'own');
  const { barsOf: barsOfTradier } = await twoBrokers(t);
  assert.equal(await barsOfTradier!(owner, request), 'own', 'it has no prices either');
});

const quoted = () => ({ bid: 60, ask: 60.1, bidsize: 1, asksize: 1, bid_date: clock.nowMs(), ask_date: clock.nowMs() });
const dateOf = (ms: number) => isoDate(utcDay(ms));
const shown = (bars: Bars | 'own' | null) => {
  assert.ok(bars !== null && bars !== 'own');
  return barRows(bars).map(({ date, open, high, low, close, volume }) => [date, open, high, low, close, volume]);
};

test("Tradier's bars: days by their date, shorter ones of regular sessions, hours of quarters, none from before what it keeps", async (t) => {
  const { tradier, barsOf } = await twoBrokers(t);
  tradier.quotes = new Map([['BRK/B', quoted()]]);
  const nowMs = clock.nowMs();
  const { openMs, day } = previousSession(nowMs);
  const date = isoDate(day);
  const request = { symbol: 'BRK.B', timeframe: '1d', start: date, end: date, adjusted: true } as const;
  assert.deepEqual(shown(await barsOf!(owner, request)), [], 'the venue lists nothing');
  // One is an object there, and several are a list.
  tradier.days.set('BRK/B', [{ date, open: 480.1, high: 485, low: 479.25, close: 483, volume: 3_400_000 }]);
  assert.deepEqual(shown(await barsOf!(owner, request)), [[date, 480.1, 485, 479.25, 483, 3_400_000]]);
  const quarter = (n: number, price: number) => {
    const timestamp = openMs / 1_000 + n * 900;
    return {
      time: 'New York',
      timestamp,
      price,
      open: price,
      high: price + 1,
      low: price - 1,
      close: price + 0.5,
      volume: 100,
      vwap: price,
    };
  };
  tradier.slices.set('BRK/B 15min', [quarter(-1, 470), ...[0, 1, 2, 3, 4].map((n) => quarter(n, 480 + n))]);
  const hour = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}:00Z`;
  assert.deepEqual(shown(await barsOf!(owner, { ...request, timeframe: '1h' })), [
    [hour(openMs), 480, 484, 479, 483.5, 400],
    [hour(openMs + 3_600_000), 484, 485, 483, 484.5, 100],
  ]);
  const tooFarBack = { ...request, start: dateOf(nowMs - 20 * 86_400_000) };
  assert.equal(await barsOf!(owner, { ...tooFarBack, timeframe: '1m' }), null);
  assert.deepEqual(shown(await barsOf!(owner, { ...tooFarBack, timeframe: '5m' })), []);
  tradier.slices.set('BRK/B 5min', [quarter(1, 480), quarter(0, 480)]);
  await assert.rejects(barsOf!(owner, { ...request, timeframe: '5m' }), { code: 'unavailable' }, 'in no order');
  assert.equal(await barsOf!(owner, { ...request, symbol: 'NOSUCH' }), null);
});

test("Coinbase's candles: page by page in the order of time, complete ones alone, none from further back than a decision can read", async (t) => {
  const { coinbase, barsOf } = await twoBrokers(t);
  const nowMs = clock.nowMs();
  coinbase.books = new Map([['BTC-USD', { bid: ['60000', '1'], ask: ['60001', '1'], atMs: nowMs }]]);
  const hourS = Math.floor(nowMs / 3_600_000) * 3_600;
  // The last one is not over yet, and one hour had no trade.
  const hours = Array.from({ length: 701 }, (_, n) => hourS - n * 3_600)
    .reverse()
    .filter((_, n) => n !== 600);
  const candle = (start: number) => ({ start: String(start), open: '10.5', high: '12', low: '9.125', close: '11', volume: '0.25000001' });
  coinbase.candles.set('BTC-USD ONE_HOUR', hours.map(candle));
  const request = { symbol: 'BTC-USD', timeframe: '1h', start: dateOf(hours[0]! * 1_000), end: dateOf(nowMs), adjusted: true } as const;
  const found = await barsOf!(owner, request);
  assert.deepEqual(
    shown(found).map(([date]) => Date.parse(String(date)) / 1_000),
    hours.slice(0, -1),
  );
  assert.deepEqual(shown(found)[0]!.slice(1), [10.5, 12, 9.125, 11, 0.25000001]);
  assert.equal(coinbase.requests.filter(({ path }) => path.endsWith('/candles')).length, 3);
  assert.equal(await barsOf!(owner, { ...request, timeframe: '1m', start: dateOf(nowMs - 22 * 86_400_000) }), null);
  coinbase.dark = true;
  await assert.rejects(barsOf!(owner, request), { code: 'unavailable' });
});
