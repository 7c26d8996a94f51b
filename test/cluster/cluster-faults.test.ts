/** Faults of a cluster in which no work is lost or repeated: nodes without Redis, cut links, an emptied Redis, cut database connections. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { shardOf } from '../../src/cluster/address.ts';
import type { ClusterTimings } from '../../src/cluster/cluster-timings.ts';
import type { AppError } from '../../src/errors.ts';
import { probeIdIn, type TestCluster, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { effects, probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis };
const quick = { leaseMs: 600, renewEveryMs: 60 };

test('an expelled node that no other node reaches writes nothing, shows no old state, and rejoins automatically', options, async (t) => {
  const { cluster, a, b, id, hold } = await withoutNotifications(t);
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 10 }), 11, 'after the lease');
  assert.notEqual(b.placement.epochOf(shardOf('probe', id)), null, 'b believes that it owns it');
  const written = outcomeOf(b.actors.ask(probe, id, 'add', { n: 100 }, { deadlineMs: Date.now() + 2_000 }));
  const shown = b.actors.query(probe, id, 'state', null);
  assert.deepEqual(await written, { refused: 'overloaded' });
  assert.deepEqual(await cluster.sql('select value from probe'), [{ value: 11 }]);
  cluster.links.heal(a.incarnation, b.incarnation);
  hold.release();
  assert.equal((await shown)!.value, 11);
  await cluster.settled();
  assert.equal(await b.actors.ask(probe, id, 'add', { n: 1_000 }), 1_011);
  await waitUntilOwned(b, id);
  assert.deepEqual(await cluster.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
});

test('an effect that had not started when its shard was lost does not run twice when the shard returns', options, async (t) => {
  const mails: ((value: string) => void)[] = [];
  const before = effects.mail;
  effects.mail = () => new Promise((resolve) => mails.push(resolve));
  t.after(() => (effects.mail = before));
  // There is one slot, so the second effect waits in memory.
  const runtime = { effectLaneLimits: { maxRunning: 1 } };
  const begin = async (b: TestNode, id: string) => {
    for (let n = 0; n < 2; n++) await b.actors.ask(probe, id, 'begin', { effect: 'mail', input: {} });
    await until(() => mails.length === 1, 'the first to run');
  };
  const { cluster, a, b, id, hold } = await withoutNotifications(t, {}, { runtime, begin });
  await until(() => mails.length === 2, 'a to run the second');
  mails[1]!('sent');
  const received = async () => (await a.actors.query(probe, id, 'state', null))!.received;
  await until(async () => (await received()).length === 2, 'both outcomes');
  cluster.links.heal(a.incarnation, b.incarnation);
  hold.release();
  await cluster.settled();
  await waitUntilOwned(b, id);
  mails[0]!('sent');
  await until(() => b.runtime.effects.size.running + b.runtime.effects.size.waiting === 0, 'b to be done');
  assert.equal(mails.length, 2);
  const outcomes = (await received()) as { kind: string }[];
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['done', 'unknown']);
});

test(
  'a node without any connection, also to the database, shows no state after another node has answered with newer state',
  options,
  async (t) => {
    // Longer than usual, so that it lasts while a gets the shards.
    const { cluster, a, b, id, hold, database } = await withoutNotifications(t, { readLeaseMs: 1_500, renewReadLeaseMs: 1_000 });
    const checks = database.hold(/troupe shards/, 'to server');
    let notified = 1;
    let ended = false;
    let shown = 0;
    let waits = false;
    const reading = (async () => {
      for (; !ended; await new Promise((resolve) => setImmediate(resolve))) {
        const before = notified;
        const answer = b.actors.query(probe, id, 'state', null);
        waits = answer instanceof Promise;
        const state = await answer;
        assert.ok(state!.value >= before, `${state!.value} was shown after ${before} was answered`);
        shown++;
      }
    })();
    notified = await a.actors.ask(probe, id, 'add', { n: 10 });
    assert.equal(notified, 11);
    assert.ok(shown > 0);
    await Promise.race([reading, until(() => waits, 'b to ask before it shows')]);
    ended = true;
    for (const held of [checks, hold]) held.release();
    cluster.links.heal(a.incarnation, b.incarnation);
    await reading;
  },
);

test('a cut link between two live nodes expels no member, and a third node forwards their asks', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const [a, b] = [await cluster.join('a'), await cluster.join('b'), await cluster.join('c')];
  await cluster.settled();
  const epochs = await epochSum(cluster);
  cluster.links.harm(a.incarnation, b.incarnation, 'cut');
  assert.equal(await a.actors.ask(probe, idOf(b), 'add', { n: 1 }), 1);
  assert.equal(await b.actors.ask(probe, idOf(a), 'add', { n: 1 }), 1);
  assert.equal((await a.actors.query(probe, idOf(b), 'state', null))!.value, 1);
  await renewed(cluster, 20);
  assert.equal(a.membership.view.members.length, 3);
  assert.equal(await epochSum(cluster), epochs, 'nothing moved');
});

test(
  'without a third node, asks over a cut link are refused within their deadline, and answered when the link is repaired',
  options,
  async (t) => {
    const cluster = await testCluster(t, quick);
    const [a, b] = [await cluster.join('a'), await cluster.join('b')];
    await cluster.settled();
    cluster.links.harm(a.incarnation, b.incarnation, 'cut');
    const asked = await outcomeOf(a.actors.ask(probe, idOf(b), 'add', { n: 1 }, { deadlineMs: Date.now() + 300 }));
    assert.deepEqual(asked, { refused: 'overloaded' });
    const patient = a.actors.ask(probe, idOf(b), 'add', { n: 1 });
    await renewed(cluster, 20);
    cluster.links.heal(a.incarnation, b.incarnation);
    assert.equal(await patient, 1);
    assert.equal(a.membership.view.members.length, 2);
  },
);

test('a message to an actor behind a cut link is delivered', options, async (t) => {
  const cluster = await testCluster(t, { ...quick, runtime: { outbox: { sweepIntervalMs: 20 } } });
  const [a, b] = [await cluster.join('a'), await cluster.join('b')];
  await cluster.settled();
  cluster.links.harm(a.incarnation, b.incarnation, 'cut');
  const to = idOf(b);
  await a.actors.ask(probe, idOf(a), 'send', { to, inputs: ['one', 'two'] });
  // The cut link isolates one of the nodes, which then answers no query, so the test reads the database.
  const received = async () => (await cluster.sql('select received from probe where id = $1', [to]))[0]?.received;
  await until(async () => (await received())?.length === 2, 'the messages');
});

test(
  'without Redis asks and messages continue and no shard moves; shards of a killed node are claimed when Redis is back',
  options,
  async (t) => {
    const cluster = await testCluster(t, quick);
    const [a, b, c] = [await cluster.join('a'), await cluster.join('b'), await cluster.join('c')];
    await cluster.settled();
    await cluster.redis.kill();
    await until(() => a.placement.state === 'alone', 'a to notice');
    const epochs = await epochSum(cluster);
    assert.equal(await a.actors.ask(probe, idOf(b), 'add', { n: 1 }), 1);
    const orphan = idOf(c);
    await c.kill();
    const outcome = await outcomeOf(a.actors.ask(probe, orphan, 'add', { n: 1 }, { deadlineMs: Date.now() + 200 }));
    // Unknown where it was sent before a noticed that the connection had ended.
    const expected = ['overloaded', 'outcome_unknown'].map((refused) => JSON.stringify({ refused }));
    assert.ok(expected.includes(JSON.stringify(outcome)), JSON.stringify(outcome));
    assert.equal(await epochSum(cluster), epochs);
    assert.equal(a.placement.isAlive(c.incarnation), true, 'nobody knows');
    await cluster.redis.restart();
    assert.equal(await a.actors.ask(probe, orphan, 'add', { n: 1 }), 1);
    await cluster.settled();
  },
);

test('an emptied Redis moves no shard', options, async (t) => {
  const cluster = await testCluster(t, quick);
  const [a, b] = [await cluster.join('a'), await cluster.join('b'), await cluster.join('c')];
  await cluster.settled();
  const epochs = await epochSum(cluster);
  for (let round = 0; round < 3; round++) {
    await cluster.redis.flush();
    assert.equal(await a.actors.ask(probe, idOf(b), 'add', { n: 1 }), round + 1);
    await renewed(cluster, 5);
  }
  await cluster.settled();
  assert.equal(await epochSum(cluster), epochs);
});

test(
  'when all connections to PostgreSQL are cut repeatedly under load, no ask fails and no command has its effect twice',
  options,
  async (t) => {
    const cluster = await testCluster(t, quick);
    const nodes = [await cluster.join('a'), await cluster.join('b')];
    await cluster.settled();
    let sum = 0;
    for (let round = 0; round < 6; round++) {
      const asked = nodes.flatMap((node) => Array.from({ length: 30 }, (_, i) => node.actors.ask(probe, `load${i}`, 'add', { n: 1 })));
      sum += asked.length;
      if (round % 2 === 1) {
        await cluster.sql(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'troupe%'`,
        );
      }
      await Promise.all(asked);
    }
    assert.deepEqual(await cluster.sql('select sum(value)::int as sum from probe'), [{ sum }]);
    await cluster.settled();
  },
);

test(
  'K6 after the database lost epochs and states, every actor answers from the remaining state, and its shards have new epochs',
  options,
  async (t) => {
    const cluster = await testCluster(t, { ...quick, timings: { shardPollMs: 200 } });
    const [a, b] = [await cluster.join('a'), await cluster.join('b')];
    await cluster.settled();
    const all = Array.from({ length: 60 }, (_, i) => `p${i}`);
    await Promise.all(all.map((id) => a.actors.ask(probe, id, 'add', { n: 1 })));
    await cluster.sql('create table shard_before as select * from shard');
    // Changes that a promoted standby would lack: moved shards, and commits on them.
    const c = await cluster.join('c');
    await cluster.settled();
    const lost = await cluster.sql('select shard, epoch::float8 from shard order by shard');
    const ids = all.filter((id) => c.placement.epochOf(shardOf('probe', id)) !== null);
    await Promise.all(ids.map((id) => b.actors.ask(probe, id, 'add', { n: 10 })));
    const notifications = { a: 0, b: 0, c: 0 };
    for (const node of [a, b, c]) node.placement.onLostCommits(() => notifications[node.name as 'a']++);
    await cluster.sql(`with o as (update probe set value = 1 returning 1), e as (delete from event where seq > 60 returning 1),
    c as (update event_counter set last_seq = 60 returning 1)
    update shard set epoch = before.epoch, owner = before.owner from shard_before before where before.shard = shard.shard`);
    const beganMs = performance.now();
    const asked = await Promise.all(ids.map((id, i) => [a, b, c][i % 3]!.actors.ask(probe, id, 'add', { n: 100 })));
    t.diagnostic(`answered after ${Math.round(performance.now() - beganMs)} ms`);
    assert.deepEqual(new Set(asked), new Set([101]), 'what the database has counts, and nothing in memory outlives it');
    await cluster.settled();
    assert.deepEqual(Object.keys(await cluster.shares()).sort(), ['a', 'b', 'c']);
    const epochs = await cluster.sql('select shard, epoch::float8 from shard order by shard');
    for (const { shard, epoch } of epochs) assert.ok(epoch > lost[shard]!.epoch, 'above every epoch that was ever seen');
    const notified = cluster.lines.filter(({ message }) => message.startsWith('the database has lost'));
    assert.ok(notified.length >= 1 && notified.length <= 6, `it is said: ${notified.length} times`);
    assert.ok(
      Object.values(notifications).every((times) => times >= 1),
      `every node is notified, whichever found it: ${JSON.stringify(notifications)}`,
    );
  },
);

test(
  'H3 a node that cannot claim an offered shard is offered no more shards, and its offered shards are served again',
  options,
  async (t) => {
    const cluster = await testCluster(t, { ...quick, timings: { offerTimeoutMs: 200, shardPollMs: 100 } });
    const a = await cluster.join('a');
    const database = await TcpProxy.before(cluster.url);
    t.after(() => database.close());
    const joining = cluster.join('b', { databaseUrl: database.url });
    const b = cluster.nodes[1]!;
    // While the link is cut, no shards are offered to b.
    cluster.links.harm(a.incarnation, b.incarnation, 'cut');
    await joining;
    const held = database.hold(/troupe shards/, 'to server');
    cluster.links.heal(a.incarnation, b.incarnation);
    await until(() => cluster.lines.some(({ message }) => message.startsWith('a node does not claim')), 'a to notice');
    await until(() => a.owned().length === 1024, 'everything to be served again');
    assert.equal(a.placement.status().shards.inMotion, 0);
    assert.equal(await a.actors.ask(probe, idOf(a), 'add', { n: 1 }), 1);
    held.drop();
  },
);

test('a node without a cluster is refused where a cluster runs, and a node of a cluster where a single node runs', options, async (t) => {
  const { SingleNode } = await import('../../src/cluster/single-node.ts');
  const { noLog: silentLog } = await import('../../src/log.ts');
  const cluster = await testCluster(t, { timings: { lockWaitMs: 0 } });
  const a = await cluster.join('a');
  const single = new SingleNode(cluster.url, 'single', silentLog, { lockWaitMs: 0 });
  await assert.rejects(single.start(), { code: 'conflict', message: /same REDIS_URL/ });
  await single.stop();
  await a.leave();
  const alone = new SingleNode(cluster.url, 'alone', silentLog);
  await alone.start();
  await assert.rejects(
    cluster.join('b'),
    (error: AppError) => error.code === 'conflict' && /A node without REDIS_URL runs/.test(error.message),
  );
  await alone.stop();
});

function idOf(node: TestNode): string {
  return probeIdIn((shard) => node.placement.epochOf(shard) !== null);
}

/** While the repaired link is new, the others may consider the node as isolated once more: then its shards move twice. */
async function waitUntilOwned(node: TestNode, id: string): Promise<void> {
  await until(() => node.placement.epochOf(shardOf('probe', id)) !== null, `${node.name} to own ${id} again`);
}

async function epochSum(cluster: TestCluster): Promise<number> {
  return (await cluster.sql('select sum(epoch)::text as sum from shard'))[0].sum;
}

/** Resolves when each node has seen each other one renew so many times more. */
async function renewed(cluster: TestCluster, times: number): Promise<void> {
  const counts = () =>
    cluster.nodes.flatMap((node) => cluster.nodes.map((other) => node.membership.renewals(other.incarnation)?.count ?? 0));
  const before = counts();
  await until(() => counts().every((count, i) => count >= before[i]! + times), 'renewals');
}

/** Two nodes; b's link and Redis are cut, so b can detect changes only by its own queries. It has shown the actor just before. */
async function withoutNotifications(
  t: TestContext,
  timings: Partial<ClusterTimings> = {},
  { runtime, begin }: { runtime?: object; begin?: (b: TestNode, id: string) => Promise<void> } = {},
) {
  const cluster = await testCluster(t, { ...quick, timings, runtime });
  const a = await cluster.join('a');
  const [redis, database] = [await TcpProxy.before(cluster.redis.url), await TcpProxy.before(cluster.url)];
  t.after(() => Promise.all([redis.close(), database.close()]));
  const b = await cluster.join('b', { redisUrl: redis.url, databaseUrl: database.url, timings: { shardPollMs: 600_000 } });
  await cluster.settled();
  const id = idOf(b);
  assert.equal(await b.actors.ask(probe, id, 'add', { n: 1 }), 1);
  assert.equal((await b.actors.query(probe, id, 'state', null))!.value, 1);
  await begin?.(b, id);
  cluster.links.harm(a.incarnation, b.incarnation, 'cut');
  return { cluster, a, b, id, hold: redis.hold(/./, 'to server'), database };
}
