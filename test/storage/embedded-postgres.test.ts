import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { noLog } from '../../src/log.ts';
import { type EmbeddedPostgres, runningEmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { processesIn, processIdentity } from '../../src/storage/live-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const asRoot = process.getuid!() === 0 ? {} : { skip: 'needs root' };
const onLinux = process.platform === 'linux' ? {} : { skip: 'needs /proc' };

/** A data folder that is removed, with all processes that still use it, when the test ends. */
async function dataFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(async () => {
    for (const pid of await processesIn(folder.path)) process.kill(pid, 'SIGKILL');
    await folder.remove();
  });
  return folder.path;
}

async function start(t: TestContext, dataDir: string, settings?: Record<string, string>): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: noLog, settings });
  t.after(() => postgres.stop());
  return postgres;
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

/** A service process that starts PostgreSQL in `dataDir`, as another user when `uid` is given. */
async function holder(t: TestContext, dataDir: string, uid?: number): Promise<{ child: ChildProcess; url?: string; error?: string }> {
  const options = { execArgv: ['--disable-warning=ExperimentalWarning'], ...(uid === undefined ? {} : { uid, gid: uid }) };
  const child = fork(new URL('./postgres-holder.ts', import.meta.url), [dataDir], options);
  t.after(() => child.kill('SIGKILL'));
  const [answer] = await once(child, 'message');
  return { child, ...answer };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

test('a first start creates a durable UTF-8 cluster that requires the password, and a second start finds its data', async (t) => {
  const dataDir = await dataFolder(t);
  const first = await start(t, dataDir);
  await query(first.url, `create table kept as select 'Zoë 𝄞' as name`);
  const names = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'server_encoding',
    'data_checksums',
    'password_encryption',
    'max_connections',
  ];
  const shown = await query(first.url, `select name, setting from pg_settings where name = any ('{${names.join(',')}}')`);
  const settings = Object.fromEntries(shown.map(({ name, setting }) => [name, setting]));
  assert.deepEqual(settings, {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    server_encoding: 'UTF8',
    data_checksums: 'on',
    password_encryption: 'scram-sha-256',
    max_connections: '60',
  });
  for (const wrong of ['', 'troupe', '0'.repeat(64)]) {
    const url = new URL(first.url);
    url.password = wrong;
    await assert.rejects(query(url.href, 'select 1'), /password|SASL/);
  }
  const methods = await query(first.url, 'select distinct auth_method from pg_hba_file_rules');
  assert.deepEqual(methods, [{ auth_method: 'scram-sha-256' }]);
  await first.stop();
  await assert.rejects(query(first.url, 'select 1'), /ECONNREFUSED/);

  const second = await start(t, dataDir);
  assert.deepEqual(await query(second.url, 'select name from kept'), [{ name: 'Zoë 𝄞' }]);
});

test('only the owner can read the password and the log, and initdb leaves no copy', async (t) => {
  const dataDir = await dataFolder(t);
  await start(t, dataDir);
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  for (const name of ['postgres-password', 'postgres.log', 'postgres'])
    assert.equal((await stat(join(dataDir, name))).mode & 0o077, 0, name);
  assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres-password', 'postgres.log']);
  const command = await readFile(`/proc/${await postmasterPid(dataDir)}/cmdline`, 'utf8').catch(() => '');
  assert.ok(!command.includes(password));
});

test('stopping twice at once, with a connection in a transaction, ends both and the server', async (t) => {
  const dataDir = await dataFolder(t);
  const postgres = await start(t, dataDir);
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => {});
  await client.connect();
  await client.query('begin; create table t (i int)');
  await Promise.all([postgres.stop(), postgres.stop()]);
  assert.deepEqual(await processesIn(join(dataDir, 'postgres')), []);
});

test('the PostgreSQL of a killed service is adopted by the next one at the same address', async (t) => {
  const dataDir = await dataFolder(t);
  const { child, url } = await holder(t, dataDir);
  await query(url!, 'create table kept as select 42 as answer');
  const pid = await postmasterPid(dataDir);
  await kill(child);
  assert.equal(await runningEmbeddedPostgres(dataDir), url);
  const next = await start(t, dataDir);
  assert.equal(await postmasterPid(dataDir), pid);
  assert.equal(next.url, url);
  assert.deepEqual(await query(next.url, 'select answer from kept'), [{ answer: 42 }]);
  await next.stop();
  assert.equal(await processIdentity(pid), null);
  assert.equal(await runningEmbeddedPostgres(dataDir), null);
});

test('a running PostgreSQL with other start options is replaced', async (t) => {
  const dataDir = await dataFolder(t);
  const { child, url } = await holder(t, dataDir);
  await query(url!, 'create table kept as select 42 as answer');
  const pid = await postmasterPid(dataDir);
  await kill(child);
  const next = await start(t, dataDir, { max_connections: '17' });
  assert.notEqual(await postmasterPid(dataDir), pid);
  assert.deepEqual(await query(next.url, 'show max_connections'), [{ max_connections: '17' }]);
  assert.deepEqual(await query(next.url, 'select answer from kept'), [{ answer: 42 }]);
});

test(
  'after postmaster and service were killed the next start waits for their remaining processes, recovers, and loses no committed data',
  onLinux,
  async (t) => {
    const dataDir = await dataFolder(t);
    const { child, url } = await holder(t, dataDir);
    await query(url!, 'create table kept as select generate_series(1, 1000) as i');
    await Promise.all([kill(child), process.kill(await postmasterPid(dataDir), 'SIGKILL')]);
    const next = await start(t, dataDir);
    assert.deepEqual(await query(next.url, 'select count(*)::int from kept'), [{ count: 1000 }]);
  },
);

test(
  'a postmaster.pid that is truncated or names an unrelated process neither prevents the start nor ends that process',
  onLinux,
  async (t) => {
    const dataDir = await dataFolder(t);
    await (await start(t, dataDir)).stop();
    const { uid, gid } = await stat(join(dataDir, 'postgres'));
    // The same user's, so that PostgreSQL by itself would believe it.
    const otherProcess = spawn('sleep', ['600'], process.getuid!() === 0 ? { uid, gid } : {});
    t.after(() => otherProcess.kill('SIGKILL'));
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    for (const content of [
      `${otherProcess.pid}\n${dataDir}/postgres\n1700000000\n5432\n\n127.0.0.1\n\nready   \n`,
      '',
      'garbage\n\n',
      '1',
    ]) {
      await writeFile(pidFile, content);
      await chown(pidFile, uid, gid);
      const postgres = await start(t, dataDir);
      assert.equal((await query(postgres.url, 'select 1 as one')).length, 1);
      await postgres.stop();
    }
    assert.equal(otherProcess.exitCode, null);
    assert.notEqual(await processIdentity(otherProcess.pid!), null);
  },
);

test('an interrupted first start is repeated, and its remaining files are removed', async (t) => {
  const dataDir = await dataFolder(t);
  await mkdir(join(dataDir, 'postgres-new-1234', 'cluster'), { recursive: true });
  await writeFile(join(dataDir, 'postgres-new-1234', 'cluster', 'PG_VERSION'), '18');
  await start(t, dataDir);
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('postgres-new')),
    [],
  );
});

test('a cluster of another major version is refused in one line that names both', async (t) => {
  const dataDir = await dataFolder(t);
  await mkdir(join(dataDir, 'postgres'), { mode: 0o700 });
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await writeFile(join(dataDir, 'postgres-password'), '0'.repeat(64));
  await assert.rejects(startEmbeddedPostgres({ dataDir, log: noLog }), /was made by PostgreSQL 17, and this one is 18: dump it/);
});

test('a cluster whose password is missing is not changed, and a line names what to restore', async (t) => {
  const dataDir = await dataFolder(t);
  await mkdir(join(dataDir, 'postgres'), { mode: 0o700 });
  await assert.rejects(startEmbeddedPostgres({ dataDir, log: noLog }), /postgres-password is missing.*restore it from a backup/);
});

test('when PostgreSQL refuses to start, the error carries the end of its log and no password', async (t) => {
  const dataDir = await dataFolder(t);
  await (await start(t, dataDir)).stop();
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  await assert.rejects(startEmbeddedPostgres({ dataDir, log: noLog, settings: { shared_buffers: 'nonsense' } }), (error: Error) => {
    assert.match(error.message, /did not start[\s\S]*invalid value for parameter "shared_buffers"/);
    return !error.message.includes(password);
  });
});

test('a log beyond its limit is rotated at the start, and one older copy is kept', async (t) => {
  const dataDir = await dataFolder(t);
  await (await start(t, dataDir)).stop();
  await writeFile(join(dataDir, 'postgres.log'), 'x'.repeat(5 * 1024 * 1024));
  await start(t, dataDir);
  assert.ok((await stat(join(dataDir, 'postgres.log'))).size < 100_000);
  assert.equal((await stat(join(dataDir, 'postgres.log.old'))).size, 5 * 1024 * 1024);
});

test("in a folder that only root may enter, root's PostgreSQL also starts, is adopted and stops", asRoot, async (t) => {
  const closed = await dataFolder(t);
  await chmod(closed, 0o700);
  const dataDir = join(closed, 'data');
  const { child, url } = await holder(t, dataDir);
  await query(url!, 'create table kept as select 1 as one');
  await kill(child);
  const next = await start(t, dataDir);
  assert.equal(next.url, url);
  assert.notEqual((await stat(join(dataDir, 'postgres'))).uid, 0);
  await next.stop();
  assert.deepEqual(await processesIn(dataDir), []);
});

test('the files of a cluster that root copied from a backup get their user again', asRoot, async (t) => {
  const dataDir = await dataFolder(t);
  await (await start(t, dataDir)).stop();
  const cluster = join(dataDir, 'postgres');
  for (const name of ['', ...(await readdir(cluster, { recursive: true }))]) await chown(join(cluster, name), 0, 0);
  const again = await start(t, dataDir);
  assert.equal((await query(again.url, 'select 1 as one')).length, 1);
});

test('a user without root gets a cluster and adopts its own running PostgreSQL', asRoot, async (t) => {
  const dataDir = join(await dataFolder(t), 'data');
  await mkdir(dataDir);
  await chown(dataDir, 65534, 65534);
  const first = await holder(t, dataDir, 65534);
  assert.equal(first.error, undefined);
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, 65534);
  await kill(first.child);
  const second = await holder(t, dataDir, 65534);
  assert.equal(second.url, first.url);
});

test('a user without root is refused the cluster of another user in one line', asRoot, async (t) => {
  const dataDir = await dataFolder(t);
  await (await start(t, dataDir)).stop();
  await chmod(dataDir, 0o777);
  const other = (await stat(join(dataDir, 'postgres'))).uid === 65534 ? 65533 : 65534;
  const { error } = await holder(t, dataDir, other);
  assert.match(error!, /postgres belongs to user \d+, but this process runs as user \d+: start it as before, or set another DATA_DIR$/);
});
