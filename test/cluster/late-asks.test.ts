/** Asks between real nodes that the network delays and delivers after they were asked again by another path. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { planOf } from '../../src/cluster/placement-plan.ts';
import { AppError } from '../../src/errors.ts';
import { probeIdIn, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { Link } from '../support/link.ts';
import { probe, receiving } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

/** The later node dials and has the smaller name, so that its stream is kept: only the stream of a and b uses b's link. */
async function threeNodes(t: TestContext) {
  const cluster = await testCluster(t);
  const links: Record<string, Link> = {};
  const join = (name: string, receiveTimeoutMs: number): Promise<TestNode> =>
    cluster.join(name, {
      transport: { receiveTimeoutMs },
      dialledAt: async (port) => {
        const link = (links[name] = await Link.to({ host: '127.0.0.1', port }));
        t.after(() => link.close());
        return link.port;
      },
    });
  const c = await join('c', 60_000);
  const b = await join('b', 60_000);
  const a = await join('a', 2_000);
  await until(() => [a, b, c].every((node) => node.transport!.counters.peersUp === 2), 'all streams');
  const staysOnB = (shard: number) => b.placement.epochOf(shard) !== null && planOf(b.membership.view)[shard] === b.incarnation;
  await until(() => b.membership.view.members.length === 3 && b.owned().some(staysOnB), 'b to own something');
  return { a, b, c, links, onB: probeIdIn(staysOnB) };
}

test('a delayed command that was asked again and refused has no effect when it arrives', { skip: withoutRedis }, async (t) => {
  const { a, b, c, links, onB } = await threeNodes(t);
  const before = receiving.before;
  t.after(() => (receiving.before = before));
  await c.actors.ask(probe, onB, 'touch', null);
  await a.actors.ask(probe, onB, 'touch', null);
  receiving.before = () => {
    throw new AppError('conflict', 'Not now');
  };
  await until(() => a.transport!.counters.peersUp === 2, 'the stream of a and b');
  const tries = b.transport!.counters.asksReceived;
  const heal = links.b!.silence(undefined, ['to target']);
  // It stays silent: bytes for a stream that a has given up would reset the connection, and with it the try that is held back.
  links.b!.silence(undefined, ['to dialler']);
  assert.deepEqual(await outcomeOf(a.actors.ask(probe, onB, 'receive', 'late', { commandId: 'command' })), { refused: 'conflict' });
  assert.equal(b.transport!.counters.asksReceived, tries + 1, 'the try that came by way of c');
  receiving.before = before;
  heal();
  await until(() => b.transport!.counters.asksReceived === tries + 2, 'the try that was held back');
  await until(() => b.actors.pending.size === 0, 'its answer');
  assert.deepEqual((await c.actors.query(probe, onB, 'state', null))?.received ?? [], []);
});
