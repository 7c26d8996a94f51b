/** Locks of other sessions that block commits: which work they delay, and that nothing is lost or done twice. C5, B1, B2, S4. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { shardOf } from '../../src/cluster/address.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const commits = /^troupe commit/;
const others = Array.from({ length: 60 }, (_, i) => `other${i}`);

/** A node, and another client in the middle of a transaction that has locked what `sql` selects. */
async function lockedNode(t: TestContext, sql: string, options: object = {}) {
  const node = await testRuntime([probeActor], { ...probeOptions, ...options });
  const otherClient = new pg.Client({ connectionString: node.url });
  otherClient.on('error', () => {});
  t.after(async () => {
    await otherClient.end();
    await node.close();
  });
  await otherClient.connect();
  await Promise.all(['a', 'b'].map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  await Promise.all(others.map((id) => node.actors.ask(probe, id, 'add', { n: 0, account: 'elsewhere' })));
  await otherClient.query('begin');
  await otherClient.query(sql);
  return { node, otherClient, release: () => otherClient.query('commit') };
}

/** Every event of every account once, numbered without a gap, and published as it is stored. */
async function checkEvents(node: TestRuntime): Promise<void> {
  const rows = await node.sql('select account_id, seq::int, id from event order by account_id, seq');
  const last = new Map<string, number>();
  for (const { account_id, seq } of rows) {
    assert.equal(seq, (last.get(account_id) ?? 0) + 1);
    last.set(account_id, seq);
  }
  const published = node.events.map(({ accountId, seq, id }) => ({ account_id: accountId, seq, id }));
  published.sort((a, b) => (a.account_id < b.account_id ? -1 : a.account_id > b.account_id ? 1 : a.seq - b.seq));
  assert.deepEqual(published, rows);
}

const lockWaits = `select from pg_stat_activity where datname = current_database() and application_name like 'troupe commit%' and wait_event_type = 'Lock'`;

test('while an actor’s row is locked, all other actors of its account answer; its own asks are answered in order after the lock', async (t) => {
  const { node, release } = await lockedNode(t, `select from probe where id = 'a' for update`);
  const order: number[] = [];
  const own = [1, 10, 100].map((n) => node.actors.ask(probe, 'a', 'add', { n }));
  for (const [i, ask] of own.entries()) void ask.then(() => order.push(i));
  for (let round = 1; round <= 3; round++) {
    const replies = await Promise.all(others.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
    assert.deepEqual(new Set(replies), new Set([round]));
  }
  assert.deepEqual(order, []);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1, 'a query shows what is committed');
  await release();
  assert.deepEqual(await Promise.all(own), [2, 12, 112]);
  assert.deepEqual(order, [0, 1, 2]);
  await checkEvents(node);
});

test('turns built on a commit that waits for a lock wait behind it, and are not sent by another lane', async (t) => {
  const { node, otherClient, release } = await lockedNode(t, 'select 1', { lockTimeoutMs: 20 });
  await release();
  let value = 1;
  for (let round = 0; round < 8; round++) {
    await otherClient.query('begin');
    await otherClient.query(`select from probe where id = 'a' for update`);
    const first = node.actors.ask(probe, 'a', 'add', { n: 1 });
    await until(async () => (await node.sql(lockWaits)).length > 0, 'the lock wait');
    const second = node.actors.ask(probe, 'a', 'add', { n: 1 });
    await node.actors.ask(probe, 'b', 'add', { n: 1 });
    await node.actors.ask(probe, 'b', 'add', { n: 1 });
    await release();
    assert.deepEqual(await Promise.all([first, second]), [++value, ++value]);
    assert.deepEqual(await node.sql(`select value from probe where id = 'a'`), [{ value }]);
  }
  await checkEvents(node);
});

test('while an account’s counter is locked, actors of all other accounts answer; asks of the account are answered after the lock', async (t) => {
  const { node, release } = await lockedNode(t, `select from event_counter where account_id = 'acct' for update`);
  let answered = 0;
  const own = ['a', 'b', 'c', 'a', 'd'].map((id) => node.actors.ask(probe, id, 'add', { n: 1 }));
  for (const ask of own) void ask.then(() => answered++);
  for (let round = 1; round <= 3; round++) {
    const replies = await Promise.all(others.map((id) => node.actors.ask(probe, id, 'add', { n: 1, account: 'elsewhere' })));
    assert.deepEqual(new Set(replies), new Set([round]));
    // The new asks wait behind the asks that already wait.
    own.push(node.actors.ask(probe, `late${round}`, 'add', { n: round }));
  }
  assert.equal(answered, 0);
  await release();
  assert.deepEqual(await Promise.all(own), [2, 2, 1, 3, 1, 1, 2, 3]);
  await checkEvents(node);
});

test('while a whole table is locked, actors that do not write to it answer; the others answer after the lock', async (t) => {
  const { node, release } = await lockedNode(t, 'lock table event in access exclusive mode');
  const own = ['a', 'b'].map((id) => node.actors.ask(probe, id, 'add', { n: 1 }));
  for (let round = 1; round <= 2; round++) {
    own.push(node.actors.ask(probe, 'c', 'add', { n: 1 }));
    await Promise.all(others.map((id) => node.actors.ask(probe, id, 'wake', { name: 'later', dueMs: Date.now() + 3_600_000 + round })));
  }
  await release();
  assert.deepEqual(await Promise.all(own), [2, 2, 1, 2]);
  await checkEvents(node);
});

test('a row that another session has inserted and not committed delays only the actor that needs it', async (t) => {
  const { node, otherClient, release } = await lockedNode(t, 'select 1');
  await otherClient.query(`insert into probe values ('z', 0, 'wanted', null, '[]', '', '{}', null)`);
  const own = outcomeOf(node.actors.ask(probe, 'a', 'put', { name: 'wanted' }));
  const replies = await Promise.all(others.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  assert.deepEqual(new Set(replies), new Set([1]));
  await release();
  assert.deepEqual(await own, { refused: 'internal' }, 'the name is taken');
  await checkEvents(node);
});

test('a blocked turn of a durable message delays no other work, and is committed once after the lock', async (t) => {
  const { node, release } = await lockedNode(t, `select from probe where id = 'a' for update`, {
    lockTimeoutMs: 10,
    outbox: { sweepIntervalMs: 20 },
  });
  await node.actors.ask(probe, 'teller', 'send', { to: 'a', inputs: ['x', 'y'] });
  // The lock timeout has expired several times.
  await until(() => node.runtime.commit.notCommitted.read().some(({ value }) => value >= 3), 'tries given up');
  const before = node.runtime.commit.notCommitted.read();
  const replies = await Promise.all(others.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  assert.deepEqual(new Set(replies), new Set([1]));
  assert.ok(before.every(({ labels }) => labels?.outcome === 'unavailable'));
  await release();
  await until(async () => ((await node.actors.query(probe, 'a', 'state', null))?.received.length ?? 0) >= 2, 'the messages');
  assert.deepEqual((await node.actors.query(probe, 'a', 'state', null))?.received, ['x', 'y']);
  assert.deepEqual(await node.sql('select from message'), []);
  assert.deepEqual(await node.sql('select from dead_letter'), []);
  await checkEvents(node);
});

test('S4: a commit that waits for an actor’s row holds no lock on a counter that other nodes need', async (t) => {
  const { node, otherClient, release } = await lockedNode(t, `select from probe where id = 'a' for update`, { lockTimeoutMs: 10_000 });
  const own = node.actors.ask(probe, 'a', 'add', { n: 1 });
  await until(async () => (await node.sql(lockWaits)).length > 0, 'the lock wait');
  await otherClient.query(`select from event_counter where account_id = 'acct' for update nowait`);
  await release();
  assert.equal(await own, 2);
});

test('a command takes effect once when its node dies while the commit waits for a lock and the caller repeats it with its id', async (t) => {
  const { node, release } = await lockedNode(t, `select from probe where id = 'a' for update`, { lockTimeoutMs: 20 });
  const ask = (id: string, commandId: string) => node.actors.ask(probe, id, 'add', { n: 1 }, { commandId });
  const lost = outcomeOf(ask('a', 'one'));
  assert.equal(await ask('b', 'two'), 2);
  await until(() => node.runtime.commit.blockedUnits > 0, 'the lane aside');
  await node.crashAndRestart();
  assert.deepEqual(await lost, { refused: 'outcome_unknown' });
  const again = [ask('a', 'one'), ask('b', 'two')];
  assert.equal(await ask('b', 'three'), 3);
  await release();
  assert.deepEqual(await Promise.all(again), [2, 2]);
  await checkEvents(node);
});

test('if a shard is lost while a commit waits for a lock, nothing is written, and the command runs again on the stored state', async (t) => {
  const { node, otherClient, release } = await lockedNode(t, `select from probe where id = 'a' for update`, { lockTimeoutMs: 20 });
  const own = node.actors.ask(probe, 'a', 'add', { n: 1 });
  await until(() => node.runtime.commit.blockedUnits > 0, 'the lane aside');
  await node.sql(`update shard set epoch = epoch + 1, owner = 'other' where shard = $1`, [shardOf('probe', 'a')]);
  await otherClient.query(`update probe set value = 100 where id = 'a'`);
  assert.equal(await node.actors.ask(probe, 'b', 'add', { n: 1 }), 2);
  await release();
  assert.equal(await own, 101);
  await checkEvents(node);
});

test("a lost answer on a lock-wait lane is determined by the lane's own marker, while the main lane continues", async (t) => {
  let proxy!: TcpProxy;
  const via = async (url: string) => {
    proxy = await TcpProxy.before(url);
    return proxy.url;
  };
  const { node, release } = await lockedNode(t, `select from probe where id = 'a' for update`, { lockTimeoutMs: 1_500, via });
  t.after(() => proxy.close());
  const main = [...proxy.connections].filter(({ name }) => commits.test(name));
  assert.equal(main.length, 1);
  const own = [1, 10].map((n) => node.actors.ask(probe, 'a', 'add', { n }));
  await until(() => node.runtime.commit.blockedUnits > 0, 'the lane aside');
  await node.actors.ask(probe, 'b', 'add', { n: 1 });
  for (let i = 0; i < 3; i++) {
    const aside = [...proxy.connections].filter((connection) => commits.test(connection.name) && !main.includes(connection));
    for (const { client, server } of aside) {
      client.destroy();
      server.destroy();
    }
    await node.actors.ask(probe, 'b', 'add', { n: 1 });
  }
  // A try that has just begun does not time out before the lock is released, so its answer is the commit.
  await until(async () => (await node.sql(`${lockWaits} and query_start > clock_timestamp() - interval '100 ms'`)).length > 0, 'a try');
  const held = proxy.hold(commits, 'to client');
  await release();
  await until(async () => (await node.sql(`select from probe where id = 'a' and value > 1`)).length > 0, 'the commit');
  await held.arrived;
  held.drop();
  for (const connection of proxy.connections) {
    if (!commits.test(connection.name) || main.includes(connection)) continue;
    connection.client.destroy();
    connection.server.destroy();
  }
  assert.deepEqual(await Promise.all(own), [2, 12]);
  assert.equal(await node.actors.ask(probe, 'b', 'add', { n: 1 }), 6);
  assert.ok(main.every((connection) => proxy.connections.has(connection)));
  await checkEvents(node);
});
