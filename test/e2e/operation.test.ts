/** Operation of the service: starts, stops, wrong settings, a second process, an unreachable database. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { processesIn, processIdentity } from '../../src/storage/live-process.ts';
import { testDatabase } from '../support/database.ts';
import { nodeEnv } from '../support/node-env.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const timeout = 300_000;

test('signals end the service and all its processes, kill -9 needs no manual repair, and the next start finds all data', {
  timeout,
}, async (t) => {
  const service = await startService(t, { LOG_LEVEL: 'info' }, { fresh: true });
  assert.ok(service.output().split('\n').length < 10, `a start says little:\n${service.output()}`);
  assert.ok(!service.output().includes('\x1b'), 'and in plain letters');
  const caller = await Caller.register(service);
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'kept' });
  await caller.upload(id, 'kept.txt', 'kept words');

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const postmaster = await postmasterPid(service);
    assert.equal(await service.stop(signal), 0, `${signal} is an orderly end`);
    assert.equal(await processIdentity(postmaster), null, 'its PostgreSQL has ended too');
    await assert.rejects(readFile(join(service.dataDir, 'postgres', 'postmaster.pid')), { code: 'ENOENT' });
    assert.deepEqual(await processesIn(service.dataDir), [], 'nothing is at work in the folder');
    assert.doesNotMatch(service.output(), /"level":"(warn|error)"|\n\s+at /);
    await service.restart();
    assert.equal(await (await caller.fetch('GET', `/v1/workspaces/${id}/files/kept.txt`)).text(), 'kept words');
  }

  const orphan = await postmasterPid(service);
  await service.kill();
  assert.notEqual(await processIdentity(orphan), null, 'the PostgreSQL of a killed service lives on');
  await service.restart();
  assert.equal(await postmasterPid(service), orphan, 'and is taken over');
  assert.equal(await (await caller.fetch('GET', `/v1/workspaces/${id}/files/kept.txt`)).text(), 'kept words');
  assert.equal(await service.stop(), 0);
  assert.equal(await processIdentity(orphan), null, 'and stopped in the end');
});

test('Ctrl-C during a start leaves nothing running', { timeout }, async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const dataDir = join(folder.path, 'data');
  const child = spawnService({ DATA_DIR: dataDir });
  const ended = once(child, 'exit');
  while (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) await delay(2);
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(await processesIn(folder.path), []);
});

test('a second process on the same DATA_DIR stops with one line and affects nothing', { timeout }, async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  await endsWith(
    { DATA_DIR: service.dataDir },
    /^Another process \(pid \d+\) uses the data folder .*: stop it, or set DATA_DIR to another folder$/,
  );
  await caller.json('POST', '/v1/workspaces', { name: 'still writing' });
  const readiness = async () => (await fetch(`${service.url}/health/ready`)).text();
  await until(async () => (await readiness()) === '{"status":"ready"}', 'the first process to be ready');
});

test('an invalid setting is reported in one line and ends the start', { timeout }, async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const DATA_DIR = join(folder.path, 'data');
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  const silent = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const cases: [Record<string, string>, RegExp][] = [
    // One that `loadConfig` refuses: test/config.test.ts has the others.
    [{ SMTP_URL: 'smtps//mail:hunter2@x' }, /^SMTP_URL is /],
    [{ REDIS_URL: 'redis://:hunter2@127.0.0.1:1', DATABASE_URL: 'postgres://127.0.0.1:1/x' }, /^SECRET_KEY is not set, but REDIS_URL is/],
    [
      { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' },
      /^The database x at 127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*\): check DATABASE_URL$/,
    ],
    [
      { DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/x` },
      /^The database x at 127\.0\.0\.1:\d+ cannot be used \(.*\): check DATABASE_URL$/,
    ],
    [{ DATA_DIR: file }, /^The data folder .*file cannot be /],
    [{ DATA_DIR: join(file, 'below') }, /^The data folder .* cannot be created/],
    [{ PORT: String(port) }, /^cannot listen on 127\.0\.0\.1:\d+: the port is taken/],
  ];
  for (const [env, line] of cases) await endsWith({ DATA_DIR, LOG_LEVEL: 'warn', ...env }, line);
  assert.deepEqual(await processesIn(folder.path), [], 'nothing stays behind');
});

test('tasks that a SIGTERM interrupts continue after the next start', { timeout }, async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'work' });
  await caller.upload(id, 'sales.csv', await readFile('examples/sales.csv', 'utf8'));
  const order = { prompt: 'Analyse sales.csv and tell me what stands out', workspace_id: id };
  const tasks = await Promise.all(Array.from({ length: 6 }, () => caller.json('POST', '/v1/tasks', order)));
  assert.equal(await service.stop('SIGTERM'), 0);
  await service.restart();
  for (const task of tasks) assert.equal((await caller.untilTask(task.id, ['complete', 'failed'])).status, 'complete');
  assert.doesNotMatch(service.output(), /unhandled promise rejection|unexpectedly/);
});

test('a service whose embedded PostgreSQL was killed ends with one line, and the next start finds everything', { timeout }, async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  await caller.json('POST', '/v1/workspaces', { name: 'kept' });
  const gone = service.ended();
  process.kill(await postmasterPid(service), 'SIGKILL');
  assert.equal(await gone, 1);
  assert.match(
    service.output(),
    /^The embedded PostgreSQL has ended, so this service ends too\. Look at .*postgres\.log and start the service again/m,
  );
  await service.restart();
  assert.equal((await caller.json('GET', '/v1/workspaces'))[0].name, 'kept');
});

test('while the database cannot be reached the service reports it, and continues when it can', { timeout }, async (t) => {
  const database = await testDatabase();
  const proxy = await TcpProxy.before(database.url);
  const service = await startService(t, { DATABASE_URL: proxy.url });
  t.after(async () => {
    await service.stop();
    await proxy.close();
    await database.close();
  });
  const caller = await Caller.register(service);
  const ready = async () => fetch(`${service.url}/health/ready`);
  proxy.refusing = true;
  proxy.cut(/./);
  const refused = await caller.fetch('GET', '/v1/workspaces', undefined, { 'x-request-id': 'looked-for' });
  assert.equal(refused.status, 503, await refused.clone().text());
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  // The log and the answer arrive on different channels.
  await until(() => service.output().includes('"request_id":"looked-for"'), 'the line of the log');
  let answer = await ready();
  await until(async () => (answer = await ready()).status !== 200, 'the node to be unready');
  assert.equal(answer.status, 503);
  assert.match(((await answer.json()) as { status: string }).status, /no progress|database lock not held/);
  assert.equal((await fetch(`${service.url}/health/live`)).status, 200);
  proxy.refusing = false;
  await until(async () => (await ready()).status === 200, 'the node to be ready again');
  await caller.json('POST', '/v1/workspaces', { name: 'after' });
});

test('no secret is in the log or, unencrypted, in the database', { timeout }, async (t) => {
  const password = 'correct horse battery';
  const service = await startService(t, { LOG_LEVEL: 'debug', SMTP_URL: 'smtp://mailer:smtp-hunter2@127.0.0.1:1' });
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    return (await (await fetch(`${service.url}${path}`, init)).json()) as any;
  };
  const email = 'ann@example.com';
  const first = await post('/v1/auth/register', { email, password });
  const bearer = { authorization: `Bearer ${first.access_token}` };
  const key = await post('/v1/api-keys', { name: 'ci', scopes: ['tasks.read'] }, { ...bearer, 'idempotency-key': 'once' });
  await post('/v1/auth/login', { email, password: `${password} wrong` });
  await post('/v1/auth/login', { email, password: [password] });
  const second = await post('/v1/auth/refresh', { refresh_token: first.refresh_token });
  await post('/v1/auth/refresh', { refresh_token: first.refresh_token });
  await fetch(`${service.url}/v1/tasks?token=${key.key}`, { headers: { authorization: `Bearer ${key.key}`, cookie: `a=${key.key}` } });
  const kept = await readFile(join(service.dataDir, 'secret-key'), 'utf8');
  const secrets = {
    password,
    smtp: 'smtp-hunter2',
    key: key.key,
    access: first.access_token,
    refresh: first.refresh_token,
    next: second.refresh_token,
    kept,
  };
  const held = await everyRow(service.dataDir);
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(typeof secret === 'string' && secret.length > 8, name);
    assert.ok(!service.output().includes(secret.trim()), `the log holds ${name}`);
    assert.ok(!held.includes(secret.trim()), `the database holds ${name}`);
  }
  assert.match(service.output(), /"level":"debug"/, 'the log was checked at its most detailed level');
});

async function postmasterPid({ dataDir }: Service): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

function spawnService(env: Record<string, string>) {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
    env: { ...nodeEnv, ADMIN_PORT: '0', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A start with these settings exits with 1 and prints this one line. */
async function endsWith(env: Record<string, string>, line: RegExp): Promise<void> {
  const child = spawnService(env);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  assert.match(output.trimEnd(), line, JSON.stringify(env));
  assert.equal(output.trimEnd().split('\n').length, 1, `one line: ${output}`);
  assert.ok(!output.includes('hunter2'), output);
  assert.equal(code, 1);
}

async function everyRow(dataDir: string): Promise<string> {
  const client = new pg.Client({ connectionString: (await runningEmbeddedPostgres(dataDir))! });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`);
    const texts = [];
    for (const { name } of rows) texts.push(...(await client.query(`select t::text as text from "${name}" t`)).rows.map((row) => row.text));
    return texts.join('\n');
  } finally {
    await client.end();
  }
}
