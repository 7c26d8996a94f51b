/** One node on one database: the lock, the epochs, and the behaviour when either is lost (N1 to N5). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { noLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

test('a second node on the same database is refused with advice; the first node is not affected', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const second = new SingleNode(node.url, 'second', noLog, { lockWaitMs: 0 });
  await assert.rejects(second.start(), { code: 'conflict', message: /Another node runs on this database.*REDIS_URL/ });
  await second.stop();
  assert.equal(second.epochOf(0), null);
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
});

test('a start waits for a slow connection of the node lock as long as for every other connection', async (t) => {
  const kept = await testDatabase();
  const way = await TcpProxy.before(kept.url);
  t.after(() => way.close().then(() => kept.close()));
  const node = new SingleNode(way.url, 'slow', noLog);
  const held = way.hold(/troupe node/, 'to client');
  const starting = node.start();
  // Longer than a node waits when it reconnects a lock that it held.
  await Promise.race([pause(2_200), starting]);
  held.release();
  await starting;
  assert.equal(node.state, 'ready');
  await node.stop();
});

test('every start raises every epoch', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const before = node.placement.epochOf(5)!;
  await node.restart();
  assert.ok(node.placement.epochOf(5)! > before);
  assert.deepEqual(await node.sql('select count(*)::int as n from shard where owner = $1', [node.placement.owner]), [{ n: 1024 }]);
});

test('a start does not wait for a statement of a killed process, and that statement is never committed', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const blocker = new pg.Client({ connectionString: node.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select from event_counter for update');
  const asked = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 10 }));
  const waiting = `select from pg_stat_activity where datname = current_database() and application_name like 'troupe commit%' and wait_event_type = 'Lock'`;
  await until(async () => (await node.sql(waiting)).length > 0, 'the statement to wait');
  // The new node's claim comes while the old statement holds its shard row.
  await node.crashAndRestart();
  await blocker.query('commit');
  await blocker.end();
  assert.deepEqual(await asked, { refused: 'outcome_unknown' });
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 100 }), 101);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }]);
});

test('when all connections are cut at once under load, the lock is taken again and work continues', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const cut = () =>
    node.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test'`,
    );
  const replies: unknown[] = [];
  for (let round = 0; round < 5; round++) {
    const asked = Array.from({ length: 20 }, (_, i) => node.actors.ask(probe, `a${i % 4}`, 'add', { n: 1 }));
    if (round % 2 === 1) await cut();
    replies.push(...(await Promise.all(asked)));
  }
  assert.equal(replies.length, 100);
  const [{ sum }] = await node.sql('select sum(value)::int as sum from probe');
  assert.equal(sum, 100);
  const seqs = (await node.sql('select seq::int from event order by seq')).map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  assert.deepEqual(
    node.events.map(({ seq }) => seq),
    seqs,
  );
  await until(() => node.placement.isOnly, 'the lock');
  assert.equal(
    await node.database
      .em()
      .getConnection()
      .execute('select 1 as one')
      .then((rows: any) => rows[0].one),
    1,
    'lists work again',
  );
});

test('while another session holds shards, as a claim does, commits of other shards go through', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, lockTimeoutMs: 30 });
  t.after(() => node.close());
  const ids = Array.from({ length: 6 }, (_, i) => `c${i}`);
  await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  const { shardOf } = await import('../../src/cluster/address.ts');
  const claimer = new pg.Client({ connectionString: node.url });
  await claimer.connect();
  await claimer.query('begin');
  await claimer.query('select from shard where shard = $1 for update', [shardOf('probe', 'c0')]);
  const outcomes = await Promise.all(ids.map((id) => outcomeOf(node.actors.ask(probe, id, 'add', { n: 1 }))));
  assert.deepEqual(outcomes, [{ refused: 'unavailable' }, 2, 2, 2, 2, 2]);
  await claimer.query('commit');
  await claimer.end();
  assert.equal(await node.actors.ask(probe, 'c0', 'add', { n: 1 }), 2);
});

test('N4 a node whose database another node has taken over shows no old state, drops all actors, logs it once and does not disturb the other', async (t) => {
  const notified: string[] = [];
  const lockWay = Promise.withResolvers<TcpProxy>();
  const first = await testRuntime([probeActor], {
    ...probeOptions,
    lockVia: async (url) => {
      lockWay.resolve(await TcpProxy.before(url));
      return (await lockWay.promise).url;
    },
    placement: { checkIntervalMs: 20, onTakenOver: (error) => void notified.push(error.message) },
  });
  const way = await lockWay.promise;
  t.after(() => first.close().then(() => way.close()));
  assert.equal(await first.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
  assert.equal(first.placement.state, 'ready');
  // The same happens when the network of the first node breaks and the server ends its session.
  way.refusing = true;
  way.cut(/troupe node/);
  const second = await beside(first);
  t.after(() => second.close());
  assert.equal(await second.actors.ask(probe, 'a', 'add', { n: 41 }), 42);
  const shown = await outcomeOf(Promise.resolve(first.actors.query(probe, 'a', 'state', null)));
  assert.deepEqual(shown, { refused: 'unavailable' }, 'what the other has changed is not shown as it was');
  assert.equal(first.placement.state, 'unconfirmed');
  // The commits of the first node are refused by their epochs, and the first node must not end connections of the second.
  const asks = Array.from({ length: 10 }, () => second.actors.ask(probe, 'b', 'add', { n: 1 }));
  const refused = outcomeOf(first.actors.ask(probe, 'a', 'add', { n: 1 }, { deadlineMs: Date.now() + 300 }));
  await Promise.all(asks);
  assert.ok(['overloaded', 'unavailable'].includes(((await refused) as { refused: string }).refused));
  way.refusing = false;
  await until(() => first.placement.state === 'taken over', 'the first node to detect it');
  assert.deepEqual(await outcomeOf(first.actors.ask(probe, 'a', 'add', { n: 1 })), { refused: 'unavailable' });
  assert.deepEqual(await outcomeOf(Promise.resolve(first.actors.query(probe, 'a', 'state', null))), { refused: 'unavailable' });
  assert.equal(await second.actors.ask(probe, 'b', 'add', { n: 1 }), 11);
  assert.deepEqual(second.cuts, [], 'nobody ended its connections');
  assert.equal(notified.length, 1);
  assert.match(notified[0]!, /Another node has taken over this database.*REDIS_URL/);
});

test('a node whose lock another node held temporarily drops its state, and continues when the other node has ended', async (t) => {
  const lockWay = Promise.withResolvers<TcpProxy>();
  const first = await testRuntime([probeActor], {
    ...probeOptions,
    lockVia: async (url) => {
      lockWay.resolve(await TcpProxy.before(url));
      return (await lockWay.promise).url;
    },
  });
  const way = await lockWay.promise;
  t.after(() => first.close().then(() => way.close()));
  assert.equal(await first.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
  way.refusing = true;
  way.cut(/troupe node/);
  const second = await beside(first);
  assert.equal(await second.actors.ask(probe, 'a', 'add', { n: 41 }), 42);
  await second.close();
  way.refusing = false;
  await until(() => first.placement.state === 'ready', 'the lock');
  assert.equal((await first.actors.query(probe, 'a', 'state', null))!.value, 42);
  assert.equal(await first.actors.ask(probe, 'a', 'add', { n: 1 }), 43);
});

test('N3 a silent connection of the lock counts as broken and is replaced; no state is shown meanwhile', async (t) => {
  const lockWay = Promise.withResolvers<TcpProxy>();
  const node = await testRuntime([probeActor], {
    ...probeOptions,
    lockVia: async (url) => {
      lockWay.resolve(await TcpProxy.before(url));
      return (await lockWay.promise).url;
    },
    placement: { checkIntervalMs: 20 },
  });
  const way = await lockWay.promise;
  t.after(() => node.close().then(() => way.close()));
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = way.hold(/troupe node/, 'to server', 'open now');
  await held.arrived;
  const shown = Promise.resolve(node.actors.query(probe, 'a', 'state', null));
  assert.deepEqual(await outcomeOf(shown), { refused: 'unavailable' });
  await until(() => node.placement.state === 'ready', 'another connection, though the server believes the old one alive');
  assert.equal((await node.actors.query(probe, 'a', 'state', null))!.value, 1);
  held.drop();
});

test('N5 if the database has lost epochs, the node drops its state and claims all shards under higher epochs', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, placement: { checkIntervalMs: 20 } });
  t.after(() => node.close());
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
  await node.restart();
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 2);
  const before = await node.sql('select shard, epoch::float8 from shard order by shard');
  // The state of a promoted standby that lagged behind.
  await node.sql(`update probe set value = 1`);
  await node.sql(`update shard set epoch = 1`);
  await until(async () => (await node.sql('select from shard where epoch = 1')).length === 0, 'all to be claimed');
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 2);
  const after = await node.sql('select shard, epoch::float8 from shard order by shard');
  for (const { shard, epoch } of after) assert.ok(epoch > before[shard]!.epoch);
});

/** Another node on the same database; `cuts` has its warnings about cut connections. */
async function beside(first: TestRuntime) {
  const database = new Database(first.url, { schema: { entities: probeOptions.entities } });
  const cuts: string[] = [];
  const log = {
    ...noLog,
    warn: (_fields: object, message: string) => void (/cut off|cannot be reached/.test(message) && cuts.push(message)),
  };
  const placement = new SingleNode(first.url, 'second', log);
  const runtime = new Runtime({ database, placement, log });
  runtime.register([probeActor]);
  await runtime.start();
  return {
    actors: runtime.actors,
    cuts,
    async close() {
      await runtime.stop();
      await database.close();
    },
  };
}
