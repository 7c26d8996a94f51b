/** One node on one database: the lock, the epochs, and what happens when either is lost (N1, N2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { silentLog } from '../../src/log.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, testRuntime, until } from '../support/runtime.ts';

test('a second node on the same database is refused, and says what to do; the first is not disturbed', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const second = new SingleNode(node.url, 'second', silentLog, { lockWaitMs: 0 });
  await assert.rejects(second.start(), { code: 'conflict', message: /Another node runs on this database.*REDIS_URL/ });
  await second.stop();
  assert.equal(second.epochOf(0), null);
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
});

test('every start raises every epoch', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const before = node.placement.epochOf(5)!;
  await node.restart();
  assert.ok(node.placement.epochOf(5)! > before);
  assert.deepEqual(await node.sql('select count(*)::int as n from shard where owner = $1', [node.placement.owner]), [{ n: 1024 }]);
});

test('a start need not wait for a statement that a killed process left behind, and nothing of it lands', async (t) => {
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

test('every connection cut at once, under load: the lock is taken again and work goes on', async (t) => {
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
