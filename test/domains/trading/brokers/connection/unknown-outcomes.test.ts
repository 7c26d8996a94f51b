/** How orders with an unknown outcome end: by a cancel, after a long outage of the broker, and at the end of the session. */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import pg from 'pg';
import { type Broker, BrokerWorld } from '../../../../support/broker-world.ts';
import { outcomeOf } from '../../../../support/runtime.ts';
import { until } from '../../../../support/until.ts';

let world: BrokerWorld;
before(async () => {
  world = await BrokerWorld.start();
});
after(() => world.stop());
afterEach(() => world.forget());

const fourDaysMs = 4 * 86_400_000;

const attentions = (broker: Broker) =>
  world.events(broker.accountId).flatMap(({ type, data }) => (type === 'trading.attention' ? [data.reason] : []));
const isAsked = (broker: Broker) => until(() => attentions(broker).includes('unknown_outcome'), 'attention');
/** Whole rounds that begin from now on. */
async function rounds(broker: Broker, count: number): Promise<void> {
  const listings = () => broker.server.requests.filter(({ path }) => path.endsWith('/positions') || path.endsWith('/accounts')).length;
  const before = listings();
  await until(() => listings() >= before + count + 1, `${count} rounds`);
}

/** The broker never gets it, because it is unreachable until the outcome is unknown. */
async function placeInTheDark(broker: Broker) {
  broker.server.dark = true;
  const { id } = await world.place(broker);
  await world.orderBecomes(id, ({ state }) => state.unknownOutcome, 'unknown');
  return id;
}

for (const name of ['alpaca', 'coinbase'] as const) {
  test(`${name}: a cancel before the lost post was sent again ends the order as cancelled, once look-ups and two rounds find it nowhere`, async () => {
    const broker = await world.connect(name);
    const id = await placeInTheDark(broker);
    const asked = await world.cancel(broker, id);
    assert.equal(asked.status, 'submitted');
    broker.server.dark = false;
    const { posts } = asked.outbound!;
    await isAsked(broker);
    assert.equal((await world.order(id)).status, 'submitted', 'not before the time of the look-ups is over');
    const order = await world.status(id, 'cancelled');
    assert.deepEqual([order.outbound!.posts, broker.server.orders.length], [posts, 0], 'nothing is sent after the cancel');
    // The symbol takes orders again.
    await world.status((await world.place(broker)).id, 'accepted');
  });
}

test('an order that ended as cancelled because the broker did not list it is cancelled at the broker if it appears there later', async () => {
  const broker = await world.connect('alpaca');
  broker.server.faults = ['lost'];
  broker.server.onMade = (order) => {
    order.hidden = true;
  };
  const { id } = await world.place(broker);
  await world.orderBecomes(id, ({ state }) => state.unknownOutcome, 'unknown');
  await world.cancel(broker, id);
  await world.status(id, 'cancelled');
  const there = world.at(broker, id)!;
  there.hidden = false;
  await until(() => there.state === 'cancelled', 'the cancel');
  broker.server.fill(there, 1, 100);
  await world.orderBecomes(id, ({ state }) => state.fills.quantity === '1', 'the late fill');
  assert.equal((await world.order(id)).status, 'cancelled');
  assert.equal(await world.held(broker), '1');
  assert.equal((await world.connection(broker)).halt, null);
});

for (const name of ['alpaca', 'tradier', 'coinbase'] as const) {
  test(`${name}: after an outage longer than the look-ups nothing is sent again, and the order is settled after its session`, async () => {
    const broker = await world.connect(name);
    const id = await placeInTheDark(broker);
    await isAsked(broker);
    const { posts } = (await world.order(id)).outbound!;
    broker.server.dark = false;
    await rounds(broker, 3);
    const order = await world.order(id);
    assert.deepEqual([order.status, order.state.unknownOutcome, order.outbound!.posts], ['submitted', true, posts]);
    assert.deepEqual(await outcomeOf(world.place(broker)), { refused: 'conflict' });
    world.aheadMs = fourDaysMs;
    const settled = await world.status(id, 'rejected');
    assert.equal(settled.state.rejectReason, 'the broker does not have the order');
    assert.deepEqual([broker.server.orders.length, (await world.connection(broker)).halt], [0, null]);
    await world.status((await world.place(broker)).id, 'accepted');
  });
}

test('tradier: a cancelled order with an unknown outcome stays unknown until the end of its session, because no look-up is a proof there', async () => {
  const broker = await world.connect('tradier');
  const id = await placeInTheDark(broker);
  await world.cancel(broker, id);
  broker.server.dark = false;
  await isAsked(broker);
  await rounds(broker, 3);
  assert.equal((await world.order(id)).status, 'submitted');
  world.aheadMs = fourDaysMs;
  await world.status(id, 'cancelled');
});

test('tradier: an order whose connection cannot be read in time is sent once it can be, and shows unknown_outcome meanwhile', async () => {
  const broker = await world.connect('tradier');
  const locking = new pg.Client({ connectionString: world.test.url });
  await locking.connect();
  try {
    await locking.query('begin');
    await locking.query('lock table broker_connection in access exclusive mode');
    await world.crash();
    const { id } = await world.place(broker);
    const waiting = await world.orderBecomes(id, ({ state }) => state.unknownOutcome, 'unknown');
    assert.deepEqual([waiting.status, waiting.outbound!.unknownSinceMs], ['submitted', null], 'nothing left');
    assert.notEqual(waiting.outbound!.unsentSinceMs, null);
  } finally {
    await locking.end();
  }
  await until(() => broker.server.posts.length > 0, 'the post');
  const [order] = broker.server.orders;
  const { state } = await world.status(order!.ourId!.replace('-', '_'), 'accepted');
  assert.deepEqual([state.unknownOutcome, broker.server.posts.length], [false, 1]);
});

test('an unlisted order whose fill changes the positions is not settled as absent: the connection is halted', async () => {
  const broker = await world.connect('tradier');
  broker.server.faults = ['lost'];
  broker.server.onMade = (order) => {
    order.hidden = true;
  };
  const { id } = await world.place(broker);
  await isAsked(broker);
  broker.server.fill(world.at(broker, id)!, Number(broker.terms.quantity), 100);
  world.aheadMs = fourDaysMs;
  await until(async () => (await world.connection(broker)).halt !== null, 'the halt');
  await rounds(broker, 3);
  assert.equal((await world.order(id)).status, 'submitted');
  assert.equal(attentions(broker).includes('position_mismatch'), true);
  // Listed at last it is found, booked once, and both sides agree.
  world.at(broker, id)!.hidden = false;
  await world.status(id, 'filled');
  assert.equal(await world.held(broker), broker.terms.quantity);
});
