/** Connections to brokers over HTTP: checked credentials, orders at brokers, and permissions. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runningEmbeddedPostgres } from '../../../../src/storage/embedded-postgres.ts';
import { AlpacaServer, alpacaKeys } from '../../../support/alpaca-server.ts';
import { CoinbaseServer, coinbaseKeys } from '../../../support/coinbase-server.ts';
import type { Json } from '../../../support/json.ts';
import { onBusiness } from '../../../support/on-business.ts';
import { Caller, startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

const alpaca = new AlpacaServer();
const coinbase = new CoinbaseServer();
await Promise.all([alpaca.start(), coinbase.start()]);
after(() => Promise.all([alpaca.stop(), coinbase.stop()]));
const timing = { BROKER_TIMEOUT_MS: '10000', BROKER_POLL_MS: '100', BROKER_RECONCILE_MS: '500', BROKER_LOOKUP_MS: '3000' };
// Nothing listens at Tradier's address.
const addresses = { ALPACA_API_URL: alpaca.url, COINBASE_API_URL: `${coinbase.url}/`, TRADIER_API_URL: 'http://127.0.0.1:1' };
const service = await startService({ after }, { ...timing, ...addresses });
await onBusiness((await runningEmbeddedPostgres(service.dataDir))!);
const own = await Caller.register(service);

const base = '/v1/trading/brokers';
const asAlpaca = { broker_name: 'alpaca', credentials: { api_key: alpacaKeys.apiKey, api_secret: alpacaKeys.apiSecret } };
const asCoinbase = { broker_name: 'coinbase', credentials: { api_key: coinbaseKeys.apiKey, api_secret: coinbaseKeys.apiSecret } };
const asTradier = { broker_name: 'tradier', credentials: { access_token: 'token', account_id: 'VA1' } };
const issueOf = async (answer: Response) => {
  const [issue] = ((await answer.json()) as Json).detail;
  return [answer.status, issue.loc.join('.'), issue.type];
};

test('a connection is created after a check of its credentials, does not show them, and gets fitting orders', async () => {
  const made = await own.json('POST', base, asAlpaca);
  const { id, connected_at, ...rest } = made;
  assert.match(id, /^brk_/);
  assert.ok(Date.parse(connected_at) > 0);
  const shown = {
    broker_name: 'alpaca',
    mode: 'paper',
    status: 'connected',
    error: null,
    paper_source: 'broker',
    halted: false,
    halt_reason: null,
  };
  assert.deepEqual(rest, shown);
  const listed = await own.json('GET', base);
  assert.deepEqual([listed.data, listed.total], [[made], 1]);
  assert.doesNotMatch(JSON.stringify(listed) + service.output(), new RegExp(alpacaKeys.apiSecret));
  const order = await own.json('POST', '/v1/trading/orders', { symbol: 'AAPL', side: 'buy', quantity: 3, order_type: 'market' });
  assert.deepEqual([order.broker_id, order.broker_name, order.mode], [id, 'alpaca', 'paper']);
  const now = () => own.json('GET', `/v1/trading/orders/${order.id}`);
  await until(async () => (await now()).status === 'accepted', 'the acceptance');
  assert.equal((await own.fetch('DELETE', `${base}/${id}`)).status, 409);
  const there = alpaca.orders.find(({ ourId }) => ourId === order.id)!;
  alpaca.fill(there, 3, 100);
  await until(async () => (await now()).status === 'filled', 'the fill');
  const { broker_order_id, filled_quantity, filled_avg_price } = await now();
  assert.deepEqual([broker_order_id, filled_quantity, filled_avg_price], [there.id, 3, 100]);
  const account = await own.json('GET', '/v1/trading/account');
  assert.deepEqual([account.broker_id, account.cash], [id, 100_000 - 300]);
  const elsewhere = { symbol: 'BTC-USD', side: 'buy', quantity: 0.1, order_type: 'market', broker_id: 'embedded' };
  assert.equal((await own.json('POST', '/v1/trading/orders', elsewhere)).broker_name, 'embedded');
});

test('the accepted orders of each broker, also the embedded one, are shown, and others are refused with the accepted values', async () => {
  const { id } = (await own.json('GET', base)).data[0];
  const shown = await own.json('GET', `${base}/${id}/capabilities`);
  assert.deepEqual([shown.broker_name, shown.mode, shown.asset_classes.equity.fractional], ['alpaca', 'paper', ['market']]);
  assert.deepEqual((await own.json('GET', `${base}/embedded/capabilities`)).asset_classes.crypto.order_types.stop, ['gtc', 'ioc']);
  const order = { symbol: 'BTC-USD', side: 'buy', quantity: 0.1, order_type: 'stop', stop_price: 1, broker_id: id };
  const refused = await own.fetch('POST', '/v1/trading/orders', order);
  assert.deepEqual(await issueOf(refused), [422, 'body.order_type', 'order_not_supported_by_broker']);
});

test('refused credentials are 422 and create nothing; if the broker does not answer, the connection is created with its error', async () => {
  const wrong = { ...asAlpaca, credentials: { api_key: 'other', api_secret: 'key' } };
  assert.deepEqual(await issueOf(await own.fetch('POST', base, wrong)), [422, 'body.credentials', 'credentials_refused']);
  const lacking = { ...asAlpaca, credentials: { api_key: 'other' } };
  assert.deepEqual(await issueOf(await own.fetch('POST', base, lacking)), [422, 'body.credentials.api_secret', 'missing']);
  for (const [broker_name, field, credentials] of [
    ['alpaca', 'api_key', { api_key: 'PK\r\nhost: x', api_secret: 'key' }],
    ['alpaca', 'api_secret', { api_key: 'PK', api_secret: 'ключ' }],
    ['tradier', 'access_token', { access_token: 'token\n', account_id: 'VA1' }],
    ['tradier', 'account_id', { access_token: 'token', account_id: '..' }],
  ] as const) {
    const unsendable = await own.fetch('POST', base, { broker_name, credentials });
    assert.deepEqual(await issueOf(unsendable), [422, `body.credentials.${field}`, 'value_error']);
  }
  const other = await Caller.register(service);
  const made = await other.json('POST', base, asTradier);
  assert.deepEqual([made.status, typeof made.error], ['error', 'string']);
  const order = { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'market' };
  assert.equal((await other.fetch('POST', '/v1/trading/orders', { ...order, broker_id: made.id })).status, 409);
  assert.equal((await other.json('POST', '/v1/trading/orders', order)).broker_name, 'embedded');
  assert.equal((await other.fetch('DELETE', `${base}/${made.id}`)).status, 204);
  assert.equal((await other.fetch('DELETE', `${base}/${made.id}`)).status, 404);
  assert.equal((await other.json('GET', base)).total, 0);
});

test('real money needs the setting, and paper orders of a broker without a paper venue stay here', async () => {
  const trader = await Caller.register(service);
  assert.deepEqual(await issueOf(await trader.fetch('POST', base, { ...asCoinbase, mode: 'live' })), [422, 'body.mode', 'value_error']);
  const paper = await trader.json('POST', base, asCoinbase);
  assert.deepEqual([paper.mode, paper.paper_source, paper.status], ['paper', 'embedded', 'connected']);
  const order = { symbol: 'BTC-USD', side: 'buy', quantity: 0.01, order_type: 'market' };
  const here = await trader.json('POST', '/v1/trading/orders', order);
  assert.deepEqual([here.broker_id, here.broker_name], [paper.id, 'coinbase']);
  // The plan of a new account is changed from outside, a moment after it is made.
  await until(async () => (await trader.fetch('PATCH', '/v1/settings', { live_trading_enabled: true })).status === 200, 'the plan');
  const live = await trader.json('POST', base, { ...asCoinbase, mode: 'live' });
  assert.equal(live.mode, 'live');
  const real = await trader.json('POST', '/v1/trading/orders', { ...order, mode: 'live' });
  assert.deepEqual([real.broker_id, real.mode], [live.id, 'live']);
  await until(() => coinbase.orders.length === 1, 'the order at Coinbase');
  assert.equal(coinbase.orders[0]!.ourId, real.id);
  assert.equal(coinbase.posts.length, 1);
});

test('test keys connect no broker and trade at the embedded one; connections of other accounts and of the other mode are 404', async () => {
  const trial = await own.program('test', ['trading.read', 'trading.write']);
  for (const mode of ['paper', 'live']) assert.equal((await trial.fetch('POST', base, { ...asAlpaca, mode })).status, 403);
  const order = await trial.json('POST', '/v1/trading/orders', { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'market' });
  assert.deepEqual([order.broker_name, order.mode], ['embedded', 'test']);
  const { id } = (await own.json('GET', base)).data[0];
  const other = await Caller.register(service);
  for (const [caller, wrong] of [
    [trial, id],
    [other, id],
  ] as const) {
    assert.equal((await caller.fetch('GET', `${base}/${wrong}/capabilities`)).status, 404);
    assert.equal((await caller.fetch('DELETE', `${base}/${wrong}`)).status, 404);
  }
});

test('requests with the same Idempotency-Key create one connection', async () => {
  const caller = await Caller.register(service);
  const key = { 'idempotency-key': 'one connection' };
  const [first, again] = [await caller.json('POST', base, asAlpaca, key), await caller.json('POST', base, asAlpaca, key)];
  assert.deepEqual(again, first);
  assert.equal((await caller.json('GET', base)).total, 1);
});

test('the same broker account connected again is the same connection with the new credentials, which is answered with 200', async () => {
  const caller = await Caller.register(service);
  const made = await caller.json('POST', base, asAlpaca);
  const answer = await caller.fetch('POST', base, asAlpaca);
  assert.deepEqual([answer.status, await answer.json()], [200, made]);
  const key = { 'idempotency-key': 'new credentials' };
  assert.deepEqual(await caller.json('POST', base, asAlpaca, key), made);
  assert.deepEqual(await caller.json('POST', base, asAlpaca, key), made);
  assert.equal((await caller.json('GET', base)).total, 1);
});

test('after a kill and restart the service reads the events of its brokers from the time between', async () => {
  const placed = await own.json('POST', '/v1/trading/orders', { symbol: 'AAPL', side: 'buy', quantity: 2, order_type: 'market' });
  const now = () => own.json('GET', `/v1/trading/orders/${placed.id}`);
  await until(async () => (await now()).status === 'accepted', 'the acceptance');
  await service.kill();
  alpaca.fill(alpaca.orders.find(({ ourId }) => ourId === placed.id)!, 2, 100);
  await service.restart();
  await until(async () => (await now()).status === 'filled', 'the fill');
  const { data } = await own.json('GET', '/v1/trading/positions');
  assert.deepEqual(
    data.filter(({ broker_id }: Json) => broker_id === placed.broker_id).map(({ symbol, quantity }: Json) => [symbol, quantity]),
    [['AAPL', 5]],
  );
});

test('a connection whose credentials are refused is removed with its open orders, which the events report', async () => {
  const caller = await Caller.register(service);
  const made = await caller.json('POST', base, asAlpaca);
  const order = await caller.json('POST', '/v1/trading/orders', { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'market' });
  const now = () => caller.json('GET', `/v1/trading/orders/${order.id}`);
  await until(async () => (await now()).status === 'accepted', 'the acceptance');
  alpaca.locked = true;
  await until(async () => (await caller.json('GET', base)).data[0].status === 'error', 'the error');
  assert.equal((await caller.fetch('DELETE', `${base}/${made.id}`)).status, 204);
  alpaca.locked = false;
  const { status, unknown_outcome, reject_reason } = await now();
  assert.deepEqual([status, unknown_outcome], ['cancelled', true]);
  assert.match(reject_reason, /removed/);
  assert.equal((await caller.json('GET', base)).total, 0);
});
