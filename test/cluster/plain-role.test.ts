/**
 * A database role with no rights beyond its own schema, on a server that also refuses functions any role may use by default: ending
 * connections, listing them, advisory locks. Epochs alone guarantee G1.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { shardOf } from '../../src/cluster/address.ts';
import { refusedFunctions } from '../../src/storage/server-functions.ts';
import { probeIdIn, testCluster } from '../support/cluster-nodes.ts';
import { startPgbouncer, withoutPgbouncer } from '../support/pgbouncer.ts';
import { plainRoleDatabase } from '../support/plain-role.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf, testRuntime } from '../support/runtime.ts';
import type { Scope } from '../support/scope.ts';
import { Caller, startService } from '../support/service.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const commits = /troupe commit/;

async function proxied(t: Scope) {
  const database = await plainRoleDatabase({ refused: true });
  let proxy!: TcpProxy;
  const via = async (url: string) => {
    proxy = await TcpProxy.before(url);
    return proxy.url;
  };
  const node = await testRuntime([probeActor], { ...probeOptions, database, via });
  t.after(async () => {
    await node.close();
    await proxy.close();
  });
  const admin = new pg.Client({ connectionString: database.adminUrl });
  admin.on('error', () => {});
  await admin.connect();
  t.after(() => admin.end());
  return { node, proxy, admin };
}

test('G1 where connections cannot be ended, a late statement of a dead process is refused by its epoch', async (t) => {
  const { node, proxy } = await proxied(t);
  assert.deepEqual(await refusedFunctions(node.database.pool), ['pg_stat_activity', 'pg_terminate_backend', 'pg_try_advisory_lock']);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to server', 'open now');
  const asked = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 10 }));
  await held.arrived;
  const [old] = [...proxy.connections].filter(({ name }) => commits.test(name));
  proxy.cut(commits, 'client');
  await node.crashAndRestart();
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 100 }), 101);
  const ended = new Promise((resolve) => old!.server.once('close', resolve));
  held.release();
  old!.server.end();
  await ended;
  assert.deepEqual(await asked, { refused: 'outcome_unknown' });
  assert.deepEqual(await node.sql('select value from probe'), [{ value: 101 }]);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }]);
});

test('G1 where connections cannot be ended, a statement of a cut connection that waits for a lock is committed before its outcome is read, or never', async (t) => {
  const { node, proxy, admin } = await proxied(t);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  await admin.query('begin');
  await admin.query('select from app.event_counter for update');
  const asked = node.actors.ask(probe, 'a', 'add', { n: 10 });
  const waiting = `select from pg_stat_activity where datname = current_database() and application_name like 'troupe commit%' and wait_event_type = 'Lock'`;
  await until(async () => (await admin.query('select 1').then(() => admin.query(waiting))).rowCount === 1, 'the lock wait');
  proxy.cut(commits, 'client');
  await until(() => [...proxy.connections].some(({ name, client }) => commits.test(name) && !client.destroyed), 'the new connection');
  await admin.query('commit');
  assert.equal(await asked, 11);
  assert.deepEqual(await node.sql('select seq::int from event order by seq'), [{ seq: 1 }, { seq: 2 }]);
  assert.deepEqual(await node.sql('select value from probe'), [{ value: 11 }]);
});

test('G1 where connections cannot be ended, the successor of a node that died during a commit only waits for the lock', {
  skip: withoutRedis,
}, async (t) => {
  const database = await plainRoleDatabase({ refused: true });
  const cluster = await testCluster(t, { leaseMs: 600, renewEveryMs: 60, database });
  const proxy = await TcpProxy.before(database.url);
  t.after(() => proxy.close());
  const [a, b] = [await cluster.join('a'), await cluster.join('b', { databaseUrl: proxy.url })];
  await cluster.settled();
  const id = probeIdIn((shard) => b.placement.epochOf(shard) !== null);
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 1 }), 1);
  const held = proxy.hold(commits, 'to server', 'open now');
  const asked = outcomeOf(b.actors.ask(probe, id, 'add', { n: 10 }));
  await held.arrived;
  const [old] = [...proxy.connections].filter(({ name }) => commits.test(name));
  proxy.cut(commits, 'client');
  await b.kill();
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 100 }), 101);
  assert.notEqual(a.placement.epochOf(shardOf('probe', id)), null);
  const ended = new Promise((resolve) => old!.server.once('close', resolve));
  held.release();
  old!.server.end();
  await ended;
  assert.deepEqual(await asked, { refused: 'outcome_unknown' });
  assert.deepEqual(await cluster.sql('select value from probe'), [{ value: 101 }]);
});

test('the service works behind PgBouncer with a role that owns only one schema, and continues after kill -9', {
  skip: withoutPgbouncer,
  timeout: 120_000,
}, async (t) => {
  const database = await plainRoleDatabase();
  t.after(() => database.close());
  const pooler = await startPgbouncer(t, [database.url], { pool_mode: 'session' });
  const service = await startService(t, { DATABASE_URL: pooler.through(database.url) });
  const caller = await Caller.register(service);
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'kept' });
  await service.kill();
  await service.restart();
  assert.equal((await caller.json('GET', `/v1/workspaces/${id}`)).name, 'kept');
  const listed = await caller.json('GET', '/v1/workspaces');
  assert.ok(JSON.stringify(listed).includes(id));
  assert.doesNotMatch(service.output(), /permission denied|the database refuses/);
});
