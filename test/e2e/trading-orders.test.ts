/** Orders of the real service with a market that the test controls: fills with their time and price, and answers to callers. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Json } from '../support/json.ts';
import { quote, refusalOf, startTradingService, type Trader, type TradingSite } from '../support/market-data.ts';
import { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';

const ends: (() => unknown)[] = [];
let site: TradingSite;
let show: TradingSite['show'];
before(async () => {
  site = await startTradingService({ after: (end) => ends.push(end) }, { AAPL: quote(100), 'BTC-USD': quote(50_000) });
  show = site.show;
});
after(async () => {
  for (const end of ends) await end();
});

const aapl = { symbol: 'AAPL', quantity: 10 };
const limitAt = (limit_price: number, more: object = {}) => ({ ...aapl, order_type: 'limit', limit_price, ...more });
const stopAt = (stop_price: number, more: object = {}) => ({ ...aapl, order_type: 'stop', stop_price, ...more });

/** The order's events, in order, with the quantity and price of fills. */
async function eventsOf(trader: Trader, orderId: string): Promise<unknown[]> {
  const events = (await trader.caller.events()).filter(({ type, data }) => type.startsWith('trade.') && data.order_id === orderId);
  return events.map(({ type, data: { fill } }) => (fill === undefined ? type : [type, fill.quantity, fill.price, fill.position_quantity]));
}

test('a market order fills at the next quote, a buy at the ask and a sell at the bid', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const placed = await ann.place(aapl);
  const { id, created_at, updated_at, ...rest } = placed;
  assert.match(id, /^ord_[0-9a-z]{26}$/);
  assert.ok(created_at <= updated_at);
  assert.deepEqual(rest, {
    client_order_id: null,
    broker_id: 'embedded',
    broker_name: 'embedded',
    broker_order_id: rest.broker_order_id,
    symbol: 'AAPL',
    asset_class: 'equity',
    side: 'buy',
    quantity: 10,
    filled_quantity: 0,
    remaining_quantity: 10,
    order_type: 'market',
    limit_price: null,
    stop_price: null,
    time_in_force: 'day',
    status: 'submitted',
    filled_avg_price: null,
    reject_reason: null,
    cancel_requested_at: null,
    replaced_by: null,
    replaces: null,
    unknown_outcome: false,
    external: false,
    held: false,
    parent_id: null,
    managed_by: null,
    mode: 'paper',
  });
  assert.equal((await ann.order(id)).status, 'accepted');
  await show({ AAPL: quote(101) });
  const filled = await ann.until(id, 'filled');
  assert.deepEqual([filled.filled_avg_price, filled.filled_quantity, filled.remaining_quantity], [101.01, 10, 0]);
  const [{ id: fillId, at, broker_fill_id, ...fill }] = (await ann.fills(id)) as [Json];
  assert.match(fillId, /^fil_/);
  assert.deepEqual(fill, { order_id: id, symbol: 'AAPL', side: 'buy', quantity: 10, price: 101.01, commission: 0 });
  assert.ok(at.startsWith('2026-11-20T15:'), 'by the market’s clock');
  const { id: positionId, at: priceAt, ...position } = await ann.position('AAPL');
  assert.match(positionId, /^pos_[0-9a-z]{26}$/);
  assert.deepEqual(position, {
    broker_id: 'embedded',
    broker_name: 'embedded',
    symbol: 'AAPL',
    asset_class: 'equity',
    side: 'long',
    quantity: 10,
    avg_entry_price: 101.01,
    current_price: 100.99,
    unrealized_pnl: -0.2,
    market_value: 1_009.9,
    external: false,
    mode: 'paper',
  });
  const { cash, equity, day_pnl } = await ann.account();
  assert.deepEqual([cash, equity, day_pnl], [98_989.9, 99_999.8, -0.2]);
  assert.deepEqual(await eventsOf(ann, id), ['trade.submitted', 'trade.accepted', ['trade.filled', 10, 101.01, 10]]);

  const sale = await ann.place({ ...aapl, side: 'sell', quantity: 4 });
  await show({ AAPL: quote(102) });
  assert.equal((await ann.until(sale.id, 'filled')).filled_avg_price, 101.99);
  const left = await ann.position('AAPL');
  assert.deepEqual([left.id, left.quantity, left.avg_entry_price, left.unrealized_pnl], [positionId, 6, 101.01, 5.88]);
  assert.deepEqual((await eventsOf(ann, sale.id)).at(-1), ['trade.filled', 4, 101.99, 6]);
});

test('a limit order fills when the other side is at its price or better, at that side’s price', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const buy = await ann.place(limitAt(99.5));
  const lower = await ann.place(limitAt(95));
  await site.meet(ann, { AAPL: quote(99.5) });
  const later = await ann.place(limitAt(94.99));
  assert.equal((await ann.order(buy.id)).status, 'accepted', 'the ask is a cent above it');
  await site.meet(ann, { AAPL: quote(99.49) });
  assert.equal((await ann.until(buy.id, 'filled')).filled_avg_price, 99.5);
  const sell = await ann.place(limitAt(101, { side: 'sell' }));
  await site.meet(ann, { AAPL: quote(94.99) });
  assert.equal((await ann.until(lower.id, 'filled')).filled_avg_price, 95);
  assert.equal((await ann.order(later.id)).status, 'accepted');
  await site.meet(ann, { AAPL: quote(103) });
  assert.equal((await ann.until(sell.id, 'filled')).filled_avg_price, 102.99, 'a better price than its own');
});

test('a stop order is triggered by the last price and fills at the next quote, also after a gap; on the wrong side it is triggered at once', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const buy = await ann.place(stopAt(101));
  const wrong = await ann.place(stopAt(90));
  await site.meet(ann, { AAPL: quote(100.99) });
  assert.equal((await ann.until(wrong.id, 'filled')).filled_avg_price, 101);
  await site.meet(ann, { AAPL: quote(101) });
  await site.meet(ann, { AAPL: quote(104) });
  assert.equal((await ann.until(buy.id, 'filled')).filled_avg_price, 104.01);
  const stop = await ann.place(stopAt(99, { side: 'sell', quantity: 20 }));
  await site.meet(ann, { AAPL: quote(98) });
  assert.equal((await ann.order(stop.id)).filled_quantity, 0);
  await site.meet(ann, { AAPL: quote(93) });
  assert.equal((await ann.until(stop.id, 'filled')).filled_avg_price, 92.99);
  assert.equal(await ann.position('AAPL'), undefined);
});

test('a stop_limit order becomes its limit order when it is triggered', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const { id } = await ann.place({ ...stopAt(101), order_type: 'stop_limit', limit_price: 101.5 });
  await site.meet(ann, { AAPL: quote(101) });
  await site.meet(ann, { AAPL: quote(102) });
  await site.meet(ann, { AAPL: quote(101.5) });
  assert.equal((await ann.order(id)).status, 'accepted', 'the ask is beyond its limit');
  await site.meet(ann, { AAPL: quote(101.4) });
  assert.equal((await ann.until(id, 'filled')).filled_avg_price, 101.41);
});

test('a quote fills at most a tenth of its volume, without volume nothing, and each fill emits one event', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const { id } = await ann.place({ ...aapl, quantity: 100 });
  await show({ AAPL: quote(100, { volume: 0 }) });
  assert.equal((await ann.order(id)).status, 'accepted');
  await show({ AAPL: quote(100, { volume: 400 }) });
  const part = await ann.until(id, 'partially_filled');
  assert.deepEqual([part.filled_quantity, part.remaining_quantity, part.filled_avg_price], [40, 60, 100.01]);
  await show({ AAPL: quote(101, { volume: 405 }) });
  await until(async () => (await ann.order(id)).filled_quantity === 80.5, 'the second fill');
  await show({ AAPL: quote(102) });
  const filled = await ann.until(id, 'filled');
  // 40 · 100.01 + 40.5 · 101.01 + 19.5 · 102.01
  assert.equal(filled.filled_avg_price, 100.805);
  const fills = await ann.fills(id);
  assert.deepEqual(
    fills.map(({ quantity, price }) => [quantity, price]),
    [
      [19.5, 102.01],
      [40.5, 101.01],
      [40, 100.01],
    ],
  );
  assert.deepEqual(await eventsOf(ann, id), [
    'trade.submitted',
    'trade.accepted',
    ['trade.partially_filled', 40, 100.01, 40],
    ['trade.partially_filled', 40.5, 101.01, 80.5],
    ['trade.filled', 19.5, 102.01, 100],
  ]);
  const firstPage = await ann.caller.json('GET', `/v1/trading/orders/${id}/fills?limit=2`);
  assert.deepEqual([firstPage.data.length, firstPage.total, firstPage.has_more], [2, 3, true]);
});

test('the part of an ioc order that cannot fill at the next quote is cancelled', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const missed = await ann.place(limitAt(99, { time_in_force: 'ioc' }));
  const part = await ann.place(limitAt(100.05, { time_in_force: 'ioc', quantity: 50 }));
  await show({ AAPL: quote(100, { volume: 300 }) });
  assert.equal((await ann.until(missed.id, 'cancelled')).filled_quantity, 0);
  const { filled_quantity, remaining_quantity } = await ann.until(part.id, 'cancelled');
  assert.deepEqual([filled_quantity, remaining_quantity], [30, 20]);
  assert.deepEqual((await eventsOf(ann, part.id)).slice(2), [['trade.partially_filled', 30, 100.01, 30], 'trade.cancelled']);
});

test('crypto trades in fractions of nine places, and closes to exactly zero', async () => {
  await show({ 'BTC-USD': quote(50_000) });
  const ann = await site.trader();
  const first = await ann.place({ symbol: 'BTC/USD', quantity: 0.1 });
  assert.deepEqual([first.symbol, first.asset_class, first.time_in_force], ['BTC-USD', 'crypto', 'gtc']);
  const second = await ann.place({ symbol: 'BTC-USD', quantity: 0.200000001 });
  await show({ 'BTC-USD': quote(50_000) });
  await ann.until(first.id, 'filled');
  await ann.until(second.id, 'filled');
  assert.equal((await ann.position('BTC-USD')).quantity, 0.300000001);
  assert.equal(await refusal(ann, { symbol: 'BTC-USD', quantity: 0.300000002, side: 'sell' }), 'quantity no_shorts_in_crypto');
  const sale = await ann.place({ symbol: 'BTC-USD', quantity: 0.300000001, side: 'sell' });
  await show({ 'BTC-USD': quote(50_000) });
  await ann.until(sale.id, 'filled');
  assert.equal(await ann.position('BTC-USD'), undefined);
  // 0.300000001 · 0.02 of spread is 0.6 cents.
  assert.deepEqual([(await ann.account()).cash, (await ann.account()).equity], [99_999.99, 99_999.99]);
});

test('an invalid order is 422 with the field and the rule', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const wrong = async (order: object) =>
    refusalOf(await ann.ask('POST', 'orders', { ...aapl, side: 'buy', order_type: 'market', ...order }));
  for (const [order, field, type] of [
    [{ quantity: 0 }, 'quantity', 'greater_than'],
    [{ quantity: -1 }, 'quantity', 'greater_than'],
    [{ quantity: '1' }, 'quantity', 'float_type'],
    [{ quantity: 0.0000000001 }, 'quantity', 'decimal_max_places'],
    [{ quantity: undefined }, 'quantity', 'missing'],
    [{ symbol: 'aapl' }, 'symbol', 'string_pattern_mismatch'],
    [{ symbol: 'MSFT' }, 'symbol', 'unknown_symbol'],
    [{ symbol: 'ETH-USD' }, 'symbol', 'unknown_symbol'],
    [{ side: 'hold' }, 'side', 'enum'],
    [{ order_type: 'trailing' }, 'order_type', 'enum'],
    [{ order_type: 'limit' }, 'limit_price', 'missing'],
    [{ order_type: 'stop' }, 'stop_price', 'missing'],
    [{ limit_price: 100 }, 'limit_price', 'extra_forbidden'],
    [limitAt(100.001), 'limit_price', 'price_increment'],
    [limitAt(0), 'limit_price', 'greater_than'],
    [stopAt(-1), 'stop_price', 'greater_than'],
    [{ time_in_force: 'fok' }, 'time_in_force', 'enum'],
    [{ client_order_id: 'a b' }, 'client_order_id', 'string_pattern_mismatch'],
    [{ client_order_id: 'x'.repeat(129) }, 'client_order_id', 'string_pattern_mismatch'],
    [{ mode: 'LIVE' }, 'mode', 'enum'],
    [{ symbol: 'BTC-USD', time_in_force: 'day' }, 'time_in_force', 'order_not_supported_by_broker'],
    [stopAt(101, { time_in_force: 'ioc' }), 'time_in_force', 'order_not_supported_by_broker'],
  ] as const)
    assert.deepEqual(await wrong(order), [[field, type]], JSON.stringify(order));
  const { json } = await ann.ask('POST', 'orders', { ...aapl, symbol: 'BTC-USD', side: 'buy', order_type: 'market', time_in_force: 'day' });
  assert.deepEqual(json.detail[0].ctx, { broker_name: 'embedded', asset_class: 'crypto', allowed: ['gtc', 'ioc'] });
  assert.equal(await wrong({ broker_id: 'brk_none' }), 404);
  assert.deepEqual(await wrong({ mode: 'live' }), 402, 'the free plan');
  assert.equal((await ann.caller.json('GET', '/v1/trading/orders')).total, 0, 'nothing of it was stored');
  assert.equal((await ann.caller.events()).filter(({ type }) => type.startsWith('trade.')).length, 0);
});

test('a client_order_id is permanently used by one order, finds this order, and a refused order does not use it', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const mine = { ...limitAt(90), client_order_id: 'A:1' };
  assert.deepEqual(await ann.refusal({ ...mine, quantity: 10_000 }), [['quantity', 'max_position_size']]);
  const first = await ann.place(mine);
  assert.equal(await ann.refusal(mine), 409);
  const next = await ann.caller.json('PATCH', `/v1/trading/orders/${first.id}`, { limit_price: 91, client_order_id: 'A:2' });
  assert.deepEqual([next.client_order_id, next.replaces], ['A:2', first.id]);
  assert.equal((await ann.ask('PATCH', `orders/${next.id}`, { client_order_id: 'A:1' })).status, 409, 'a used one, and no other change');
  await ann.caller.json('DELETE', `/v1/trading/orders/${next.id}`);
  for (const used of ['A:1', 'A:2']) assert.equal(await ann.refusal({ ...mine, client_order_id: used }), 409, 'after its end too');
  const found = await ann.caller.json('GET', '/v1/trading/orders?client_order_id=A:2');
  assert.deepEqual(
    found.data.map(({ id }: Json) => id),
    [next.id],
  );
  assert.equal((await (await site.trader()).place(mine)).client_order_id, 'A:1', 'another account has ids of its own');
});

test('an order repeated with its idempotency key is placed once', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const key = { 'idempotency-key': 'once' };
  const order = { ...aapl, side: 'buy', order_type: 'market', client_order_id: 'k1' };
  const first = await ann.ask('POST', 'orders', order, key);
  const again = await ann.ask('POST', 'orders', order, key);
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.deepEqual(again.json, first.json);
  assert.equal((await ann.ask('POST', 'orders', { ...order, quantity: 11 }, key)).status, 422);
  assert.equal((await ann.caller.json('GET', '/v1/trading/orders')).total, 1);
});

test('a replacement is a new order for the remaining quantity, and the old one ends cancelled', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const patch = async (id: string, body: object) => {
    const answer = await ann.ask('PATCH', `orders/${id}`, body);
    return answer.status === 200 ? answer.json : refusalOf(answer);
  };
  const old = await ann.place(limitAt(100.05, { quantity: 50, time_in_force: 'gtc' }));
  await show({ AAPL: quote(100, { volume: 200 }) });
  await ann.until(old.id, 'partially_filled');
  await show({ AAPL: quote(101, { volume: 0 }) });
  const next = await patch(old.id, { limit_price: 99 });
  const { quantity, limit_price, time_in_force, replaces, filled_quantity, status } = next;
  assert.deepEqual([quantity, limit_price, time_in_force, replaces, filled_quantity, status], [30, 99, 'gtc', old.id, 0, 'accepted']);
  const ended = await ann.order(old.id);
  assert.deepEqual([ended.status, ended.replaced_by, ended.filled_quantity, ended.remaining_quantity], ['cancelled', next.id, 20, 30]);
  assert.equal(await patch(old.id, { limit_price: 98 }), 409);
  assert.equal((await ann.ask('DELETE', `orders/${old.id}`)).status, 409);
  assert.deepEqual(await patch(next.id, {}), [['', 'missing']]);
  assert.deepEqual(await patch(next.id, { stop_price: 90 }), [['stop_price', 'extra_forbidden']]);
  assert.deepEqual(await patch(next.id, { limit_price: 98.001 }), [['limit_price', 'price_increment']]);
  assert.deepEqual(await patch(next.id, { limit_price: 112 }), [['limit_price', 'price_collar']]);
  const more = await patch(next.id, { quantity: 70, time_in_force: 'day' });
  assert.deepEqual([more.quantity, more.limit_price, more.time_in_force], [70, 99, 'day']);
  assert.deepEqual(await patch(more.id, { quantity: 300 }), [['quantity', 'max_position_size']], 'with what is held');
  const most = await patch(more.id, { quantity: 225 });
  assert.equal(most.quantity, 225, 'the old order does not count beside the new one');
  const cancelled = await ann.caller.json('DELETE', `/v1/trading/orders/${most.id}`);
  assert.equal(cancelled.status, 'cancelled');
  assert.ok(cancelled.cancel_requested_at);
  assert.equal((await ann.ask('DELETE', `orders/${most.id}`)).status, 409);
});

test('orders are listed newest first, by client id, status, symbol and broker', async () => {
  await show({ AAPL: quote(100), 'BTC-USD': quote(50_000) });
  const ann = await site.trader();
  const a = await ann.place(limitAt(90));
  const b = await ann.place({ symbol: 'BTC-USD', quantity: 0.1, order_type: 'limit', limit_price: 45_000 });
  const c = await ann.place(limitAt(91, { client_order_id: 'c' }));
  await ann.caller.json('DELETE', `/v1/trading/orders/${a.id}`);
  const ids = async (query: string) => (await ann.caller.json('GET', `/v1/trading/orders${query}`)).data.map(({ id }: Json) => id);
  assert.deepEqual(await ids(''), [c.id, b.id, a.id]);
  assert.deepEqual(await ids('?limit=1&offset=1'), [b.id]);
  assert.deepEqual(await ids('?status=cancelled'), [a.id]);
  assert.deepEqual(await ids('?symbol=BTC/USD&status=accepted'), [b.id]);
  assert.deepEqual(await ids('?client_order_id=c'), [c.id]);
  assert.deepEqual(await ids('?broker_id=embedded'), [c.id, b.id, a.id]);
  assert.deepEqual(await ids('?broker_id=brk_other'), []);
  assert.equal((await ann.ask('GET', 'orders?status=open')).status, 422);
});

test("another account's order is 404 for every request", async () => {
  await show({ AAPL: quote(100) });
  const [ann, bob] = [await site.trader(), await site.trader()];
  const { id } = await ann.place(limitAt(90));
  for (const [method, path, body] of [
    ['GET', id],
    ['DELETE', id],
    ['PATCH', id, { quantity: 1 }],
    ['GET', `${id}/fills`],
    ['GET', 'ord_0000000000000000000000000'],
    ['DELETE', 'nonsense'],
  ] as const)
    assert.equal((await bob.ask(method, `orders/${path}`, body)).status, 404, `${method} ${path}`);
  assert.equal((await ann.order(id)).status, 'accepted');
  assert.equal((await bob.ask('GET', 'account?broker_id=brk_none')).status, 404);
});

test('a key needs trading.read to read and trading.write to trade', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const key = async (scopes: string[]) => {
    const made = await ann.caller.json('POST', '/v1/api-keys', { name: scopes.join(), scopes });
    return Caller.withToken(site.service, made.key);
  };
  const [reader, writer] = [await key(['trading.read']), await key(['trading.write'])];
  const status = async (by: Caller, method: string, path: string, body?: object) =>
    (await by.fetch(method, `/v1/trading/${path}`, body)).status;
  const order = { ...limitAt(90), side: 'buy' };
  assert.deepEqual([await status(reader, 'GET', 'orders'), await status(writer, 'GET', 'orders')], [200, 403]);
  assert.deepEqual([await status(reader, 'POST', 'orders', order), await status(writer, 'POST', 'orders', order)], [403, 201]);
});

async function refusal(trader: Trader, order: object): Promise<unknown> {
  const found = await trader.refusal(order);
  return Array.isArray(found) ? found.flat().join(' ') : found;
}
