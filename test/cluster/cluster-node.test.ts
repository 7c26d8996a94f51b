/** Several nodes: ownership of shards, their moves, and their owners after a node leaves, dies, becomes silent or does not reach others. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { planOf } from '../../src/cluster/placement-plan.ts';
import { probeIdIn, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis };

test('nodes that start together own all shards as planned, and every node answers for every actor', options, async (t) => {
  const cluster = await testCluster(t);
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => cluster.join(name)));
  await cluster.settled();
  const plan = planOf(a!.membership.view);
  const rows = await cluster.sql('select owner from shard order by shard');
  assert.deepEqual(
    rows.map(({ owner }) => owner),
    plan,
  );
  for (const asker of [a!, b!, c!]) {
    for (const owner of [a!, b!, c!]) {
      const id = probeIdIn((shard) => plan[shard] === owner.incarnation);
      await asker.actors.ask(probe, id, 'add', { n: 1 });
    }
  }
  assert.deepEqual(await cluster.sql('select value from probe'), [{ value: 3 }, { value: 3 }, { value: 3 }]);
});

test('a node that joins gets its share of shards, and no other shards move', options, async (t) => {
  const cluster = await testCluster(t);
  await cluster.join('a');
  await cluster.join('b');
  await cluster.settled();
  const before = await cluster.sql('select owner from shard order by shard');
  const c = await cluster.join('c');
  await cluster.settled();
  const after = await cluster.sql('select owner from shard order by shard');
  const plan = planOf(c.membership.view);
  after.forEach(({ owner }, shard) => {
    assert.equal(owner, plan[shard]);
    assert.ok(owner === before[shard].owner || owner === c.incarnation);
  });
});

test('when a node leaves under load, no ask fails and it owns no shard at its end', options, async (t) => {
  const cluster = await testCluster(t);
  const a = await cluster.join('a');
  const b = await cluster.join('b');
  const c = await cluster.join('c');
  await cluster.settled();
  const load = startLoad([a, c]);
  await load.rounds(2);
  await b.leave();
  await load.rounds(2);
  const asked = await load.end();
  await cluster.settled();
  assert.deepEqual(await cluster.sql('select sum(value)::int as sum from probe'), [{ sum: asked }]);
  assert.deepEqual(Object.keys(await cluster.shares()).sort(), ['a', 'c']);
});

test('a killed node is proven dead, and its actors answer on the other nodes', options, async (t) => {
  const cluster = await testCluster(t, { leaseMs: 60_000 });
  const a = await cluster.join('a');
  const b = await cluster.join('b');
  const c = await cluster.join('c');
  await cluster.settled();
  const gone: string[] = [];
  a.placement.onIncarnationEnded((incarnation) => gone.push(incarnation));
  const id = probeIdIn((shard) => b.placement.epochOf(shard) !== null);
  await a.actors.ask(probe, id, 'add', { n: 1 });
  assert.equal(a.placement.isAlive(b.incarnation), true);
  await b.kill();
  assert.equal(await c.actors.ask(probe, id, 'add', { n: 1 }), 2);
  await cluster.settled();
  assert.deepEqual(gone, [b.incarnation]);
  assert.equal(a.placement.isAlive(b.incarnation), false);
  assert.ok(cluster.lines.some(({ message }) => message.startsWith('a node has failed')));
});

/** Asks of all nodes all the time; fails at the end where any ask failed. */
function startLoad(nodes: TestNode[]) {
  let stopped = false;
  let asked = 0;
  let round = 0;
  const failures: unknown[] = [];
  const work = nodes.map(async (node) => {
    for (let n = 0; !stopped; n++) {
      const ids = Array.from({ length: 20 }, (_, i) => `load${(n * 20 + i) % 200}`);
      const outcomes = await Promise.all(ids.map((id) => outcomeOf(node.actors.ask(probe, id, 'add', { n: 1 }))));
      for (const outcome of outcomes) typeof outcome === 'number' ? asked++ : failures.push(outcome);
      round++;
    }
  });
  return {
    async rounds(n: number) {
      const from = round;
      await until(() => round >= from + n * nodes.length, 'rounds of asks');
    },
    async end() {
      stopped = true;
      await Promise.all(work);
      assert.deepEqual(failures, []);
      return asked;
    },
  };
}
