/** Orders at the three brokers: real actors and watchers on a real database, with test servers over HTTP and WebSockets. */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import { brokerConnection } from '../../../../../src/domains/trading/brokers/connection/messages.ts';
import { tradingAccount } from '../../../../../src/domains/trading/trading-account/messages.ts';
import type { Fault } from '../../../../support/broker-stand-in.ts';
import { type Broker, BrokerWorld } from '../../../../support/broker-world.ts';
import { outcomeOf } from '../../../../support/runtime.ts';
import { until } from '../../../../support/until.ts';

/** Where every call is answered, on a busy machine too. */
let world: BrokerWorld;
/** Where calls remain unanswered for longer than this. */
let hurried: BrokerWorld;
const hurry = { timeoutMs: 1_000, lookUpMs: 3_000 };
before(async () => {
  [world, hurried] = await Promise.all([BrokerWorld.start({ timeoutMs: 10_000 }), BrokerWorld.start(hurry)]);
});
after(() => Promise.all([world.stop(), hurried.stop()]));
afterEach(() => {
  world.forget();
  hurried.forget();
});

const names = ['alpaca', 'tradier', 'coinbase'] as const;
const halfOf = ({ terms }: Broker) => Number(terms.quantity) / 2;
const priceOf = ({ name }: Broker) => (name === 'coinbase' ? 50_000 : 100);
const filled = (order: { state: { fills: { quantity: string } } }) => order.state.fills.quantity;
/** The sequence of events of one order. */
const eventTypesOf = (broker: Broker, orderId: string) =>
  world
    .events(broker.accountId)
    .filter(({ type, data }) => type.startsWith('trade.') && data.order_id === orderId)
    .map(({ type }) => type.slice('trade.'.length));

/** Events arrive shortly after their commit is visible. */
async function assertEvents(broker: Broker, orderId: string, expected: string[]): Promise<void> {
  await until(() => eventTypesOf(broker, orderId).length >= expected.length, 'the events');
  assert.deepEqual(eventTypesOf(broker, orderId), expected);
}

/** Accepted by the broker, and known there as ours. */
async function accepted(broker: Broker) {
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  return { id, there: world.at(broker, id)! };
}

for (const name of names) {
  test(`${name}: an order is submitted, accepted, and filled in two parts, each booked and notified once`, async () => {
    const broker = await world.connect(name);
    const { id, there } = await accepted(broker);
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    await world.status(id, 'partially_filled');
    assert.equal(await world.held(broker), String(halfOf(broker)));
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    const order = await world.status(id, 'filled');
    assert.equal(filled(order), broker.terms.quantity);
    assert.equal(order.state.brokerOrderId, there.id);
    assert.equal(await world.held(broker), broker.terms.quantity);
    await assertEvents(broker, id, ['submitted', 'accepted', 'partially_filled', 'filled']);
    assert.equal(broker.server.posts.length, 1);
  });

  test(`${name}: a cancel is a request until the broker ends the order, and fills meanwhile are booked`, async () => {
    const broker = await world.connect(name);
    const { id, there } = await accepted(broker);
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    const asked = await world.cancel(broker, id);
    assert.notEqual(asked.state.cancelRequestedAtMs, null);
    const order = await world.status(id, 'cancelled');
    assert.equal(filled(order), String(halfOf(broker)));
    assert.equal(await world.held(broker), String(halfOf(broker)));
    assert.equal(there.state, 'cancelled');
  });

  test(`${name}: a post that is cut, lost, late, or answered with 5xx or without JSON makes at most one order, which is found`, async () => {
    const broker = await hurried.connect(name);
    const faults: Fault[] = ['lost', 'hang', { lateMs: 2 * hurry.timeoutMs }];
    // What certainly made an order, and is not known here.
    for (const fault of faults) {
      broker.server.faults = [fault];
      const { id } = await hurried.place(broker);
      const order = await hurried.orderBecomes(id, ({ state }) => state.brokerOrderId !== null, JSON.stringify(fault));
      assert.equal(order.status, 'accepted', JSON.stringify(fault));
      assert.equal(order.state.unknownOutcome, false);
      assert.equal(broker.server.orders.filter(({ ourId }) => ourId?.replace('-', '_') === id).length, 1);
      broker.server.fill(hurried.at(broker, id)!, Number(broker.terms.quantity), priceOf(broker));
      await hurried.status(id, 'filled');
    }
    assert.equal(await hurried.held(broker), String(Number(broker.terms.quantity) * faults.length));
  });

  test(`${name}: while an outcome is unknown the symbol accepts no other order, and a person is asked after the look-ups`, async () => {
    const broker = await world.connect(name);
    // The broker never got it, and does not answer any more.
    broker.server.faults = ['cut'];
    broker.server.dark = false;
    const { id } = await world.place(broker);
    await until(() => broker.server.posts.length > 0);
    broker.server.dark = true;
    await world.orderBecomes(id, ({ state }) => state.unknownOutcome, 'unknown');
    assert.deepEqual(await outcomeOf(world.place(broker)), { refused: 'conflict' });
    await until(
      () => world.events(broker.accountId).some(({ type, data }) => type === 'trading.attention' && data.reason === 'unknown_outcome'),
      'attention',
    );
    assert.equal((await world.order(id)).status, 'submitted');
    assert.equal(broker.server.orders.length, 0);
  });

  test(`${name}: after a "later" answer the same body is sent again, and other refusals end the order with the broker's text`, async () => {
    const broker = await world.connect(name);
    broker.server.faults = [{ status: 429, headers: { 'retry-after': '0.3' } }];
    const { id } = await accepted(broker);
    assert.equal(broker.server.posts.length, 2);
    assert.equal(broker.server.posts[0]!.body, broker.server.posts[1]!.body);
    broker.server.fill(world.at(broker, id)!, Number(broker.terms.quantity), priceOf(broker));
    await world.status(id, 'filled');
    broker.server.faults = [{ status: 400, json: { message: 'market is halted' } }];
    const refused = await world.status((await world.place(broker)).id, 'rejected');
    assert.equal(refused.state.rejectReason, 'market is halted');
    assert.equal(await world.held(broker), broker.terms.quantity);
  });

  test(`${name}: an unreachable broker and a lost stream delay fills but lose none`, async () => {
    const broker = await world.connect(name);
    const { id, there } = await accepted(broker);
    broker.server.dark = true;
    for (const socket of broker.server.sockets) socket.cut();
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    // Longer than several polls, whole rounds and the time of one call.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await world.held(broker), '0');
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    broker.server.dark = false;
    await world.status(id, 'filled');
    assert.equal(await world.held(broker), broker.terms.quantity);
    assert.equal((await world.connection(broker)).halt, null);
  });

  test(`${name}: existing orders, positions and cash are taken over and count; a later order from outside is adopted once`, async () => {
    const first = await world.connect(name);
    const { id, there } = await accepted(first);
    first.server.fill(there, halfOf(first), priceOf(first));
    await world.status(id, 'partially_filled');
    // Another account connects to the same one: everything of the first is foreign to it.
    const other = await world.connect(name);
    assert.equal(await world.held(other), String(halfOf(other)));
    const positions = ({ accountId, row }: Broker) =>
      world.test.actors.query(tradingAccount, accountId, 'positions', { brokerKey: row.id });
    const isExternal = async (of: Broker) => (await positions(of)).map(({ external }) => external);
    assert.deepEqual([await isExternal(first), await isExternal(other)], [[false], [true]], 'what was taken over is external');
    const external = async () => world.test.sql('select * from trading_order where broker_key = $1 and external', [other.row.id]);
    await until(async () => (await external()).length === 1, 'the foreign order');
    // A round that comes before the order was taken over does not adopt it as a new one, whose fills the positions lack.
    assert.equal((await world.connection(other)).earlier.includes(there.id), true);
    first.server.fill(there, halfOf(first), priceOf(first));
    await until(async () => (await external())[0]!.status === 'filled', 'the end of the foreign order');
    await until(async () => (await world.held(other)) === other.terms.quantity, 'its fill');
    const later = await accepted(first);
    await until(async () => (await external()).length === 2, 'the second foreign order');
    first.server.fill(later.there, halfOf(first), priceOf(first));
    await world.status(later.id, 'partially_filled');
    await until(async () => Number(await world.held(other)) > Number(await world.held(first)) - halfOf(first) * 1.5, 'its fill');
    const summary = await world.test.actors.query(brokerConnection, other.row.id, 'get', null);
    assert.equal(summary!.halt, null);
  });

  test(`${name}: a replacement is sent once the broker has ended the old order, for what remains of it`, async () => {
    const broker = await world.connect(name);
    const { id, there } = await accepted(broker);
    broker.server.fill(there, halfOf(broker), priceOf(broker));
    await world.status(id, 'partially_filled');
    const next = await world.replace(broker, id, {});
    const old = await world.status(id, 'cancelled');
    assert.deepEqual([old.state.replacedBy, filled(old), there.state], [next.id, String(halfOf(broker)), 'cancelled']);
    const order = await world.status(next.id, 'accepted');
    assert.equal(order.quantity, String(halfOf(broker)));
    assert.equal(world.at(broker, next.id)!.quantity, halfOf(broker));
    broker.server.fill(world.at(broker, next.id)!, halfOf(broker), priceOf(broker));
    await world.status(next.id, 'filled');
    assert.equal(await world.held(broker), broker.terms.quantity);
    assert.equal(broker.server.posts.length, 2);
  });

  test(`${name}: a cancel during an unknown outcome is executed when the order is found`, async () => {
    const broker = await world.connect(name);
    broker.server.faults = ['lost'];
    broker.server.onMade = (order) => {
      order.hidden = true;
    };
    // A repeat of the post would find it at Coinbase.
    const { id } = await world.place(broker);
    await until(() => broker.server.orders.length === 1);
    await world.orderBecomes(id, ({ state }) => state.unknownOutcome || state.brokerOrderId !== null, 'what came of it');
    const asked = await world.cancel(broker, id);
    assert.notEqual(asked.state.cancelRequestedAtMs, null);
    broker.server.orders[0]!.hidden = false;
    await world.status(id, 'cancelled');
    assert.equal(broker.server.orders.length, 1);
    assert.equal(broker.server.orders[0]!.state, 'cancelled');
  });
}

for (const name of names) {
  test(`${name}: more than was ordered is booked as the broker filled it, and reported once`, async () => {
    const broker = await world.connect(name);
    const { id, there } = await accepted(broker);
    broker.server.fill(there, 3 * halfOf(broker), priceOf(broker));
    const order = await world.status(id, 'filled');
    assert.equal(Number(filled(order)), 3 * halfOf(broker));
    assert.equal(Number(await world.held(broker)), 3 * halfOf(broker));
    const reported = () => world.events(broker.accountId).filter(({ data }) => data.reason === 'overfilled');
    await until(() => reported().length > 0, 'the event');
    assert.deepEqual(
      reported().map(({ type, data }) => [type, data.order_id]),
      [['trading.attention', id]],
    );
    assert.equal((await world.connection(broker)).halt, null);
  });
}

test('a broker that wants no orders for a day gets none later: the order is rejected, with the reason', async () => {
  const broker = await world.connect('tradier');
  broker.server.faults = [{ status: 429, headers: { 'retry-after': '86400' } }];
  const order = await world.status((await world.place(broker)).id, 'rejected');
  assert.equal(order.state.rejectReason, 'the broker takes no orders for 86400 s');
  assert.equal(broker.server.posts.length, 1);
});

test('alpaca: fills that are listed twice, late or reordered are booked once, also after the order has ended', async () => {
  const broker = await world.connect('alpaca');
  const { id, there } = await accepted(broker);
  for (const quantity of [1, 2]) world.alpaca.fill(there, quantity, 100);
  world.alpaca.fills.reverse();
  world.alpaca.fills.push({ ...world.alpaca.fills[0]! });
  await world.orderBecomes(id, (order) => filled(order) === '3', 'three');
  await world.cancel(broker, id);
  await world.status(id, 'cancelled');
  // The broker corrects itself: there was one more.
  there.filled = 4;
  world.alpaca.fills.push({ ...world.alpaca.fills[0]!, id: 'trade-late', quantity: 1, atMs: Date.now() });
  const late = await world.orderBecomes(id, (order) => filled(order) === '4', 'the late fill');
  assert.equal(late.status, 'cancelled');
  assert.equal(await world.held(broker), '4');
  assert.deepEqual(eventTypesOf(broker, id).filter((type) => type === 'cancelled').length, 1);
});

test('tradier: an order that is accepted with 200 and rejected afterwards is rejected, with the reason', async () => {
  const broker = await world.connect('tradier');
  world.tradier.rejectsWith = 'Buying power is too low';
  const order = await world.status((await world.place(broker)).id, 'rejected');
  assert.equal(order.state.rejectReason, 'Buying power is too low');
  await assertEvents(broker, order.id, ['submitted', 'rejected']);
});

test('coinbase: success false is a rejection; a used id is the order with this id', async () => {
  const broker = await world.connect('coinbase');
  world.coinbase.refusesWith = 'INSUFFICIENT_FUND';
  const order = await world.status((await world.place(broker)).id, 'rejected');
  assert.equal(order.state.rejectReason, 'the order was refused');
  assert.equal(world.coinbase.orders.length, 0);
});

test('alpaca: while it lists no fills, the filled quantities of orders are booked, and not again when fills are listed', async () => {
  world.alpaca.unlisted = true;
  const broker = await world.connect('alpaca');
  const { id, there } = await accepted(broker);
  world.alpaca.fill(there, 1, 100);
  await world.status(id, 'partially_filled');
  world.alpaca.fill(there, 3, 100);
  const order = await world.status(id, 'filled');
  assert.equal(filled(order), '4');
  world.alpaca.unlisted = false;
  await until(async () => (await world.connection(broker)).cursor !== null, 'a whole round');
  assert.equal(filled(await world.order(id)), '4');
  assert.equal(await world.held(broker), '4');
  await assertEvents(broker, id, ['submitted', 'accepted', 'partially_filled', 'filled']);
});

test("alpaca: a cancel without effect is repeated, notifies a person once, and the order keeps the broker's state", async () => {
  const broker = await world.connect('alpaca');
  const { id, there } = await accepted(broker);
  world.alpaca.ignoresCancels = true;
  await world.cancel(broker, id);
  const stuck = () => world.events(broker.accountId).filter(({ data }) => data.reason === 'stuck_cancel');
  await until(() => stuck().length > 0, 'attention');
  assert.deepEqual([stuck()[0]!.data.order_id, stuck()[0]!.data.symbol], [id, 'AAPL']);
  world.alpaca.fill(there, 1, 100);
  assert.equal((await world.status(id, 'partially_filled')).status, 'partially_filled');
  world.alpaca.ignoresCancels = false;
  assert.equal(filled(await world.status(id, 'cancelled')), '1');
  const requests = world.alpaca.requests.filter(({ method }) => method === 'DELETE').length;
  assert.ok(requests >= 3, `asked ${requests} times`);
  assert.equal(stuck().length, 1);
});
