/** Whose prices an account is judged by: a file's, its broker's, or those of this service. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../../../../src/clock.ts';
import { type BrokerPricesParts, brokerPrices } from '../../../../../src/domains/trading/brokers/connection/broker-prices.ts';
import { openLocalMarket } from '../../../../../src/domains/trading/market/local-market.ts';
import { silentLog } from '../../../../../src/log.ts';
import { createOutbound } from '../../../../../src/providers/outbound/outbound.ts';
import { AlpacaDataServer } from '../../../../support/alpaca-data-server.ts';

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
  const none = await prices(t, { connections: { of: async () => [], credentialsOf } });
  const lost = await prices(t, { connections: { of: async () => [{ ...connected, status: 'error' }], credentialsOf } });
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
