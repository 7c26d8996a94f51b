/** Whose prices an account is judged by: a file's, its broker's, or those of this service. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../../../../src/clock.ts';
import { type BrokerPricesParts, brokerPrices } from '../../../../../src/domains/trading/brokers/connection/broker-prices.ts';
import { openBroker, type VenueCredentials } from '../../../../../src/domains/trading/brokers/open-broker.ts';
import { openLocalMarket } from '../../../../../src/domains/trading/market/local-market.ts';
import { silentLog } from '../../../../../src/log.ts';
import { createOutbound } from '../../../../../src/providers/outbound/outbound.ts';
import { AlpacaDataServer } from '../../../../support/alpaca-data-server.ts';
import { CoinbaseServer, coinbaseKeys } from '../../../../support/coinbase-server.ts';
import { TradierServer, tradierKeys } from '../../../../support/tradier-server.ts';

const owner = { accountId: 'acct_1', mode: 'live' as const };
const connected = { id: 'brk_1', brokerName: 'alpaca', mode: 'paper', filledBy: 'broker', status: 'connected', halted: false } as const;

async function prices(t: TestContext, other: Partial<BrokerPricesParts> = {}, apiKey = 'PKTEST') {
  const server = await AlpacaDataServer.start();
  const outbound = createOutbound({ allow: [] });
  const market = openLocalMarket({ settings: { marketDataFile: null, marketHours: null }, log: silentLog });
  t.after(() => Promise.all([server.close(), outbound.close(), market.close()]));
  server.quotes.set('AAPL', { ap: 172.7, as: 1, bp: 172.6, bs: 2, t: new Date(systemClock.nowMs()).toISOString() });
  const connections: BrokerPricesParts['connections'] = {
    of: async () => [connected],
    credentialsOf: async () => ({ venue: 'alpaca', apiKey, apiSecret: 'secret' }),
    quote: async () => ({ kind: 'no_data' }),
  };
  const data = { outbound, url: server.url, clock: systemClock, hours: 'exchange' as const, timeoutMs: 5_000 };
  return { server, ...brokerPrices({ market, connections, data, hasData: true, ...other }) };
}

test("an account with a broker that has data is judged by the broker's prices, asked for once a second", async (t) => {
  const { server, quoteOf } = await prices(t);
  const asked = await Promise.all([quoteOf(owner, 'AAPL'), quoteOf(owner, 'AAPL')]);
  assert.deepEqual(
    asked.map((quote) => [quote?.source, quote?.bid, quote?.ask]),
    [
      ['broker', 172.6, 172.7],
      ['broker', 172.6, 172.7],
    ],
  );
  assert.ok(server.requests.length <= 2);
  await quoteOf(owner, 'AAPL');
  assert.ok(server.requests.length <= 2);
  assert.equal(await quoteOf(owner, 'NOSUCH'), null);
});

test('without a connected broker, or where its data is nowhere to be had, prices are those of this service', async (t) => {
  const credentialsOf = async () => null;
  const quote = async () => ({ kind: 'no_data' }) as const;
  const none = await prices(t, { connections: { of: async () => [], credentialsOf, quote } });
  const lost = await prices(t, { connections: { of: async () => [{ ...connected, status: 'error' }], credentialsOf, quote } });
  const without = await prices(t, { hasData: false });
  for (const { quoteOf, server } of [none, lost, without]) {
    assert.equal((await quoteOf(owner, 'AAPL'))?.source, 'embedded');
    assert.equal(server.requests.length, 0);
  }
});

test('a broker that gives no prices now makes none up, and is asked again', async (t) => {
  const { server, quoteOf } = await prices(t);
  server.failures = ['reset'];
  await assert.rejects(quoteOf(owner, 'AAPL'), { code: 'unavailable' });
  assert.equal((await quoteOf(owner, 'AAPL'))?.source, 'broker');
  const refused = await prices(t, {}, 'another key');
  await assert.rejects(refused.quoteOf(owner, 'AAPL'), { code: 'unavailable' });
});

/** Connections to stand-ins of these two, the newest first; Alpaca has no data. */
async function twoBrokers(t: TestContext) {
  const [tradier, coinbase] = [await new TradierServer().start(), await new CoinbaseServer().start()];
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  t.after(() => Promise.all([tradier.stop(), coinbase.stop(), outbound.close()]));
  const addresses = { alpacaApiUrl: null, tradierApiUrl: tradier.url, coinbaseApiUrl: coinbase.url };
  const open = (credentials: VenueCredentials) =>
    openBroker(credentials, 'live', 'acct_1', { outbound, clock: systemClock, addresses, timeoutMs: 5_000 });
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
    },
  });
  return { ...found, tradier, coinbase };
}

test('each class is judged by the newest broker that trades it: Tradier’s quotes for equities, the first places of Coinbase’s book for coins', async (t) => {
  const { quoteOf, tradier, coinbase } = await twoBrokers(t);
  const atMs = systemClock.nowMs();
  tradier.quotes = new Map([
    ['AAPL', { bid: 172.6, ask: 172.7, bidsize: 2, asksize: 1, bid_date: atMs - 900, ask_date: atMs, last: 172.65 }],
    ['BRK/B', { bid: 480.1, ask: 0, bidsize: 3, asksize: 0, bid_date: atMs, ask_date: 0, last: 480 }],
  ]);
  coinbase.books = new Map([['BTC-USD', { bid: ['68923.66', '0.17189468'], ask: ['68923.67', '0.16987193'], atMs }]]);
  const told = async (symbol: string) => {
    const { source, bid, ask, last, volume, atMs: at } = (await quoteOf(owner, symbol))!;
    return [source, bid, ask, last, volume, at];
  };
  assert.deepEqual(await told('AAPL'), ['broker', 172.6, 172.7, 172.65, 3, atMs]);
  assert.deepEqual(await told('BRK.B'), ['broker', 480.1, 480.1, 480.1, 0, atMs], 'nothing trades against a side that nobody offers');
  assert.deepEqual(await told('BTC-USD'), ['broker', 68923.66, 68923.67, 68923.66, 0.34176661, atMs]);
  assert.equal(await quoteOf(owner, 'NOSUCH'), null);
});

test('a server that stands for orders alone has no prices, and one that is dark or answers nonsense makes none up', async (t) => {
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

test("the history of a broker's prices is the broker's; where prices are this service's, so is their history", async (t) => {
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
  const { tradier, barsOf: barsOfTradier } = await twoBrokers(t);
  assert.equal(await barsOfTradier!(owner, request), 'own', 'it has no prices either');
  tradier.quotes = new Map();
  assert.equal(await barsOfTradier!(owner, { ...request, symbol: 'KO' }), null);
});
