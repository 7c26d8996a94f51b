/**
 * The shard of an order moves between two live nodes while the order is sent to its broker: it is sent once, and its new owner gets the
 * outcome, even if the answer or the waiting node is lost.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { shardOf } from '../../../../src/cluster/address.ts';
import { tradingActors } from '../../../../src/domains/trading/actors.ts';
import type { PlaceAnswer, VenueOrder } from '../../../../src/domains/trading/brokers/port.ts';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { tradingOrder, type VenueCalls } from '../../../../src/domains/trading/trading-order/messages.ts';
import { type TestNode, testCluster } from '../../../support/cluster-nodes.ts';
import { PaperAccount } from '../../../support/paper-account.ts';
import { withoutRedis } from '../../../support/redis.ts';
import type { TestRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';
import { until } from '../../../support/until.ts';

const options = { skip: withoutRedis };
const route = { brokerKey: 'brk_1', brokerName: 'alpaca', orderMode: 'paper', filledBy: 'broker' } as const;
const market = new ScriptedMarket('2026-11-18T15:00:00Z');
market.content({ AAPL: 100 });

/** A broker that answers posts when the test says so, and accepts each client id once. */
function heldBroker() {
  const posts: { ourId: string; body: string; answer(given: 'its own' | 'lost'): void }[] = [];
  const there = new Map<string, VenueOrder>();
  const take = (ourId: string): PlaceAnswer => {
    if (there.has(ourId)) return { kind: 'exists' };
    const brokerOrderId = `venue ${there.size}`;
    const about = { assetClass: 'equity', side: 'buy', terms: null, averagePrice: null, reason: null } as const;
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    there.set(ourId, { brokerOrderId, ourId, symbol: 'AAPL', state: 'working', filledQuantity: '0', ...about, ...times });
    return { kind: 'accepted', brokerOrderId, order: null };
  };
  const calls: VenueCalls = {
    place(_brokerId, body, signal) {
      const { promise, resolve } = Promise.withResolvers<PlaceAnswer>();
      const ourId: string = JSON.parse(body).client_order_id;
      const unknown: PlaceAnswer = { kind: 'unknown', reason: 'cut' };
      const answer = (given: 'its own' | 'lost') => {
        const own = take(ourId);
        resolve(given === 'its own' ? own : unknown);
      };
      posts.push({ ourId, body, answer });
      signal.addEventListener('abort', () => resolve(unknown));
      return promise;
    },
    async lookUp(_brokerId, { ourId }) {
      const order = there.get(ourId);
      return { kind: 'known', value: order === undefined ? { kind: 'absent' } : { kind: 'found', order } };
    },
    cancel: async () => ({ kind: 'requested' }),
  };
  return { posts, there, take, calls };
}

/** Two nodes, and an order of the first whose post has no answer yet; then everything is the second's. */
async function movedInAPost(t: TestContext) {
  const broker = heldBroker();
  const timing = { lookUpMs: 60_000, reconcileMs: 60_000 };
  const cluster = await testCluster(t, { actors: tradingActors({ market, venue: broker.calls, timing, timeoutMs: 10_000 }) });
  const a = await cluster.join('a');
  const b = await cluster.join('b');
  await cluster.settled();
  const at = (node: TestNode) => ({ actors: node.actors }) as TestRuntime;
  let account = new PaperAccount(at(a), market);
  while (a.placement.epochOf(shardOf(tradingAccount.kind, account.id)) === null) account = new PaperAccount(at(a), market);
  const { filledBy: _, ...figures } = route;
  await a.actors.ask(tradingAccount, account.id, 'adopt', { ...figures, cash: '50000', positions: [] });
  const { id } = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '10', limitPrice: '101' }, route);
  await until(() => broker.posts.length === 1, 'the post');
  await a.placement.leave(10_000);
  await until(() => b.owned().length === 1024, 'b to own everything');
  const order = async () => (await b.actors.query(tradingOrder, id, 'get', null))!;
  const accepted = async () => {
    await until(async () => (await order()).status === 'accepted', 'the acceptance');
    const { state, outbound } = await order();
    assert.deepEqual([state.brokerOrderId, state.unknownOutcome, outbound!.step], ['venue 0', false, 'known']);
    assert.equal((await b.actors.query(tradingAccount, account.id, 'get', null))!.open[id]!.unknown, false);
    assert.equal(broker.there.size, 1);
    assert.equal(new Set(broker.posts.map(({ body }) => body)).size, 1, 'the identical body alone');
  };
  return { broker, a, id, order, accepted };
}

test('the answer that the old owner gets is the outcome at the new one, and nothing is sent again', options, async (t) => {
  const { broker, order, accepted } = await movedInAPost(t);
  assert.equal((await order()).outbound!.step, 'posting');
  broker.posts[0]!.answer('its own');
  await accepted();
  assert.equal(broker.posts.length, 1);
});

test('after the old owner lost the answer, the new owner looks the order up', options, async (t) => {
  const { broker, accepted } = await movedInAPost(t);
  broker.posts[0]!.answer('lost');
  await accepted();
  assert.equal(broker.posts.length, 1);
});

test(
  'after the old owner died the outcome is unknown, and the new owner sends the same body only if the broker has no such order',
  options,
  async (t) => {
    for (const isTaken of [true, false])
      await t.test(isTaken ? 'the broker has it' : 'the broker never got it', async (t) => {
        const { broker, a, id, accepted } = await movedInAPost(t);
        if (isTaken) broker.take(id);
        await a.kill();
        if (!isTaken) {
          await until(() => broker.posts.length === 2, 'the second post');
          broker.posts[1]!.answer('its own');
        }
        await accepted();
        assert.equal(broker.posts.length, isTaken ? 1 : 2);
      });
  },
);
