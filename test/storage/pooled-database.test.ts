/** The database behind PgBouncer: sessions keep their settings, or the service does not start. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { CommitConnection } from '../../src/storage/commit-connection.ts';
import { connect } from '../../src/storage/connect.ts';
import { Database } from '../../src/storage/database.ts';
import { connectionNames } from '../../src/storage/server-functions.ts';
import { authority, withoutOpenssl } from '../support/certificates.ts';
import { probeIdIn, testCluster } from '../support/cluster-nodes.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { startPgbouncer, withoutPgbouncer } from '../support/pgbouncer.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { testRuntime } from '../support/runtime.ts';
import type { Scope } from '../support/scope.ts';

const options = { skip: withoutPgbouncer, timeout: 120_000 };
const timeouts = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`;

async function migrated(t: Scope): Promise<TestDatabase> {
  const kept = await testDatabase();
  t.after(() => kept.close());
  return kept;
}

for (const [what, settings] of [
  ['that refuses startup parameters', {}],
  ['that drops startup parameters', { ignore_startup_parameters: 'statement_timeout,lock_timeout,options' }],
] as const)
  test(`every connection has its time-outs behind a PgBouncer ${what}`, options, async (t) => {
    const kept = await migrated(t);
    const pooler = await startPgbouncer(t, [kept.url], { pool_mode: 'session', ...settings });
    const url = pooler.through(kept.url);
    const database = new Database(url);
    t.after(() => database.close());
    assert.deepEqual((await database.read({ text: timeouts })).rows, [{ statement: '15s', lock: '0' }]);
    assert.deepEqual(await database.list('account', (em) => em.getConnection().execute(timeouts)), [{ statement: '30s', lock: '0' }]);
    const commits = new CommitConnection({ url, owner: 'a/1', statementTimeoutMs: 15_000 });
    t.after(() => commits.close());
    assert.deepEqual((await (await commits.get(2_000)).query(timeouts)).rows, [{ statement: '15s', lock: '2s' }]);
    const reader = await connect({ url, name: 'reader', statementTimeoutMs: 4_000, readOnly: true });
    t.after(() => reader.end());
    await assert.rejects(reader.query('create table forbidden (id int)'), /read-only transaction/);
  });

test('a node works behind a PgBouncer in session mode, and continues after a crash', options, async (t) => {
  const node = await testRuntime([probeActor], {
    ...probeOptions,
    via: async (url) => (await startPgbouncer(t, [url], { pool_mode: 'session' })).through(url),
  });
  t.after(() => node.close());
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 1 }), 1);
  await node.crashAndRestart();
  assert.equal(await node.actors.ask(probe, 'a', 'add', { n: 10 }), 11);
});

test('two nodes behind a PgBouncer distinguish their connections, and one takes over when the other dies', {
  ...options,
  skip: withoutPgbouncer || withoutRedis,
}, async (t) => {
  const kept = await migrated(t);
  const pooler = await startPgbouncer(t, [kept.url], { pool_mode: 'session' });
  const cluster = await testCluster(t, {
    leaseMs: 600,
    renewEveryMs: 60,
    database: { url: pooler.through(kept.url), close: async () => {} },
  });
  const [a, b] = [await cluster.join('a'), await cluster.join('b')];
  await cluster.settled();
  const names = await connectionNames({ query: async (text: string) => ({ rows: await cluster.sql(text) }) } as never, 'troupe reads');
  assert.equal([...(names ?? [])].filter((name) => name.startsWith('troupe node ')).length, 2);
  const id = probeIdIn((shard) => b.placement.epochOf(shard) !== null);
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 1 }), 1);
  await b.kill();
  assert.equal(await a.actors.ask(probe, id, 'add', { n: 1 }), 2);
});

test('if a pooler changes the names of connections, no node is considered dead because of that', options, async (t) => {
  const kept = await migrated(t);
  const pooler = await startPgbouncer(t, [kept.url], { pool_mode: 'session', application_name_add_host: '1' });
  const database = new Database(pooler.through(kept.url));
  t.after(() => database.close());
  assert.equal(await connectionNames(database.pool, 'troupe reads'), null);
});

for (const mode of ['transaction', 'statement'] as const)
  test(`a start behind a PgBouncer in ${mode} mode is refused in one line`, options, async (t) => {
    const kept = await migrated(t);
    const pooler = await startPgbouncer(t, [kept.url], { pool_mode: mode });
    const database = new Database(pooler.through(kept.url));
    t.after(() => database.close());
    await assert.rejects(database.migrate(), /pooler in transaction mode, where sessions are not kept: set DATABASE_URL/);
  });

test('TLS settings in the address apply to every connection, with the meaning documented by libpq', {
  ...options,
  skip: withoutPgbouncer || withoutOpenssl,
}, async (t) => {
  const kept = await migrated(t);
  const [ours, theirs] = [await authority(t), await authority(t)];
  const { certFile, keyFile } = await ours.node('localhost');
  const pooler = await startPgbouncer(t, [kept.url], {
    pool_mode: 'session',
    client_tls_sslmode: 'require',
    client_tls_cert_file: certFile,
    client_tls_key_file: keyFile,
  });
  const outcome = async (query: string, host = 'localhost', way = pooler) => {
    const url = new URL(way.through(kept.url));
    url.hostname = host;
    url.search = query;
    const database = new Database(url.href);
    try {
      await database.migrate();
      await database.read({ text: 'select 1' });
      await database.list('account', (em) => em.getConnection().execute('select 1'));
      return 'works';
    } catch (error) {
      return String(error);
    } finally {
      await database.close();
    }
  };
  assert.match(await outcome(''), /SSL required/);
  assert.match(await outcome('?sslmode=disable'), /SSL required/);
  assert.equal(await outcome('?sslmode=require'), 'works', 'encrypted, whoever it is');
  assert.equal(await outcome('?sslmode=no-verify'), 'works');
  assert.equal(await outcome('?sslmode=require&channel_binding=prefer'), 'works');
  assert.match(await outcome(`?sslmode=require&sslrootcert=${theirs.caFile}`), /certificate/, 'with certificates to trust only those');
  assert.equal(await outcome(`?sslmode=verify-ca&sslrootcert=${ours.caFile}`, '127.0.0.1'), 'works', 'whatever it is called');
  assert.equal(await outcome(`?sslmode=verify-full&sslrootcert=${ours.caFile}`), 'works');
  const elsewhere = await theirs.node('elsewhere.example.com');
  const other = await startPgbouncer(t, [kept.url], {
    pool_mode: 'session',
    client_tls_sslmode: 'require',
    client_tls_cert_file: elsewhere.certFile,
    client_tls_key_file: elsewhere.keyFile,
  });
  assert.match(
    await outcome(`?sslmode=verify-full&sslrootcert=${theirs.caFile}`, 'localhost', other),
    /elsewhere\.example\.com/,
    'not its name',
  );
  assert.match(await outcome('?sslmode=verify-full'), /certificate/, 'signed by nobody this machine knows');
  assert.match(await outcome('?sslrootcert=system'), /certificate/);
  assert.match(await outcome('?sslmode=verify-full&sslrootcert=/nowhere.pem'), /nowhere\.pem.*check DATABASE_URL/);
});
