/**
 * What callers, queries and subscribers see while a commit is in flight, lost, refused or has an unknown outcome: R2, R3, R5, R6, C1,
 * C3, C4.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { shardOf } from '../../src/cluster/address.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const commits = /^troupe commit/;

async function proxied(options: object = {}): Promise<{ node: TestRuntime; proxy: TcpProxy; close(): Promise<void> }> {
  let proxy!: TcpProxy;
  const via = async (url: string) => {
    proxy = await TcpProxy.before(url);
    return proxy.url;
  };
  const node = await testRuntime([probeActor], { ...probeOptions, ...options, via });
  return {
    node,
    proxy,
    async close() {
      await node.close();
      await proxy.close();
    },
  };
}

test('until a commit is confirmed none of its results is answered, and a query shows the state before', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const eventsBefore = node.events.length;
  const held = proxy.hold(commits, 'to client');
  let replies = 0;
  const asked = [
    node.actors.ask(probe, 'a', 'add', { n: 1 }),
    // Refused because of uncommitted state: this answer must wait for the commit too.
    outcomeOf(node.actors.ask(probe, 'a', 'expect', { value: 1 })),
    node.actors.ask(probe, 'a', 'touch', null),
    node.actors.ask(probe, 'a', 'send', { to: 'b', inputs: ['x'] }),
  ];
  for (const ask of asked) void ask.then(() => replies++);
  await held.arrived;
  assert.equal((await node.sql(`select value from probe where id = 'a'`))[0].value, 2, 'it is in the database');
  assert.equal(replies, 0);
  assert.equal(node.events.length, eventsBefore);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1);
  // Turns continue on uncommitted state.
  const later = node.actors.ask(probe, 'a', 'add', { n: 5 });
  held.release();
  assert.deepEqual(await Promise.all(asked), [2, { refused: 'conflict' }, 2, null]);
  assert.equal(await later, 7);
  await until(async () => (await node.actors.query(probe, 'b', 'state', null))?.received.length === 1, 'the message');
});

test('several waits for shards without commits in flight do not block other work of the process', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  const held = proxy.hold(commits, 'to client');
  const asked = ['a', 'b', 'c'].map((id) => node.actors.ask(probe, id, 'add', { n: 1 }));
  await held.arrived;
  const waits = ['a', 'b', 'c'].map((id) => node.runtime.commit.whenClear(new Set([shardOf('probe', id)])));
  // If the waits woke each other in microtasks, no timer would run.
  await new Promise((resolve) => setTimeout(resolve, 1));
  held.release();
  await Promise.all(waits);
  assert.deepEqual(await Promise.all(asked), [1, 1, 1]);
});

test('after an answer of the database is lost, callers get the committed replies, events their committed numbers, and nothing happens twice', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to client');
  const asked = ['a', 'b', 'c'].map((id) => node.actors.ask(probe, id, 'add', { n: 10 }));
  asked.push(node.actors.ask(probe, 'a', 'send', { to: 'd', inputs: [1, 2] }) as never);
  await held.arrived;
  held.drop();
  proxy.cut(commits);
  assert.deepEqual(await Promise.all(asked), [11, 10, 10, null]);
  await until(async () => (await node.actors.query(probe, 'd', 'state', null))?.received.length === 2, 'the messages');
  assert.deepEqual(
    node.events.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  const rows = await node.sql('select id, seq::int from event order by seq');
  assert.deepEqual(
    rows,
    node.events.map(({ id, seq }) => ({ id, seq })),
  );
});

test('a statement that did not arrive because its connection was cut is sent again once', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to server');
  const asked = node.actors.ask(probe, 'a', 'add', { n: 10 });
  await held.arrived;
  held.drop();
  proxy.cut(commits);
  assert.equal(await asked, 11);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }]);
});

test('a late statement of a lost connection is not committed', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  // Without ending the old backend: the epochs alone must hold.
  node.placement.fence.renew = async (client: pg.Client) => {
    const { rows } = await client.query('update shard set epoch = epoch + 1 where owner = $1 returning shard, epoch', [
      node.placement.owner,
    ]);
    for (const { shard, epoch } of rows) (node.placement as any).epochs[shard] = Number(epoch);
  };
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to server', 'open now');
  const asked = node.actors.ask(probe, 'a', 'add', { n: 10 });
  await held.arrived;
  const [old] = [...proxy.connections].filter(({ name }) => commits.test(name));
  proxy.cut(commits, 'client');
  assert.equal(await asked, 11);
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 100 }), 111);
  const ended = new Promise((resolve) => old!.server.once('close', resolve));
  held.release();
  old!.server.end();
  await ended;
  assert.deepEqual(await node.sql(`select value from probe where id = 'a'`), [{ value: 111 }]);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
});

test('a statement that waits for a lock when its connection is lost is committed before its outcome is read, or never', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const blocker = new pg.Client({ connectionString: node.url });
  blocker.on('error', () => {});
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query(`select from event_counter for update`);
  const asked = node.actors.ask(probe, 'a', 'add', { n: 10 });
  await until(
    async () =>
      (await node.sql(`select from pg_stat_activity where application_name like 'troupe commit%' and wait_event_type = 'Lock'`)).length > 0,
    'the lock wait',
  );
  proxy.cut(commits, 'client');
  await blocker.query('commit');
  await blocker.end();
  assert.equal(await asked, 11);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }]);
  assert.deepEqual(await node.sql(`select value from probe where id = 'a'`), [{ value: 11 }]);
});

test('an owner whose epoch another node raised writes nothing for those shards; other units are committed, and all callers are answered', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const ids = Array.from({ length: 40 }, (_, i) => `e${i}`);
  await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  const stolen = ids.slice(0, 15).map((id) => shardOf('probe', id));
  await node.sql(`update shard set epoch = epoch + 1, owner = 'other' where shard = any($1)`, [stolen]);
  // When the commands are retried, they must see the changes that the other owner made.
  await node.sql('update probe set value = 100 where id = any($1)', [ids.slice(0, 15)]);
  const replies = await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  assert.deepEqual(
    replies,
    ids.map((_, i) => (stolen.includes(shardOf('probe', ids[i]!)) && i < 15 ? 101 : 2)),
  );
  const rows = await node.sql('select seq::int from event order by seq');
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    Array.from({ length: 80 }, (_, i) => i + 1),
  );
  assert.deepEqual(
    node.events.map(({ seq }) => seq),
    rows.map(({ seq }) => seq),
  );
});

for (const [what, put] of [
  ['a check', { value: 1_000_001 }],
  ['a unique name', { name: 'taken' }],
  ['a name too long for its column', { name: 'x'.repeat(21) }],
  ['a number too large', { value: 2 ** 40 }],
  ['a fraction where none may be', { value: 1.5 }],
  ['NaN in a number', { ratio: Number.NaN }],
  ['Infinity in a number', { ratio: Number.POSITIVE_INFINITY }],
  ['NaN deep in JSON', { data: { a: [{ b: Number.NaN }] } }],
  ['JSON that cannot be written', { data: { big: 1n } }],
  ['missing text', { text: null }],
] as const) {
  test(`one bad unit among a hundred (${what}) fails alone, is answered 500, and its actor stays as it was`, async (t) => {
    const node = await testRuntime([probeActor], probeOptions);
    t.after(() => node.close());
    await node.actors.ask(probe, 'owner', 'put', { name: 'taken' });
    await node.actors.ask(probe, 'bad', 'add', { n: 5 });
    const good = Array.from({ length: 100 }, (_, i) => node.actors.ask(probe, `g${i}`, 'add', { n: i }));
    const [before, bad, after] = [
      node.actors.ask(probe, 'bad', 'add', { n: 1 }),
      outcomeOf(node.actors.ask(probe, 'bad', 'put', put as never)),
      node.actors.ask(probe, 'bad', 'add', { n: 1 }),
    ];
    assert.deepEqual(
      await Promise.all(good),
      Array.from({ length: 100 }, (_, i) => i),
    );
    assert.deepEqual([await before, await bad, await after], [6, { refused: 'internal' }, 7]);
    const [row] = await node.sql(`select value, name, ratio, text from probe where id = 'bad'`);
    assert.deepEqual(row, { value: 7, name: null, ratio: null, text: '' });
    const [{ count, last }] = await node.sql('select count(*)::int as count, max(seq)::int as last from event');
    assert.equal(count, last, 'no gap');
    assert.equal(count, 104);
  });
}

test('while the database is unavailable callers are answered at their deadlines, and work continues when it is back', async (t) => {
  const { node, proxy, close } = await proxied();
  t.after(close);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  proxy.refusing = true;
  proxy.cut(/./);
  const deadlineMs = Date.now() + 300;
  const [taken, notLoaded, once] = await Promise.all([
    outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 }, { deadlineMs })),
    outcomeOf(node.actors.ask(probe, 'z', 'add', { n: 1 }, { deadlineMs })),
    outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 }, { deadlineMs, commandId: 'c' })),
  ]);
  assert.deepEqual(taken, { refused: 'outcome_unknown' });
  for (const refused of [notLoaded, once]) assert.match(JSON.stringify(refused), /unavailable|overloaded/);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1, 'state in memory can be queried');
  assert.ok(node.runtime.health.commitWaitsSinceMs !== null);
  proxy.refusing = false;
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 3);
  assert.equal(await node.actors.ask(probe, 'z', 'add', { n: 1 }), 1);
  assert.equal(node.runtime.health.commitWaitsSinceMs, null);
});

test('stopping without the database takes at most the grace period, and every ask is answered', async (t) => {
  const { node, proxy, close } = await proxied();
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  proxy.refusing = true;
  proxy.cut(/./);
  const asked = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 }));
  await node.runtime.stop(50);
  assert.deepEqual(await asked, { refused: 'outcome_unknown' });
  assert.deepEqual(await outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 })), { refused: 'draining' });
  proxy.refusing = false;
  t.after(close);
});

test('a stop answers accepted asks, also of actors that are still being loaded', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  const asked = Array.from({ length: 30 }, (_, i) => node.actors.ask(probe, `s${i}`, 'add', { n: i }));
  const stopped = node.runtime.stop();
  assert.deepEqual(await outcomeOf(node.actors.ask(probe, 's1', 'add', { n: 1 })), { refused: 'draining' });
  assert.deepEqual(
    await Promise.all(asked),
    Array.from({ length: 30 }, (_, i) => i),
  );
  await stopped;
  t.after(() => node.close());
});

test('a row locked by another session delays only its own actor', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, lockTimeoutMs: 50 });
  t.after(() => node.close());
  await node.actors.ask(probe, 'locked', 'add', { n: 1 });
  const blocker = new pg.Client({ connectionString: node.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query(`select from probe where id = 'locked' for update`);
  const locked = outcomeOf(node.actors.ask(probe, 'locked', 'add', { n: 1 }));
  const others = Array.from({ length: 8 }, (_, i) => node.actors.ask(probe, `free${i}`, 'add', { n: i }));
  assert.deepEqual(
    await Promise.all(others),
    Array.from({ length: 8 }, (_, i) => i),
  );
  assert.deepEqual(await locked, { refused: 'unavailable' });
  await blocker.query('commit');
  await blocker.end();
  assert.equal(await node.actors.ask(probe, 'locked', 'add', { n: 1 }), 2);
});

test('while the database fails for all, a large batch fails after a bounded number of tries, and nothing is lost', async (t) => {
  // All in one batch: each batch has tries of its own.
  const node = await testRuntime([probeActor], { ...probeOptions, earlyAfterMs: Number.POSITIVE_INFINITY });
  t.after(() => node.close());
  const ids = Array.from({ length: 200 }, (_, i) => `all${i}`);
  await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  await node.sql('create sequence tries');
  await node.sql(
    `create function break_down() returns trigger language plpgsql as $$ begin perform nextval('tries'); raise exception 'full' using errcode = '53100'; end $$`,
  );
  await node.sql('create trigger break_down before update on probe for each statement execute function break_down()');
  const outcomes = await Promise.all(ids.map((id) => outcomeOf(node.actors.ask(probe, id, 'add', { n: 1 }))));
  assert.deepEqual(new Set(outcomes.map((outcome) => JSON.stringify(outcome))), new Set([JSON.stringify({ refused: 'unavailable' })]));
  const [{ tries }] = await node.sql('select last_value::int as tries from tries');
  assert.ok(tries <= 80, `${tries} tries`);
  await node.sql('drop trigger break_down on probe');
  const replies = await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  assert.deepEqual(new Set(replies), new Set([2]));
});

for (const [what, code] of [
  ['no room on the disk', '53100'],
  ['no memory', '53200'],
  ['an input/output error', '58030'],
  ['a corrupted index', 'XX002'],
] as const) {
  test(`an error of the database (${what}) is not attributed to actors: asks are answered that nothing was done, messages are consumed afterwards`, async (t) => {
    const node = await testRuntime([probeActor], probeOptions);
    t.after(() => node.close());
    await node.sql(
      `create function break_down() returns trigger language plpgsql as $$ begin raise exception 'sick' using errcode = '${code}'; end $$`,
    );
    await node.sql(
      `create trigger break_down before insert or update on probe for each row when (new.id = 'sick') execute function break_down()`,
    );
    const good = Array.from({ length: 5 }, (_, i) => node.actors.ask(probe, `good${i}`, 'add', { n: i }));
    const failing = outcomeOf(node.actors.ask(probe, 'sick', 'add', { n: 1 }));
    await node.actors.ask(probe, 'teller', 'send', { to: 'sick', inputs: ['a', 'b'] });
    assert.deepEqual(await Promise.all(good), [0, 1, 2, 3, 4]);
    assert.deepEqual(await failing, { refused: 'unavailable' });
    await node.sql('drop trigger break_down on probe');
    await until(async () => (await node.actors.query(probe, 'sick', 'state', null))?.received.length === 2, 'the messages');
    assert.deepEqual((await node.actors.query(probe, 'sick', 'state', null))?.received, ['a', 'b']);
    assert.deepEqual(await node.sql('select error from dead_letter'), []);
  });
}
