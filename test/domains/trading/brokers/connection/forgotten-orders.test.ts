/** Orders that a broker accepted and does not have any more. */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import { ForgottenOrders } from '../../../../../src/domains/trading/brokers/connection/forgotten-orders.ts';
import { type Broker, BrokerWorld } from '../../../../support/broker-world.ts';
import { until } from '../../../../support/until.ts';

let world: BrokerWorld;
before(async () => {
  world = await BrokerWorld.start({ timeoutMs: 10_000 });
});
after(() => world.stop());
afterEach(() => world.forget());

const attentions = (broker: Broker) =>
  world.events(broker.accountId).flatMap(({ type, data }) => (type === 'trading.attention' ? [data] : []));

/** Accepted, and then gone from the broker. */
async function forgotten(broker: Broker) {
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  const there = world.at(broker, id)!;
  broker.server.orders.splice(broker.server.orders.indexOf(there), 1);
  return { id, there };
}

for (const name of ['alpaca', 'tradier', 'coinbase'] as const) {
  test(`${name}: an order that the broker has forgotten ends with an unknown outcome, an event and a reason`, async () => {
    const broker = await world.connect(name);
    const { id } = await forgotten(broker);
    const order = await world.status(id, 'cancelled');
    assert.equal(order.state.unknownOutcome, true);
    assert.match(order.state.rejectReason ?? '', /does not have it any more/);
    await until(() => attentions(broker).length > 0, 'the event');
    assert.deepEqual(
      attentions(broker).map(({ reason, order_id }) => [reason, order_id]),
      [['lost_order', id]],
    );
    // The symbol takes orders again.
    await world.status((await world.place(broker)).id, 'accepted');
  });
}

test('a forgotten order is not ended while the positions show a fill of it, or while the broker lists no fills', async () => {
  const broker = await world.connect('alpaca');
  world.alpaca.unlisted = true;
  const { id, there } = await forgotten(broker);
  world.alpaca.fill(there, 1, 100);
  await until(async () => world.alpaca.requests.filter(({ path }) => path === `/v2/orders/${there.id}`).length > 5, 'queries');
  assert.equal((await world.order(id)).status, 'accepted');
  world.alpaca.unlisted = false;
  const order = await world.status(id, 'cancelled');
  assert.deepEqual([order.state.fills.quantity, await world.held(broker)], ['1', '1']);
});

test('a forgotten order that can still be cancelled goes on, and ends as the broker says', async () => {
  const broker = await world.connect('alpaca');
  world.alpaca.hidesOrders = true;
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  world.alpaca.orders[0]!.hidden = true;
  await until(() => world.alpaca.orders[0]!.state === 'cancelled', 'the cancel');
  world.alpaca.hidesOrders = false;
  const order = await world.status(id, 'cancelled');
  assert.equal(order.state.unknownOutcome, false);
});

test('an order that ended as forgotten and appears at the broker again is cancelled there', async () => {
  const broker = await world.connect('alpaca');
  const { id, there } = await forgotten(broker);
  await world.status(id, 'cancelled');
  world.alpaca.orders.push(there);
  await until(() => there.state === 'cancelled', 'the cancel');
  assert.equal((await world.order(id)).status, 'cancelled');
});

test('tradier: an order that is answered with another status than ok, and does not exist, is not accepted', async () => {
  const broker = await world.connect('tradier');
  broker.server.faults = [{ status: 200, json: { order: { id: 99_999, status: 'error' } } }];
  const { id } = await world.place(broker);
  const order = await world.orderBecomes(id, ({ state }) => state.unknownOutcome, 'unknown');
  assert.deepEqual([order.status, order.state.brokerOrderId, broker.server.posts.length], ['submitted', null, 1]);
});

test('an absent order is queried after growing pauses, and is overdue after the time of lookups and a regular pause', () => {
  const orders = new ForgottenOrders({ pollMs: 1_000, reconcileMs: 8_000, lookUpMs: 20_000 });
  const queriedAt: number[] = [];
  for (let nowMs = 0; nowMs <= 32_000; nowMs += 1_000) {
    if (orders.isResting('a', nowMs)) continue;
    queriedAt.push(nowMs);
    orders.update({ queried: ['a', 'b'], absent: ['a'] }, nowMs);
  }
  assert.deepEqual(queriedAt, [0, 1_000, 3_000, 7_000, 15_000, 23_000, 31_000]);
  assert.deepEqual([orders.overdue(19_999), orders.overdue(20_000)], [[], ['a']]);
  orders.update({ queried: ['a'], absent: [] }, 32_000);
  assert.deepEqual([orders.overdue(60_000), orders.isResting('a', 32_000)], [[], false]);
});
