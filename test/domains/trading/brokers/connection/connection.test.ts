/** Connections to brokers: credentials, differing figures, and reasons to refuse orders. Real actors, test servers over HTTP. */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import { brokerConnection } from '../../../../../src/domains/trading/brokers/connection/messages.ts';
import { removeConnection } from '../../../../../src/domains/trading/brokers/connection/remove.ts';
import { shownMode } from '../../../../../src/domains/trading/orders/order-view.ts';
import { newId } from '../../../../../src/ids.ts';
import { alpacaKeys } from '../../../../support/alpaca-server.ts';
import { type Broker, BrokerWorld, brokerTiming } from '../../../../support/broker-world.ts';
import { outcomeOf } from '../../../../support/runtime.ts';
import { until } from '../../../../support/until.ts';

let world: BrokerWorld;
before(async () => {
  world = await BrokerWorld.start({ timeoutMs: 10_000 });
});
after(() => world.stop());
afterEach(() => world.forget());

const attentions = (broker: Broker) =>
  world
    .events(broker.accountId)
    .filter(({ type }) => type === 'trading.attention')
    .map(({ data }) => data);
const ownerOf = ({ accountId }: Broker) => ({ accountId, mode: 'live' as const });
const known = async (broker: Broker) => (await world.connections.of(ownerOf(broker))).find(({ id }) => id === broker.row.id);

test('credentials are stored encrypted, and deleted with the connection', async () => {
  const broker = await world.connect('alpaca');
  const stored = async () => (await world.test.sql('select * from broker_connection where id = $1', [broker.row.id]))[0]!;
  assert.doesNotMatch(JSON.stringify(await stored()), new RegExp(`${alpacaKeys.apiSecret}|${alpacaKeys.apiKey}`));
  await world.test.actors.ask(brokerConnection, broker.row.id, 'remove', null);
  assert.equal((await stored()).credentials, '');
  assert.equal(await world.test.actors.query(brokerConnection, broker.row.id, 'get', null), null);
  assert.deepEqual(await outcomeOf(world.test.actors.ask(brokerConnection, broker.row.id, 'remove', null)), { refused: 'not_found' });
});

test('if the key of the credentials is lost, nothing is sent, and other work continues', async () => {
  const broker = await world.connect('alpaca');
  const other = world.connectionsWith('another key of thirty-two characters!');
  const { signal } = new AbortController();
  assert.equal((await other.calls.place(broker.row.id, '{}', signal)).kind, 'not_sent');
  assert.equal((await other.calls.cancel(broker.row.id, 'x', signal)).kind, 'unknown');
  assert.equal((await other.figures(broker.row)).kind, 'unknown');
  assert.equal(world.alpaca.posts.length, 0);
});

test('the metric counts orders that are open at brokers, also of accounts without new prices', async () => {
  const broker = await world.connect('alpaca');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  await until(() => world.stats.openAtBrokers === 1, 'the count');
  const [account] = await world.test.sql('select watched from trading_account where account_id = $1', [broker.accountId]);
  assert.equal(account!.watched, false);
  broker.server.fill(world.at(broker, id)!, 4, 100);
  await world.status(id, 'filled');
  await until(() => world.stats.openAtBrokers === 0, 'no more');
});

test('a connection with an open order is not removed', async () => {
  const broker = await world.connect('tradier');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  const remove = () => outcomeOf(world.test.actors.ask(brokerConnection, broker.row.id, 'remove', null));
  assert.deepEqual(await remove(), { refused: 'conflict' });
  await world.cancel(broker, id);
  await world.status(id, 'cancelled');
  assert.equal(await remove(), null);
});

test('a broker that does not answer is retried, and then its figures are taken over', async () => {
  world.alpaca.dark = true;
  world.alpaca.cash = 5_000;
  const broker = await world.add('alpaca');
  assert.deepEqual([broker.row.status, broker.row.adopted, shownMode(broker.row)], ['error', false, 'paper']);
  assert.equal((await known(broker))!.status, 'error');
  world.alpaca.dark = false;
  await until(async () => (await world.connection(broker)).status === 'connected', 'the connection');
  assert.equal((await world.connection(broker)).adopted, true);
  assert.equal((await world.summary(broker)).cash, '5000');
  world.alpaca.cash = 100_000;
});

test('credentials that are refused later are reported once and block orders, until they are accepted again', async () => {
  const broker = await world.connect('alpaca');
  // Its polls do not repeat the credentials.
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  world.alpaca.locked = true;
  await until(async () => (await known(broker))!.status === 'error', 'the error');
  // It is retried in each round, not at once, for any text of the broker.
  const tried = () => world.alpaca.requests.filter(({ path }) => path === '/v2/account').length;
  const before = tried();
  const begunAtMs = performance.now();
  await until(() => tried() >= before + 6, 'six more tries');
  // Five whole pauses lie between them. The broker may have counted the first try up to a pause late, so four are certain.
  const tookMs = performance.now() - begunAtMs;
  assert.ok(tookMs >= 4 * brokerTiming.reconcileMs, `six tries within ${Math.round(tookMs)} ms`);
  world.alpaca.locked = false;
  await until(async () => (await known(broker))!.status === 'connected', 'the connection');
  assert.deepEqual(
    attentions(broker).map(({ reason, broker_id }) => [reason, broker_id]),
    [['credentials', broker.row.id]],
  );
});

test('a difference found by two rounds halts the connection, is reported once, and ends when a person takes over the figures', async () => {
  const broker = await world.connect('coinbase');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  world.coinbase.coins.set('BTC', 0.5);
  await until(async () => (await known(broker))!.halted, 'the halt');
  const expected = { mode: 'live', reason: 'position_mismatch', symbol: 'BTC-USD', ours: 0, theirs: 0.5, broker_id: broker.row.id };
  await until(() => attentions(broker).length > 0, 'the event');
  assert.deepEqual(attentions(broker), [expected]);
  // A halt stops orders, never bookkeeping.
  world.coinbase.fill(world.at(broker, id)!, 0.02, 50_000);
  await world.status(id, 'filled');
  assert.equal(await world.held(broker), '0.02');
  await world.connections.resume(ownerOf(broker), broker.row.id, 'user_1');
  assert.equal((await known(broker))!.halted, false);
  assert.equal(await world.held(broker), '0.52');
  const resumedNow = () => world.events(broker.accountId).filter(({ type }) => type === 'trading.resumed');
  await until(() => resumedNow().length > 0, 'the event');
  const resumed = resumedNow();
  assert.deepEqual(
    resumed.map(({ data }) => data),
    [{ mode: 'live', by: 'user_1', broker_id: broker.row.id }],
  );
  assert.deepEqual(await outcomeOf(world.connections.resume({ accountId: 'acct_other', mode: 'live' }, broker.row.id, 'x')), {
    refused: 'not_found',
  });
});

test('a paper connection to Coinbase is a paper account of this service: nothing is posted to Coinbase', async () => {
  const broker = await world.connect('coinbase', 'paper');
  assert.equal(broker.row.filledBy, 'embedded');
  assert.equal((await world.summary(broker)).cash, '100000');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  assert.equal(world.coinbase.posts.length, 0);
});

for (const name of ['alpaca', 'tradier', 'coinbase'] as const) {
  test(`${name}: connecting the same account again replaces revoked credentials; the connection, its orders and positions go on`, async () => {
    const broker = await world.connect(name);
    const { id } = await world.place(broker);
    await world.status(id, 'accepted');
    broker.server.rotateKeys();
    await until(async () => (await known(broker))!.status === 'error', 'the error');
    const there = world.at(broker, id)!;
    broker.server.fill(there, there.quantity / 2, 100);
    const { row, isNew } = await world.connectTo(name, broker.accountId);
    assert.deepEqual([row.id, isNew, row.status, row.error], [broker.row.id, false, 'connected', null]);
    await world.status(id, 'partially_filled');
    assert.equal(Number(await world.held(broker)), there.quantity / 2);
    await world.cancel(broker, id);
    await world.status(id, 'cancelled');
    assert.equal((await world.connections.of(ownerOf(broker))).length, 1);
    assert.equal((await known(broker))!.status, 'connected');
  });

  test(`${name}: an account of the broker has one connection, also if it is connected several times at once`, async () => {
    const broker = await world.connect(name);
    const again = await Promise.all([world.connectTo(name, broker.accountId), world.connectTo(name, broker.accountId)]);
    assert.deepEqual(
      again.map(({ row, isNew }) => [row.id, isNew]),
      [
        [broker.row.id, false],
        [broker.row.id, false],
      ],
    );
    const { id } = await world.place(broker);
    await world.status(id, 'accepted');
    const other = await world.add(name, broker.row.orderMode);
    const both = await Promise.all([world.connectTo(name, other.accountId), world.connectTo(name, other.accountId)]);
    assert.deepEqual(new Set(both.map(({ row }) => row.id)), new Set([other.row.id]));
    assert.equal((await world.connections.of(ownerOf(broker))).length, 1);
  });
}

test('two requests that connect an account at the same time make one connection', async () => {
  const accountId = newId('acct_', null);
  const both = await Promise.all([world.connectTo('alpaca', accountId), world.connectTo('alpaca', accountId)]);
  assert.deepEqual(both.map(({ isNew }) => isNew).toSorted(), [false, true]);
  assert.equal(both[0].row.id, both[1].row.id);
});

test('another account of the same broker is another connection', async () => {
  const broker = await world.connect('alpaca');
  world.alpaca.accountId = '904837e3-0000-47ec-b432-046db621571b';
  const { row, isNew } = await world.connectTo('alpaca', broker.accountId);
  assert.equal(isNew, true);
  assert.notEqual(row.id, broker.row.id);
});

test('a connection made while the broker did not answer takes nothing over if its account is connected already', async () => {
  const broker = await world.connect('alpaca');
  world.alpaca.dark = true;
  const { row, isNew } = await world.connectTo('alpaca', broker.accountId);
  assert.deepEqual([isNew, row.status], [true, 'error']);
  world.alpaca.dark = false;
  const second = async () => (await world.test.actors.query(brokerConnection, row.id, 'get', null))!;
  await until(async () => (await second()).error?.includes(broker.row.id) === true, 'the reason');
  assert.deepEqual([(await second()).adopted, (await second()).status], [false, 'error']);
  await world.test.actors.ask(brokerConnection, broker.row.id, 'remove', null);
  await until(async () => (await second()).status === 'connected', 'the connection');
});

test('a connection with refused credentials can be removed: its open orders end with an unknown outcome, and others only end', async () => {
  const broker = await world.connect('alpaca');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  const next = await world.replace(broker, id, { quantity: '3' });
  world.alpaca.ignoresCancels = true;
  world.alpaca.rotateKeys();
  await until(async () => (await known(broker))!.status === 'error', 'the error');
  await removeConnection(world.test.actors, await world.connection(broker));
  const [lost, waiting] = await Promise.all([world.order(id), world.order(next.id)]);
  assert.deepEqual(
    [lost.status, lost.state.unknownOutcome, waiting.status, waiting.state.unknownOutcome],
    ['cancelled', true, 'cancelled', false],
  );
  assert.match(lost.state.rejectReason ?? '', /not known/);
  await until(() => attentions(broker).some(({ reason, order_id }) => reason === 'lost_order' && order_id === id), 'the event');
  assert.equal(await world.test.actors.query(brokerConnection, broker.row.id, 'get', null), null);
  // The order at the broker is an external one for the next connection.
  const { row, isNew } = await world.connectTo('alpaca', broker.accountId);
  assert.equal(isNew, true);
  const external = () => world.test.sql('select status from trading_order where broker_key = $1 and external', [row.id]);
  await until(async () => (await external()).length === 1, 'the order');
});
