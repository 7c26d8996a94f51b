/** Orders of the embedded paper broker, on the real runtime: fills, bookings, ends and events. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PaperAccount, paperActors } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';

// A Wednesday, in session.
const market = new ScriptedMarket('2026-11-18T15:00:00Z');
market.content({ AAPL: { bid: 99, ask: 101, last: 100, volume: 1_000 } });
const world = await testRuntime(paperActors(market));
after(() => world.close());

test('a market order fills at the content after its acceptance, at the ask, and at most a tenth of the volume of each content', async () => {
  const account = new PaperAccount(world, market);
  const placed = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '150' });
  assert.equal(placed.status, 'accepted');
  assert.equal(await account.mark(), false);
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(placed.id), { status: 'partially_filled', quantity: '150', filled: '100' });
  assert.equal(await account.mark(), false);
  market.content({ AAPL: { ask: 102 } });
  await account.mark();
  assert.deepEqual(await account.order(placed.id), { status: 'filled', quantity: '150', filled: '150' });
  const { book } = await account.refolded();
  assert.deepEqual((await account.state())!.books.embedded!.book, book);
  assert.equal(BigInt(book.cash), (100_000n - 100n * 101n - 50n * 102n) * 10n ** 18n);
  assert.deepEqual(account.events(), ['trade.submitted', 'trade.accepted', 'trade.partially_filled', 'trade.filled']);
  assert.deepEqual((await account.state())!.open, {});
});

test("orders of one account share the tenth of a content's volume, and each content is used once", async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: { bid: 99, ask: 101, last: 100, volume: 1_000 } });
  const first = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '70' });
  const second = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '70' });
  market.content();
  await account.mark();
  assert.equal((await account.order(first.id)).filled, '70');
  assert.equal((await account.order(second.id)).filled, '30');
  assert.equal(await account.mark(), false, 'the same content again');
  market.content({ AAPL: { volume: 0 } });
  assert.equal(await account.mark(), false, 'nothing was traded');
  market.content({ AAPL: { volume: 1_000_000 } });
  await account.mark();
  assert.equal((await account.order(second.id)).status, 'filled');
});

test('an evaluation of a content without effect writes nothing', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100 });
  await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '90', timeInForce: 'gtc' });
  await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', stopPrice: '120', timeInForce: 'gtc' });
  market.content();
  assert.equal(await account.mark(), false);
});

test('fills average, reduce and flip a position, exactly', async () => {
  const account = new PaperAccount(world, market);
  const trade = async (side: 'buy' | 'sell', quantity: string, price: number) => {
    market.content({ AAPL: { bid: price, ask: price, last: price, volume: 1_000_000 } });
    await account.place({ symbol: 'AAPL', side, quantity });
    market.content();
    await account.mark();
  };
  const position = async () => (await account.state())!.books.embedded!.book.positions.AAPL;
  await trade('buy', '10', 100);
  await trade('buy', '0.000000003', 130);
  assert.deepEqual(await position(), { quantity: '10.000000003', cost: String(1_000n * 10n ** 18n + 390n * 10n ** 9n) });
  await trade('sell', '0.000000003', 90);
  await trade('sell', '10', 110);
  assert.equal(await position(), undefined, 'fractions close to exactly 0');
  await trade('buy', '5', 100);
  await trade('sell', '8', 120);
  assert.deepEqual(await position(), { quantity: '-3', cost: String(-360n * 10n ** 18n) });
  const { book } = await account.refolded();
  assert.deepEqual((await account.state())!.books.embedded!.book, book);
});

test('a stop after a gap of the market fills at the content after its trigger, at any price', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100 });
  await account.place({ symbol: 'AAPL', side: 'buy', quantity: '10' });
  market.content();
  await account.mark();
  const stop = await account.place({ symbol: 'AAPL', side: 'sell', quantity: '10', stopPrice: '95', timeInForce: 'gtc' });
  market.content({ AAPL: 90 });
  await account.mark();
  assert.equal((await account.order(stop.id)).status, 'accepted');
  market.content({ AAPL: 80 });
  await account.mark();
  const [, sold] = await account.fills();
  assert.deepEqual([sold.price, sold.quantity, sold.position_quantity], ['80', '10', '0']);
  const wrongSide = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', stopPrice: '70', timeInForce: 'gtc' });
  market.content();
  await account.mark();
  assert.equal((await account.order(wrongSide.id)).status, 'filled', 'a stop on the wrong side triggers at once');
});

test('legs wait for their parent, have its filled quantity, and reduce each other', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: { bid: 100, ask: 100, last: 100, volume: 300 } });
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '50' } as const;
  const { order, legs } = await account.bracket(wanted, { take_profit: '110', stop_loss: '90' });
  const [target, stop] = legs as [(typeof legs)[0], (typeof legs)[0]];
  assert.deepEqual([target.status, target.held, target.parentId, target.managedBy], ['accepted', true, order.id, 'troupe']);
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(stop.id), { status: 'accepted', quantity: '30', filled: '0' });
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(target.id), { status: 'accepted', quantity: '50', filled: '0' });
  market.content({ AAPL: { bid: 110, ask: 111, last: 110, volume: 200 } });
  await account.mark();
  assert.deepEqual(await account.order(target.id), { status: 'partially_filled', quantity: '50', filled: '20' });
  assert.deepEqual(await account.order(stop.id), { status: 'accepted', quantity: '30', filled: '0' });
  market.content({ AAPL: { bid: 89, ask: 89, last: 89, volume: 10_000 } });
  await account.mark();
  market.content({ AAPL: { bid: 88, ask: 88, last: 88 } });
  await account.mark();
  assert.deepEqual(await account.order(stop.id), { status: 'filled', quantity: '30', filled: '30' });
  assert.deepEqual(await account.order(target.id), { status: 'cancelled', quantity: '50', filled: '20' });
  assert.equal(await account.held('AAPL'), '0');
  assert.deepEqual((await account.state())!.open, {});
});

test('the first fill of a leg cancels the rest of its parent, and a parent that ends unfilled ends its legs', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: { bid: 100, ask: 100, last: 100, volume: 300 } });
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '50', limitPrice: '100', timeInForce: 'gtc' } as const;
  const { order, legs } = await account.bracket(wanted, { take_profit: '105' });
  market.content();
  await account.mark();
  market.content({ AAPL: { bid: 105, ask: 106, last: 105 } });
  await account.mark();
  assert.deepEqual(await account.order(order.id), { status: 'cancelled', quantity: '50', filled: '30' });
  assert.deepEqual(await account.order(legs[0]!.id), { status: 'filled', quantity: '30', filled: '30' });
  const other = await account.bracket(wanted, { take_profit: '115', stop_loss: '80' });
  await account.cancel(other.order.id);
  for (const { id } of other.legs) assert.equal((await account.order(id)).status, 'cancelled');
  assert.deepEqual((await account.state())!.open, {});
});

test('a replacement is for the remaining quantity, takes over the legs, and needs another client id', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: { bid: 100, ask: 100, last: 100, volume: 300 } });
  const limit = { symbol: 'AAPL', side: 'buy', quantity: '50', limitPrice: '100', timeInForce: 'gtc' } as const;
  const { order, legs } = await account.bracket(limit, { stop_loss: '90' });
  market.content();
  await account.mark();
  const replacing = await account.replace(order.id, { limitPrice: '101' }, 'mine');
  assert.deepEqual([replacing.quantity, replacing.replaces, replacing.limitPrice], ['20', order.id, '101']);
  assert.deepEqual(await account.order(order.id), { status: 'cancelled', quantity: '50', filled: '30' });
  assert.equal((await account.orders()).find(({ id }) => id === order.id).state.replacedBy, replacing.id);
  await assert.rejects(account.replace(order.id, { limitPrice: '102' }), { code: 'conflict' });
  await assert.rejects(account.replace(replacing.id, { limitPrice: '102' }, 'mine'), { code: 'conflict' });
  await assert.rejects(account.replace(replacing.id, { stopPrice: '102' }), { code: 'invalid' });
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(legs[0]!.id), { status: 'accepted', quantity: '50', filled: '0' });
  const leg = await account.replace(legs[0]!.id, { stopPrice: '99' });
  market.content({ AAPL: { bid: 99, ask: 99, last: 99, volume: 10_000 } });
  await account.mark();
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(leg.id), { status: 'filled', quantity: '50', filled: '50' });
  assert.equal(await account.held('AAPL'), '0');
});

test('a client id permanently belongs to one order; a refused order releases it', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100 });
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '1' } as const;
  await assert.rejects(account.place({ ...wanted, quantity: '99999' }, { clientOrderId: 'a' }), { code: 'invalid' });
  const placed = await account.place(wanted, { clientOrderId: 'a' });
  await assert.rejects(account.place(wanted, { clientOrderId: 'a' }), { code: 'conflict' });
  await account.cancel(placed.id);
  await assert.rejects(account.place(wanted, { clientOrderId: 'a' }), { code: 'conflict' });
  await assert.rejects(account.cancel(placed.id), { code: 'conflict' });
  const inTest = new PaperAccount(world, market, 'test');
  assert.equal((await inTest.place(wanted, { clientOrderId: 'a' })).mode, 'test');
  assert.equal((await account.orders()).length, 1);
});

test('the rest of an ioc order after the next content is cancelled, and an ioc market order needs an open session', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: { bid: 100, ask: 100, last: 100, volume: 300 } });
  const order = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '50', timeInForce: 'ioc' });
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(order.id), { status: 'cancelled', quantity: '50', filled: '30' });
  market.content({}, '2026-11-18T23:00:00Z');
  await assert.rejects(account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', timeInForce: 'ioc' }), ({ issues }: any) => {
    return issues[0].type === 'session_closed';
  });
});

test('a day order placed outside the session fills after the opening, and ends at the close of its session', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100 }, '2026-11-18T23:00:00Z');
  const order = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1' });
  const resting = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '95' });
  const lasting = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '96', timeInForce: 'gtc' });
  market.content({}, '2026-11-19T14:29:59Z');
  await account.mark();
  assert.equal((await account.order(order.id)).status, 'accepted');
  market.content({}, '2026-11-19T14:30:00Z');
  await account.mark();
  assert.equal((await account.order(order.id)).status, 'filled');
  market.wait(6.5 * 3_600_000 - 1);
  await account.mark();
  assert.equal((await account.order(resting.id)).status, 'accepted');
  market.wait(1);
  await account.mark();
  assert.deepEqual([(await account.order(resting.id)).status, (await account.order(lasting.id)).status], ['expired', 'accepted']);
});

test('risk checks include open orders, quotes must be fresh, and an order does not trade with a resting order of the same account', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100, 'BTC-USD': 50_000 }, '2026-11-20T15:00:00Z');
  const refusedAs = async (placing: Promise<unknown>) => placing.then(null, (error) => error.issues?.[0].type ?? error.code);
  account.limits = { ...account.limits, maxPositionSize: '25000' };
  await account.place({ symbol: 'AAPL', side: 'buy', quantity: '200', limitPrice: '99' });
  assert.equal(await refusedAs(account.place({ symbol: 'AAPL', side: 'buy', quantity: '51' })), 'max_position_size');
  assert.equal(await refusedAs(account.place({ symbol: 'AAPL', side: 'sell', quantity: '1', limitPrice: '99' })), 'wash_trade');
  assert.equal(await refusedAs(account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '110.01' })), 'price_collar');
  assert.equal(await refusedAs(account.place({ symbol: 'BTC-USD', side: 'sell', quantity: '0.1' })), 'no_shorts_in_crypto');
  market.wait(15_001);
  assert.equal(await refusedAs(account.place({ symbol: 'AAPL', side: 'buy', quantity: '1' })), 'conflict');
});

test('a hundred concurrent orders cannot exceed a limit together', async () => {
  const account = new PaperAccount(world, market);
  account.limits = { ...account.limits, maxPositionSize: '25000' };
  market.content({ AAPL: 100 });
  const all = Array.from({ length: 100 }, () => account.place({ symbol: 'AAPL', side: 'buy', quantity: '10', limitPrice: '100' }));
  const outcomes = await Promise.allSettled(all);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 25);
  assert.equal((await account.orders()).length, 25);
});
