/** `troupe cluster` beside a real PostgreSQL and a real Redis, with members that renew their leases as nodes do. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { readDatabase } from '../../src/cli/cluster-database.ts';
import { type DrainParts, drainNode } from '../../src/cli/cluster-drain.ts';
import { readClusterOptions } from '../../src/cli/cluster-options.ts';
import { statusOf } from '../../src/cli/cluster-status.ts';
import { statusTable } from '../../src/cli/cluster-view.ts';
import { Failure } from '../../src/cli/failure.ts';
import { shardCount } from '../../src/cluster/address.ts';
import { clusterIdentity } from '../../src/cluster/cluster-identity.ts';
import type { Member } from '../../src/cluster/member.ts';
import { Membership } from '../../src/cluster/membership.ts';
import { readCluster } from '../../src/cluster/membership-reading.ts';
import { planOf } from '../../src/cluster/placement-plan.ts';
import { noLog } from '../../src/log.ts';
import { connectionName } from '../../src/storage/connection-name.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';
import { type TestRedis, testRedis, withoutRedis } from '../support/redis.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { type Command, troupe } from './command.ts';

type NodeStatus = { name: string; state: string; incarnation: string; shards: number; address: string };

const options = { skip: withoutRedis };

type World = { database: pg.Client; databaseUrl: string; clusterId: string; redis: TestRedis; run(...args: string[]): Command };

/** A database as a service leaves it, and a Redis. */
async function world(t: TestContext): Promise<World> {
  const [{ url, close }, redis, folder] = await Promise.all([testDatabase(), testRedis(t), temporaryFolder()]);
  const database = new Database(url);
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await close();
    await folder.remove();
  });
  const env = { DATABASE_URL: url, REDIS_URL: redis.url, SECRET_KEY: 'the same for all nodes of this one' };
  return {
    database: client,
    databaseUrl: url,
    clusterId: await clusterIdentity(url),
    redis,
    run: (...args) => troupe(args, { folder: folder.path, dataDir: folder.path, env }),
  };
}

/** Joins, and stays until the test ends. */
async function member(t: TestContext, { clusterId, redis }: World, name: string): Promise<{ self: Member; membership: Membership }> {
  const self: Member = {
    incarnation: `${name}/${randomUUID()}`,
    name,
    host: '127.0.0.1',
    port: 4_000,
    roles: ['edge', 'actors'],
    leaving: false,
  };
  const shared = { shardCount, secretKeyDigest: 'same', protocol: { lowest: 1, highest: 1 } };
  const membership = new Membership({ redisUrl: redis.url, clusterId, self, shared, log: noLog });
  t.after(() => membership.stop());
  await membership.start();
  return { self, membership };
}

/** Gives every shard to whom the view plans it for. */
async function settle({ database }: World, { membership }: { membership: Membership }): Promise<void> {
  await membership.refresh();
  await database.query(
    'update shard set owner = plan.owner, epoch = epoch + 1 from unnest($1::text[]) with ordinality plan (owner, n) where shard = n - 1',
    [planOf(membership.view)],
  );
}

async function outcome(command: Command): Promise<{ code: number | null; out: string; error: string }> {
  const code = await command.exit;
  return { code, out: command.stdout(), error: command.stderr() };
}

test('status shows live nodes, owners of shards, shards to move and waiting work', options, async (t) => {
  const here = await world(t);
  const { database } = here;
  const a = await member(t, here, 'node-2');
  const b = await member(t, here, 'node-10');
  await settle(here, a);
  const gone = `node-3/${randomUUID()}`;
  const plan = planOf(a.membership.view);
  await database.query('update shard set owner = $1 where shard = 7', [gone]);
  await database.query('update shard set owner = null where shard = 8');
  await database.query(
    `insert into message (id, shard, kind, actor_id, command, input, created_at) values ('m', 1, 'k', 'i', 'c', '{}', now() - interval '90 s')`,
  );
  await database.query(
    `insert into timer (kind, actor_id, name, shard, command, input, due_at) values ('k', 'i', 'n', 1, 'c', '{}', now() + interval '1 h')`,
  );
  const { code, out, error } = await outcome(here.run('cluster', 'status', '--json'));
  assert.deepEqual([code, error], [0, '']);
  const status = JSON.parse(out);
  assert.deepEqual(
    status.nodes.map(({ name, state, incarnation }: NodeStatus) => [name, state, incarnation]),
    [
      ['node-2', 'ready', a.self.incarnation],
      ['node-3', 'silent', gone],
      ['node-10', 'ready', b.self.incarnation],
    ],
  );
  assert.deepEqual([status.nodes[0].address, status.nodes[0].roles], ['127.0.0.1:4000', ['edge', 'actors']]);
  assert.ok(status.nodes[0].last_renewal_ms >= 0);
  const ofA = plan.filter((owner, shard) => owner === a.self.incarnation && shard !== 7 && shard !== 8).length;
  assert.equal(status.nodes[0].shards, ofA);
  assert.equal(status.shards.length, shardCount);
  assert.deepEqual(status.shards[7], { shard: 7, owner: gone, epoch: 1 });
  assert.deepEqual(status.moves, [
    { shard: 7, from: gone, to: plan[7] },
    { shard: 8, from: null, to: plan[8] },
  ]);
  assert.equal(status.view.number, a.membership.view.number);
  assert.deepEqual(status.redis, { up: true, trouble: null });
  assert.equal(status.lag.messages.count, 1);
  assert.ok(status.lag.messages.oldest_s >= 90);
  assert.deepEqual([status.lag.timers, status.lag.dead_letters], [{ count: 0, oldest_s: null }, 0]);

  await b.membership.reportCommits(false);
  // Beside the main lane a node has two for units that wait for locks, each with its own marker.
  await database.query(`insert into commit_marker (owner, batch) values ($1, 5), ($1 || ' lane 1', 2), ($1 || ' lane 2', 3)`, [
    a.self.incarnation,
  ]);
  const earlier = await readDatabase(here.databaseUrl);
  await database.query('update commit_marker set batch = batch + 1000');
  const then = statusOf(await readDatabase(here.databaseUrl), earlier, await readCluster(here.redis.url, here.clusterId));
  assert.ok(then.rates!.commits_per_s > 0);
  assert.equal(then.nodes[0]!.commits_per_s, then.rates!.commits_per_s);
  assert.deepEqual(
    then.nodes.map(({ name, state }) => [name, state]),
    [
      ['node-2', 'ready'],
      ['node-3', 'silent'],
      ['node-10', 'unable'],
    ],
  );

  const table = statusTable(status);
  assert.match(table, /^View \d+, 3 nodes, 1024 shards, 2 to move, 1 without an owner\n\nNODE +STATE +SHARDS/);
  assert.match(table, /\nnode-3 +silent +1 +0 +- +-/);
  assert.match(table, /\nWaiting: 1 message \(oldest \d+(\.\d)? s\), 0 effects, 0 overdue timers; 0 dead letters\n/);
});

test('when Redis does not answer, status shows only data from PostgreSQL, reports this and exits with 0', options, async (t) => {
  const here = await world(t);
  const a = await member(t, here, 'a');
  await settle(here, a);
  await here.redis.kill();
  const connected = new pg.Client({ connectionString: here.databaseUrl, application_name: connectionName('commit', a.self.incarnation) });
  await connected.connect();
  const { code, out, error } = await outcome(here.run('cluster', 'status', '--json'));
  await connected.end();
  assert.equal(code, 0);
  assert.match(error, /^Redis at 127\.0\.0\.1:\d+ cannot be used .*; only data from PostgreSQL is shown\n$/);
  const status = JSON.parse(out);
  assert.deepEqual([status.view, status.redis.up, status.moves], [null, false, []]);
  assert.deepEqual(
    status.nodes.map(({ name, state, shards, address }: NodeStatus) => [name, state, shards, address]),
    [['a', 'ready', shardCount, null]],
  );
});

test('a service without a cluster is shown as one node, and as silent after it has stopped', async (t) => {
  const here = await world(t);
  const owner = `solo/${randomUUID()}`;
  await here.database.query('update shard set owner = $1', [owner]);
  const connected = new pg.Client({ connectionString: here.databaseUrl, application_name: connectionName('node', owner) });
  await connected.connect();
  const running = statusTable(statusOf(await readDatabase(here.databaseUrl), null, null));
  assert.match(running, /^One node, no Redis, 1 node, 1024 shards\n/);
  assert.match(running, /\nsolo +ready +1024 /);
  await connected.end();
  await until(async () => (await readDatabase(here.databaseUrl)).isConnected(owner) === false);
  const stopped = statusOf(await readDatabase(here.databaseUrl), null, null);
  assert.deepEqual([stopped.nodes[0]!.state, stopped.redis, stopped.view, stopped.rates], ['silent', null, null, null]);
});

test('--watch shows the rates of each second, and ends with 0 at Ctrl-C', async (t) => {
  const here = await world(t);
  await here.database.query(`insert into commit_marker (owner, batch) values ('solo/1', 5)`);
  await here.database.query(`insert into event_counter (account_id, last_seq) values ('acc', 10)`);
  const command = here.run('cluster', 'status', '--json', '--watch');
  await command.says(/\n/);
  // Repeatedly, because a reading may fall between two changes.
  await until(async () => {
    await here.database.query(`update commit_marker set batch = batch + 1000`);
    await here.database.query(`update event_counter set last_seq = last_seq + 5000`);
    return /"commits_per_s":[1-9]\d*(\.\d)?,"events_per_s":[1-9]/.test(command.stdout());
  }, 'a line with both rates');
  command.child.kill('SIGINT');
  assert.equal(await command.exit, 0);
  const rates = command
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).rates);
  assert.deepEqual(rates[0].events_per_s, 0);
});

/** The command in this process; `said` collects its output. */
function drain({ databaseUrl, redis, clusterId }: World, node: string, more: Partial<DrainParts> = {}) {
  const said: string[] = [];
  const parts = { node, wait: true, timeoutMs: 60_000, databaseUrl, redis: { url: redis.url, clusterId }, ...more };
  return { said, done: drainNode({ ...parts, print: (line) => said.push(line), signal: new AbortController().signal }) };
}

test('drain asks a node to leave and waits until it owns no shards and has left', options, async (t) => {
  const here = await world(t);
  const a = await member(t, here, 'a');
  const b = await member(t, here, 'b');
  await settle(here, a);
  b.membership.onDrainRequested(async () => {
    await b.membership.leaving();
    await until(() => said.some((line) => /^b still has to hand over \d+ shards$/.test(line)));
    await here.database.query('update shard set owner = $1 where owner = $2', [a.self.incarnation, b.self.incarnation]);
    await until(() => said.includes('b has handed over all shards and is finishing'));
    await b.membership.leave();
  });
  const { said, done } = drain(here, 'b');
  assert.equal(await done, 0);
  assert.equal(said[0], 'Asked b to leave');
  assert.equal(said.at(-1), 'b has left');
});

test('drain reports an unknown node, and a node that has not left in time; --no-wait does not wait', options, async (t) => {
  const here = await world(t);
  const a = await member(t, here, 'a');
  await settle(here, a);
  await assert.rejects(drain(here, 'node-x').done, { kind: 'refused', message: 'There is no node "node-x"; running nodes: a' });
  const asked = drain(here, 'a', { wait: false });
  assert.equal(await asked.done, 0);
  assert.deepEqual(asked.said, ['Asked a to leave', 'No other node can take its shards: requests to their actors wait until a node joins']);
  await assert.rejects(drain(here, 'a', { timeoutMs: 1 }).done, {
    kind: 'refused',
    message: /^a has not left within 0\.001 s and is still leaving/,
  });
});

test('wrong use is one line', () => {
  for (const [args, words] of [
    [[], /^Give a command: status or drain$/],
    [['frob'], /^There is no command cluster frob/],
    [['status', '--frob'], /^Unknown option '--frob'$/],
    [['drain'], /^Give the name of one node/],
    [['drain', 'a', 'b'], /^Give the name of one node/],
    [['drain', 'a', '--timeout', '0'], /^--timeout must be a whole number/],
  ] as [string[], RegExp][])
    assert.throws(() => readClusterOptions(args), { name: 'Failure', kind: 'usage', message: words });
  assert.equal(readClusterOptions(['drain', '--help']), 'help');
});

test('a database that was never set up, or does not answer, is reported without its password', async (t) => {
  const empty = await testDatabase({ empty: true });
  t.after(() => empty.close());
  await assert.rejects(readDatabase(empty.url), { kind: 'refused', message: /^The tables of this version are missing in the database/ });
  const away = await readDatabase('postgres://me:secret-word@127.0.0.1:1/x').catch((error: Failure) => error);
  assert.ok(away instanceof Failure && away.kind === 'unreachable');
  assert.match(away.message, /^The database x at 127\.0\.0\.1:1 cannot be used/);
  assert.doesNotMatch(away.message, /secret-word/);
});
