/** Limits, halts, brackets, sessions and modes of the real service, with a market that the test controls. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import type { Json } from '../support/json.ts';
import { quote, refusalOf, startTradingService, Trader, type TradingSite } from '../support/market-data.ts';
import { onBusiness } from '../support/on-business.ts';
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
const settings = (trader: Trader, change: object) => trader.caller.json('PATCH', '/v1/settings', change);
const testKey = async (trader: Trader) => new Trader(await trader.caller.program('test', ['trading.read', 'trading.write']));
const idsOf = (orders: Json[]) => orders.map(({ id }) => id);
/** Blocked by a loss, until the days have passed. */
let loser: Trader | null = null;
async function dataOf(trader: Trader, type: string): Promise<Json[]> {
  return (await trader.caller.events()).filter((event) => event.type === type).map(({ data }) => data);
}

test('an order beyond a limit is 422 with this limit, open orders count, and an order exactly at the limit is accepted', async () => {
  await show({ AAPL: quote(100), 'BTC-USD': quote(50_000) });
  const ann = await site.trader();
  // 100.01 and a hundredth of it are 101.0101: 247 of them are 24,949.49.
  assert.deepEqual(await ann.refusal({ ...aapl, quantity: 248 }), [['quantity', 'max_position_size']]);
  await ann.place({ ...aapl, quantity: 247 });
  assert.deepEqual(await ann.refusal({ ...aapl, quantity: 1 }), [['quantity', 'max_position_size']]);
  assert.equal((await ann.place({ ...limitAt(100.01), quantity: 0.5 })).status, 'submitted');

  const bob = await site.trader();
  await settings(bob, { max_position_size: 1_000_000 });
  assert.deepEqual(await bob.refusal({ ...aapl, quantity: 991 }), [['quantity', 'insufficient_cash']]);
  await bob.place({ ...aapl, quantity: 990 });
  assert.deepEqual(await bob.refusal({ symbol: 'BTC-USD', quantity: 0.001 }), [['quantity', 'insufficient_cash']]);

  const eve = await site.trader();
  await settings(eve, { max_position_size: 1_000_000 });
  const short = { ...aapl, side: 'sell' };
  assert.deepEqual(await eve.refusal({ ...short, quantity: 2_001 }), [['quantity', 'short_margin']]);
  await eve.place({ ...short, quantity: 1_980 });
  assert.deepEqual(await eve.refusal({ ...short, quantity: 1_000 }), [['quantity', 'short_margin']]);
  assert.deepEqual(await eve.refusal({ symbol: 'BTC-USD', quantity: 0.01, side: 'sell' }), [['quantity', 'no_shorts_in_crypto']]);
});

test('a limit price far on the harmful side of the quote is 422, as far as the settings say, and so is an order against an own one', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  assert.deepEqual(await ann.refusal(limitAt(110.02)), [['limit_price', 'price_collar']]);
  assert.deepEqual(await ann.refusal(limitAt(89.99, { side: 'sell' })), [['limit_price', 'price_collar']]);
  const far = await ann.place(limitAt(150, { side: 'sell' }));
  await ann.place(limitAt(50));
  await ann.place(limitAt(95));
  assert.deepEqual(await ann.refusal(limitAt(95, { side: 'sell' })), [['quantity', 'wash_trade']]);
  await ann.place(limitAt(95.01, { side: 'sell' }));
  assert.deepEqual(await ann.refusal(aapl), [['quantity', 'wash_trade']]);
  await settings(ann, { price_collar_pct: 2 });
  assert.deepEqual(await ann.refusal(limitAt(103)), [['limit_price', 'price_collar']]);
  await settings(ann, { max_position_size: 20_000, daily_loss_limit: 777.77 });
  const { max_position_size, daily_loss_limit } = await ann.account();
  assert.deepEqual([max_position_size, daily_loss_limit, far.status], [20_000, 777.77, 'submitted']);
});

test('concurrent orders cannot exceed the limit together, and one client id gives one order', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const order = { ...aapl, quantity: 80, side: 'buy', order_type: 'market' };
  const answers = await Promise.all(Array.from({ length: 20 }, () => ann.ask('POST', 'orders', order)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 3);
  assert.ok(answers.every((answer) => answer.status === 201 || String(refusalOf(answer)) === 'quantity,max_position_size'));
  const bob = await site.trader();
  const same = await Promise.all(Array.from({ length: 10 }, () => bob.ask('POST', 'orders', { ...order, client_order_id: 'one' })));
  assert.deepEqual(same.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)]);
});

test('with a quote older than 15 seconds all orders are refused, also reducing ones, and cancels are accepted', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const { id } = await ann.place(aapl);
  await show();
  await ann.until(id, 'filled');
  const open = await ann.place(limitAt(90));
  await show({ AAPL: quote(100, { at: '2026-11-20T14:59:00Z' }) });
  assert.equal((await ann.ask('POST', 'orders', { ...aapl, side: 'buy', order_type: 'market' })).status, 409);
  assert.equal(await ann.refusal({ ...aapl, side: 'sell' }), 409);
  assert.equal(await ann.refusal({ symbol: 'AAPL', quantity: 1, side: 'long' }, 'positions/open'), 409);
  assert.equal((await ann.caller.json('DELETE', `/v1/trading/orders/${open.id}`)).status, 'cancelled');
  await show({ AAPL: quote(100) });
  await ann.place({ ...aapl, side: 'sell' });
});

test('a halt by a user cancels open orders and refuses new ones until the user resumes; keys may do neither', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const program = new Trader(await ann.caller.program('live', ['trading.read', 'trading.write']));
  const tester = await testKey(ann);
  const open = [await ann.place(limitAt(90)), await ann.place(limitAt(91))];
  for (const key of [program, tester])
    for (const path of ['halt', 'resume']) assert.equal((await key.ask('POST', path, {})).status, 403, path);
  const halted = await ann.ask('POST', 'halt', { reason: 'a test' });
  assert.equal(halted.status, 200);
  const { halted_at, cancelled, ...rest } = halted.json;
  assert.deepEqual(rest, { halted: true, not_cancelled: [] });
  assert.deepEqual(cancelled.toSorted(), idsOf(open).toSorted());
  for (const id of cancelled) assert.equal((await ann.order(id)).status, 'cancelled');
  assert.deepEqual((await ann.ask('POST', 'halt', {})).json, { halted: true, halted_at, cancelled: [], not_cancelled: [] });
  assert.equal((await ann.account()).halted, true);
  for (const trader of [ann, program]) assert.equal(await trader.refusal(aapl), 409);
  assert.equal(await ann.refusal({ symbol: 'AAPL', quantity: 1, side: 'long' }, 'positions/open'), 409);
  assert.equal((await tester.place(aapl)).mode, 'test', 'test mode is not halted');
  assert.equal((await ann.ask('POST', 'halt?mode=test', {})).json.cancelled.length, 1);
  assert.equal(await tester.refusal(aapl), 409);
  for (const path of ['resume', 'resume', 'resume?mode=test'])
    assert.deepEqual(await ann.ask('POST', path, {}), { status: 200, json: { halted: false } });
  assert.equal((await ann.ask('POST', 'resume', { broker_id: 'brk_none' })).status, 404);
  assert.equal((await ann.account()).halted, false);
  for (const trader of [ann, tester]) await trader.place(limitAt(90));
  const [first] = await dataOf(ann, 'trading.halted');
  assert.deepEqual([first.reason, first.cancelled.toSorted(), first.not_cancelled], ['a test', cancelled.toSorted(), []]);
  assert.ok((await dataOf(ann, 'trading.resumed')).length >= 1);
});

test('test keys have a separate account for paper trading only', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const tester = await testKey(ann);
  const order = await tester.place({ ...aapl, client_order_id: 'same' });
  assert.equal(order.mode, 'test');
  const own = await ann.place({ ...aapl, quantity: 5, client_order_id: 'same' });
  assert.equal((await tester.ask('GET', `orders/${own.id}`)).status, 404);
  assert.equal((await ann.ask('DELETE', `orders/${order.id}`)).status, 404);
  await show();
  await Promise.all([tester.until(order.id, 'filled'), ann.until(own.id, 'filled')]);
  const [mine, theirs] = [await ann.account(), await tester.account()];
  assert.deepEqual([mine.cash, mine.mode, theirs.cash, theirs.mode], [99_499.95, 'paper', 98_999.9, 'test']);
  assert.deepEqual([(await ann.position('AAPL')).quantity, (await tester.position('AAPL')).quantity], [5, 10]);
  assert.notEqual((await ann.position('AAPL')).id, (await tester.position('AAPL')).id);
  assert.equal((await tester.caller.json('GET', '/v1/trading/orders')).total, 1);
  assert.equal(await tester.refusal({ ...aapl, mode: 'live' }), 403);
  assert.equal(await tester.refusal({ symbol: 'AAPL', quantity: 1, side: 'long', mode: 'live' }, 'positions/open'), 403);
  for (const mode of ['paper', 'live']) {
    const connected = await tester.ask('POST', 'brokers', { broker_name: 'alpaca', credentials: { api_key: 'a', api_secret: 'b' }, mode });
    assert.equal(connected.status, 403, `a test key connects no ${mode} broker`);
  }
});

test("a bracket's legs wait for the parent, have its filled quantity, and end each other", async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const bracket = { ...aapl, side: 'long', stop_loss: 95, take_profit: 110 };
  const opened = (await ann.ask('POST', 'positions/open', bracket)).json;
  const { position, order, stop_loss_order: stop, take_profit_order: target } = opened;
  assert.equal(position, null);
  assert.deepEqual([order.side, order.order_type, order.quantity, order.status], ['buy', 'market', 10, 'submitted']);
  assert.deepEqual([stop.side, stop.order_type, stop.stop_price, stop.limit_price], ['sell', 'stop', 95, null]);
  assert.deepEqual([target.side, target.order_type, target.limit_price, target.stop_price], ['sell', 'limit', 110, null]);
  for (const leg of [stop, target])
    assert.deepEqual([leg.status, leg.held, leg.parent_id, leg.managed_by], ['accepted', true, order.id, 'troupe']);
  await show({ AAPL: quote(100, { volume: 40 }) });
  await ann.until(order.id, 'partially_filled');
  await until(async () => (await ann.order(stop.id)).quantity === 4, 'the leg is for what was filled');
  await show({ AAPL: quote(100) });
  await ann.until(order.id, 'filled');
  await until(async () => (await ann.order(target.id)).quantity === 10, 'the leg is for all of it');
  assert.deepEqual([(await ann.order(target.id)).held, (await ann.order(stop.id)).held], [false, false]);
  await show({ AAPL: quote(111) });
  await ann.until(target.id, 'filled');
  await ann.until(stop.id, 'cancelled');
  assert.equal(await ann.position('AAPL'), undefined);

  const short = (await ann.ask('POST', 'positions/open', { ...aapl, side: 'short', stop_loss: 120 })).json;
  assert.equal(short.take_profit_order, null);
  await show({ AAPL: quote(111) });
  await ann.until(short.order.id, 'filled');
  const held = await ann.position('AAPL');
  assert.deepEqual([held.side, held.quantity, held.avg_entry_price, held.unrealized_pnl], ['short', -10, 110.99, -0.2]);
  await site.meet(ann, { AAPL: quote(121) });
  await show({ AAPL: quote(122) });
  assert.equal((await ann.until(short.stop_loss_order.id, 'filled')).filled_avg_price, 122.01);

  const unfilled = (await ann.ask('POST', 'positions/open', { ...bracket, stop_loss: 100, take_profit: 130 })).json;
  await ann.caller.json('DELETE', `/v1/trading/orders/${unfilled.order.id}`);
  for (const leg of ['stop_loss_order', 'take_profit_order']) await ann.until(unfilled[leg].id, 'cancelled');
  const refused = (body: object) => ann.refusal({ ...aapl, order_type: undefined, ...body }, 'positions/open');
  assert.deepEqual(await refused({ side: 'buy' }), [['side', 'enum']]);
  assert.deepEqual(await refused({ side: 'long', stop_loss: 130, take_profit: 120 }), [['take_profit', 'value_error']]);
  assert.deepEqual(await refused({ side: 'long', stop_loss: 99.001 }), [['stop_loss', 'price_increment']]);
  assert.deepEqual(await refused({ side: 'long', quantity: 1_000 }), [['quantity', 'max_position_size']]);
  assert.deepEqual(await refused({ side: 'short', symbol: 'BTC-USD', quantity: 0.01 }), [['quantity', 'no_shorts_in_crypto']]);
});

test('a loss equal to the limit cancels all orders, and only reducing orders are accepted until each class may trade again', async () => {
  await show({ AAPL: quote(100), 'BTC-USD': quote(50_000) });
  const ann = await site.trader();
  loser = ann;
  await settings(ann, { daily_loss_limit: 100 });
  const { id } = await ann.place({ ...aapl, quantity: 100 });
  await show();
  await ann.until(id, 'filled');
  const resting = await ann.place(limitAt(90));
  await show({ AAPL: quote(99.03) });
  assert.equal((await ann.order(resting.id)).status, 'accepted', 'a loss of 99 dollars');
  // Bought at 100.01, and worth 99.01.
  await show({ AAPL: quote(99.02) });
  await ann.until(resting.id, 'cancelled');
  const account = await ann.account();
  assert.deepEqual(account.blocked, { equity: '2026-11-23T14:30:00.000Z', crypto: '2026-11-21T00:00:00.000Z' });
  assert.deepEqual([account.blocked_until, account.day_pnl], ['2026-11-23T14:30:00.000Z', -100]);
  const [blocked] = await dataOf(ann, 'trading.blocked');
  assert.deepEqual([blocked.day_pnl, blocked.daily_loss_limit, blocked.blocked_until], [-100, 100, account.blocked_until]);
  for (const order of [limitAt(90), { symbol: 'BTC-USD', quantity: 0.01 }, { ...aapl, side: 'sell', quantity: 101 }])
    assert.equal(await ann.refusal(order), 409);
  await settings(ann, { daily_loss_limit: 100_000 });
  assert.equal(await ann.refusal(limitAt(90)), 409, 'a higher limit does not lift it');
  const sale = await ann.place({ ...aapl, side: 'sell', quantity: 60 });
  assert.equal(await ann.refusal({ ...aapl, side: 'sell', quantity: 41 }), 409, 'no more than is held, open orders counted');
  await ann.place(limitAt(120, { side: 'sell', quantity: 40 }));
  await show();
  await ann.until(sale.id, 'filled');
});

test('a lowered loss limit applies to existing positions without a further order', async () => {
  await show({ AAPL: quote(100) });
  const ann = await site.trader();
  const { id } = await ann.place({ ...aapl, quantity: 100 });
  await show();
  await ann.until(id, 'filled');
  await show({ AAPL: quote(99.5) });
  assert.deepEqual([(await ann.account()).day_pnl, (await ann.account()).blocked_until], [-52, null]);
  await settings(ann, { daily_loss_limit: 52 });
  await until(async () => (await ann.account()).blocked_until !== null, 'the block');
  assert.equal(await ann.refusal(limitAt(90)), 409);
});

test('live trading needs the plan, then the setting, then a live broker', async () => {
  const ann = await site.trader();
  const live = { ...aapl, mode: 'live' };
  assert.equal(await ann.refusal({ ...live, broker_id: 'brk_none' }), 404);
  assert.equal(await ann.refusal(live), 402);
  await onBusiness((await runningEmbeddedPostgres(site.service.dataDir))!);
  await until(async () => (await ann.refusal(live)) !== 402, 'the plan');
  assert.deepEqual(await ann.refusal(live), [['mode', 'value_error']]);
  await settings(ann, { live_trading_enabled: true });
  for (const order of [live, { ...live, broker_id: 'embedded' }]) assert.deepEqual(await ann.refusal(order), [['mode', 'value_error']]);
});

test('outside the session orders are accepted and wait for the opening; day orders end at the close of their session', async () => {
  const ann = await site.trader();
  const day = await ann.place(limitAt(90));
  const gtc = await ann.place(limitAt(91, { time_in_force: 'gtc' }));
  site.market.setClock('2026-11-20T21:00:00Z');
  await show({ AAPL: quote(80) });
  await ann.until(day.id, 'expired');
  assert.equal((await dataOf(ann, 'trade.expired')).length, 1);
  assert.equal((await ann.order(gtc.id)).status, 'accepted', 'closed: nothing fills');
  assert.equal((await ann.caller.json('GET', '/v1/trading/quotes/AAPL')).session, 'closed');
  assert.deepEqual(await ann.refusal({ ...aapl, time_in_force: 'ioc' }), [['time_in_force', 'session_closed']]);
  const market = await ann.place(aapl);
  const immediate = await ann.place(limitAt(85, { time_in_force: 'ioc' }));
  assert.equal((await ann.order(market.id)).status, 'accepted');
  await show({ AAPL: quote(81) });
  await ann.until(immediate.id, 'cancelled');
  assert.deepEqual([(await ann.order(market.id)).status, (await ann.order(gtc.id)).status], ['accepted', 'accepted']);
  site.market.setClock('2026-11-21T00:00:00Z');
  await show();
  const { blocked } = await loser!.account();
  assert.deepEqual(blocked, { equity: '2026-11-23T14:30:00.000Z', crypto: null }, 'a new day of UTC');
  assert.equal(await loser!.refusal(limitAt(50)), 409);
  await loser!.place({ symbol: 'BTC-USD', quantity: 0.01 });
  site.market.setClock('2026-11-23T14:30:00Z');
  await show({ AAPL: quote(82) });
  assert.equal((await ann.until(market.id, 'filled')).filled_avg_price, 82.01);
  assert.equal((await ann.until(gtc.id, 'filled')).filled_avg_price, 82.01);
  const free = await loser!.account();
  assert.deepEqual([free.blocked, free.blocked_until], [{ equity: null, crypto: null }, null]);
  await loser!.place(limitAt(80));
});
