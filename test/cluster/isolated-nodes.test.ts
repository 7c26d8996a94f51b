/** Live nodes that the others do not reach: their shards are handed over to reachable nodes, and return when the links are repaired. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { addClusterMetrics } from '../../src/admin/cluster-metrics.ts';
import { clusterTimings } from '../../src/cluster/cluster-timings.ts';
import { isolatedOf } from '../../src/cluster/isolation.ts';
import { noLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { probeIdIn, type TestCluster, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { effects, probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf } from '../support/runtime.ts';
import { countShardChanges } from '../support/shard-changes.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis };
const quick = { leaseMs: 2_000, renewEveryMs: 40, timings: { reachabilitySampleMs: 20 } };

test(
  'a node that no other node reaches keeps its lease and hands over its shards; after the repair it owns the same shards again',
  options,
  async (t) => {
    // On a busy machine a node may claim an offered shard late: the offer stands, so that each shard moves once.
    const cluster = await testCluster(t, { ...quick, timings: { ...quick.timings, offerTimeoutMs: 30_000 } });
    const [a, b, c] = [await cluster.join('a'), await cluster.join('b'), await cluster.join('c')];
    await cluster.settled();
    const [before, changes] = [await cluster.shares(), await countShardChanges(cluster.sql)];
    const owned = new Set(c.owned());
    const ids = idsIn(owned);
    // Each try has the id of the first, so every node recognizes it as a repeat, whatever the outcome of the try before.
    const round = (n: number) =>
      Promise.all(ids.map((id, i) => [a, b][i % 2]!.actors.ask(probe, id, 'add', { n: 1 }, { commandId: `${id} ${n}` })));
    assert.deepEqual(new Set(await round(1)), new Set([1]));
    const asked = round(2);
    cut(cluster, [c], [a, b]);
    assert.deepEqual(new Set(await asked), new Set([2]), 'inside the deadline of those who asked');
    assert.deepEqual(new Set(await round(3)), new Set([3]));
    await cluster.settled();
    assert.deepEqual(c.placement.state, 'isolated');
    assert.deepEqual([a.placement.state, b.placement.state], ['ready', 'ready']);
    assert.deepEqual(Object.keys(await cluster.shares()).sort(), ['a', 'b']);
    assert.equal(a.membership.view.members.length, 3, 'it is a member');
    const moved = await changes();
    moved.forEach((times, shard) =>
      assert.equal(
        times,
        owned.has(shard) ? 2 : 0,
        `shard ${shard}: released and claimed, and no others; ${JSON.stringify(cluster.lines)}`,
      ),
    );
    const refused = await outcomeOf(c.actors.ask(probe, ids[0]!, 'add', { n: 1 }, { deadlineMs: Date.now() + 200 }));
    assert.deepEqual(refused, { refused: 'overloaded' });

    heal(cluster, [c], [a, b]);
    await until(() => c.placement.state === 'ready', 'c to be ready');
    await cluster.settled();
    assert.deepEqual(await cluster.shares(), before);
    assert.deepEqual(new Set(await Promise.all(ids.map((id) => c.actors.ask(probe, id, 'add', { n: 1 })))), new Set([4]));
    const events = await cluster.sql('select seq::int from event order by seq');
    assert.deepEqual(
      events,
      events.map((_, n) => ({ seq: n + 1 })),
    );
    assert.equal(events.length, 4 * ids.length, 'nothing twice');
  },
);

test('of two nodes without a link the older one owns all shards', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const [b, a] = [await cluster.join('b'), await cluster.join('a')];
  await cluster.settled();
  const id = probeIdIn((shard) => a.placement.epochOf(shard) !== null);
  cut(cluster, [a], [b]);
  assert.equal(await b.actors.ask(probe, id, 'add', { n: 1 }), 1);
  await cluster.settled();
  assert.deepEqual(await cluster.shares(), { b: 1024 });
  assert.equal(a.placement.state, 'isolated');
  // After b leaves, a is the only member.
  await b.leave();
  await until(() => a.owned().length === 1024, 'a to have everything');
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 1 }), 2);
  assert.equal(a.placement.state, 'ready');
});

test('a new node that no other node reaches gets no shards, even if its name is planned first', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const b = await cluster.join('b');
  await cluster.settled();
  const epochs = await epochsOf(cluster);
  const joining = cluster.join('a');
  const a = cluster.nodes[1]!;
  cut(cluster, [a], [b]);
  await joining;
  await until(() => a.placement.state === 'isolated', 'a to be isolated');
  await cluster.settled();
  assert.deepEqual(await epochsOf(cluster), epochs);
});

test('of two parts that do not reach each other one owns all shards, and the nodes of each part reach each other', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const nodes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => cluster.join(name)));
  await cluster.settled();
  const ids = idsIn(new Set(Array.from({ length: 1024 }, (_, shard) => shard)));
  cut(cluster, nodes.slice(0, 2), nodes.slice(2));
  await until(() => nodes.filter(({ placement }) => placement.state === 'isolated').length === 2, 'one part to be isolated');
  await cluster.settled();
  const whole = nodes.filter(({ placement }) => placement.state === 'ready');
  assert.deepEqual(whole.map(({ name }) => name).sort(), Object.keys(await cluster.shares()).sort());
  assert.deepEqual(
    await Promise.all(ids.map((id, i) => whole[i % 2]!.actors.ask(probe, id, 'add', { n: 1 }))),
    ids.map(() => 1),
  );
  heal(cluster, nodes.slice(0, 2), nodes.slice(2));
  await until(() => nodes.every(({ placement }) => placement.state === 'ready'), 'all to be ready');
  await cluster.settled();
  assert.deepEqual(Object.keys(await cluster.shares()).sort(), ['a', 'b', 'c', 'd']);
});

test('after a link has flapped, no shard moves back before the link has been stable for some time', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const [a, b] = [await cluster.join('a'), await cluster.join('b')];
  await cluster.settled();
  cut(cluster, [b], [a]);
  await until(() => b.placement.state === 'isolated', 'b to be isolated');
  await cluster.settled();
  const epochs = await epochsOf(cluster);
  for (let flap = 0; flap < 20; flap++) {
    const up = Promise.withResolvers<void>();
    a.peers.onUp(() => up.resolve());
    heal(cluster, [b], [a]);
    await up.promise;
    cut(cluster, [b], [a]);
  }
  assert.deepEqual(await epochsOf(cluster), epochs);
});

test('an isolated node that cannot release its shards keeps them until its lease ends', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const [redis, database] = [await TcpProxy.before(cluster.redis.url), await TcpProxy.before(cluster.url)];
  t.after(() => Promise.all([redis.close(), database.close()]));
  const [a, b] = [await cluster.join('a'), await cluster.join('b')];
  const c = await cluster.join('c', { redisUrl: redis.url, databaseUrl: database.url });
  await cluster.settled();
  const [epochs, owned] = [await epochsOf(cluster), new Set(c.owned())];
  const id = probeIdIn((shard) => owned.has(shard));
  const held = database.hold(/./, 'to server');
  cut(cluster, [c], [a, b]);
  await until(() => isolatedOf(a.membership.view).has(c.incarnation), 'c to be isolated');
  assert.deepEqual(await outcomeOf(a.actors.ask(probe, id, 'add', { n: 1 }, { deadlineMs: Date.now() + 400 })), { refused: 'overloaded' });
  assert.deepEqual(await epochsOf(cluster), epochs, 'whoever renews is not robbed');
  const silence = redis.hold(/./, 'to server');
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 1 }), 1, 'after its lease');
  for (const each of [held, silence]) each.release();
  await until(() => c.placement.state === 'isolated', 'c to be back');
  await until(() => c.placement.status().shards.owned === 0, 'c to have lost what it had');
  assert.equal(await b.actors.ask(probe, id, 'add', { n: 1 }), 2);
});

test(
  'a node without PostgreSQL loses its shards, cannot commit for them, and gets them back when it can commit again',
  options,
  async (t) => {
    const cluster = await testCluster(t, { ...quick, timings: { ...quick.timings, commitProbeMs: 100, shardPollMs: 200 } });
    const database = await TcpProxy.before(cluster.url);
    t.after(() => database.close());
    const [a, b] = [await cluster.join('a'), await cluster.join('b')];
    const c = await cluster.join('c', { databaseUrl: database.url });
    await cluster.settled();
    await until(() => [a, b].every(({ placement }) => placement.commits.isSteady), 'a and b to be steady');
    const before = await cluster.shares();
    const ids = idsIn(new Set(c.owned()));
    const round = (n: number, nodes: TestNode[]) =>
      Promise.all(ids.map((id, i) => nodes[i % nodes.length]!.actors.ask(probe, id, 'add', { n: 1 }, { commandId: `${id} ${n}` })));
    assert.deepEqual(new Set(await round(1, [a, b, c])), new Set([1]));
    const held = database.hold(/./, 'to server');
    const beganMs = performance.now();
    // Asks in transit to that node have no answer; repeated with their id they take effect once.
    const again = async (id: string): Promise<unknown> => {
      for (;;) {
        const asked = a.actors.ask(probe, id, 'add', { n: 1 }, { commandId: `${id} 2`, deadlineMs: Date.now() + 500 });
        const outcome = await outcomeOf(asked);
        if (typeof outcome === 'number') return outcome;
      }
    };
    assert.deepEqual(new Set(await Promise.all(ids.map(again))), new Set([2]));
    t.diagnostic(`answered elsewhere after ${Math.round(performance.now() - beganMs)} ms`);
    await until(() => c.placement.state === 'unable' && c.owned().length === 0, 'c to learn it from the others');
    assert.equal(a.membership.view.members.length, 3, 'it is a member');
    const metrics = new Metrics(noLog);
    addClusterMetrics(metrics, { node: a.placement, membership: a.membership, transport: { counters: {} } } as never);
    const unable = (await metrics.text()).match(/^troupe_cluster_unable\{.*$/gm);
    assert.deepEqual(
      unable,
      ['a"} 0', 'b"} 0', 'c"} 1'].map((of) => `troupe_cluster_unable{node="${of}`),
    );
    assert.deepEqual(
      [a, c].map(({ placement }) => placement.commits.canCommit),
      [true, false],
    );
    assert.deepEqual(Object.keys(await cluster.shares()).sort(), ['a', 'b']);
    assert.deepEqual(new Set(await round(3, [c])), new Set([3]), 'it passes on what it is asked');
    held.release();
    await until(() => a.membership.view.members.every(({ cannotCommit }) => !cannotCommit), 'c to say that it can commit');
    await cluster.settled();
    assert.deepEqual(await cluster.shares(), before);
    assert.equal(c.placement.state, 'ready');
    assert.deepEqual(new Set(await round(4, [a, b, c])), new Set([4]));
  },
);

test('if no node can commit, no shards are claimed from others, also when the first node can commit again', options, async (t) => {
  // The first node that can commit again claims no shards for 12 probes, 6 s; the second one needs 4. On a busy machine it may be late by seconds.
  const cluster = await testCluster(t, { ...quick, timings: { ...quick.timings, commitProbeMs: 2 * clusterTimings.commitProbeMs } });
  const ways = await Promise.all([TcpProxy.before(cluster.url), TcpProxy.before(cluster.url)]);
  t.after(() => Promise.all(ways.map((way) => way.close())));
  const a = await cluster.join('a', { databaseUrl: ways[0]!.url });
  const b = await cluster.join('b', { databaseUrl: ways[1]!.url });
  await cluster.settled();
  await until(() => [a, b].every(({ placement }) => placement.commits.isSteady), 'both to be steady');
  const epochs = await epochsOf(cluster);
  const held = ways.map((way) => way.hold(/./, 'to server'));
  await until(() => [a, b].every(({ placement }) => placement.state === 'unable'), 'both to say so');
  held[0]!.release();
  await until(() => a.placement.state === 'ready', 'a to commit');
  held[1]!.release();
  await until(() => b.placement.state === 'ready', 'b to commit');
  assert.equal(
    await a.actors.ask(
      probe,
      probeIdIn((shard) => b.placement.epochOf(shard) !== null),
      'add',
      { n: 1 },
    ),
    1,
  );
  assert.deepEqual(await epochsOf(cluster), epochs);
});

test(
  "an effect that an isolated node has started is restarted at its actor's new owner, and only one outcome counts",
  options,
  async (t) => {
    const cluster = await testCluster(t, quick);
    const [a, b, c] = [await cluster.join('a'), await cluster.join('b'), await cluster.join('c')];
    await cluster.settled();
    const id = probeIdIn((shard) => c.placement.epochOf(shard) !== null);
    const runs: { end: (value: string) => void }[] = [];
    t.mock.method(effects, 'work', () => new Promise<string>((end) => runs.push({ end })));
    await c.actors.ask(probe, id, 'begin', { effect: 'work', input: {} });
    await until(() => runs.length === 1, 'the effect to run');
    cut(cluster, [c], [a, b]);
    await until(() => runs.length === 2, 'it to run elsewhere');
    runs[0]!.end('unreported');
    runs[1]!.end('done');
    const received = async (node: TestNode) => (await node.actors.query(probe, id, 'state', null))?.received;
    await until(async () => (await received(a))?.length === 1, 'its outcome');
    heal(cluster, [c], [a, b]);
    await until(() => c.placement.state === 'ready', 'c to be ready');
    await cluster.settled();
    await until(() => c.runtime.effects.size.running === 0 && b.runtime.effects.size.running === 0, 'no outcome left to report');
    assert.deepEqual(await received(b), [{ kind: 'done', value: 'done' }]);
  },
);

function cut({ links }: TestCluster, some: readonly TestNode[], others: readonly TestNode[]): void {
  for (const one of some) for (const other of others) links.harm(one.incarnation, other.incarnation, 'cut');
}

function heal({ links }: TestCluster, some: readonly TestNode[], others: readonly TestNode[]): void {
  for (const one of some) for (const other of others) links.heal(one.incarnation, other.incarnation);
}

/** Ids of actors on these shards, each on a different shard. */
function idsIn(shards: ReadonlySet<number>): string[] {
  const few = [...shards].filter((_, i) => i % 16 === 0);
  return few.map((shard) => probeIdIn((each) => each === shard));
}

async function epochsOf(cluster: TestCluster): Promise<number[]> {
  return (await cluster.sql('select epoch::float8 from shard order by shard')).map(({ epoch }) => epoch);
}
