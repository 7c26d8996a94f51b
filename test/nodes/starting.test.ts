/** The start of a node while the database refuses connections temporarily or permanently. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { RedisConnection } from '../../src/cluster/redis-connection.ts';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Disposers } from '../../src/node/disposers.ts';
import { domains } from '../../src/node/domains.ts';
import { startNode } from '../../src/node/node.ts';
import { productOf } from '../../src/node/product.ts';
import { startWithRetries } from '../../src/node/start-retry.ts';
import { connect } from '../../src/storage/connect.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';
import { Link } from '../support/link.ts';
import { startPgbouncer, withoutPgbouncer } from '../support/pgbouncer.ts';
import { testRedis, withoutRedis } from '../support/redis.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const options = { timeout: 300_000 };
const refusals = ['57P03', '53300', '57P01', '57P02', '08006', 'end'];

async function refusingDatabase(t: TestContext): Promise<TcpProxy> {
  const database = await testDatabase();
  const proxy = await TcpProxy.before(database.url);
  t.after(async () => {
    await proxy.close();
    await database.close();
  });
  return proxy;
}

/** A database behind a PgBouncer, with a proxy between this process and the PgBouncer. */
async function throughPooler(t: TestContext): Promise<{ proxy: TcpProxy; store: Database }> {
  const database = await testDatabase();
  t.after(() => database.close());
  const pooler = await startPgbouncer(t, [database.url], { pool_mode: 'session' });
  const proxy = await TcpProxy.before(pooler.through(database.url));
  t.after(() => proxy.close());
  const store = new Database(proxy.url);
  t.after(() => store.close());
  return { proxy, store };
}

/** The log lines, by message. */
function recordedLog() {
  const lines: Record<string, unknown>[] = [];
  let onLine = () => {};
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    onLine();
  };
  const warned = new Promise<void>((resolve) => (onLine = () => void (lines.some(isRefusalWarning) && resolve())));
  return { log: createLog('warn', {}, { write }), warnings: () => lines.filter(isRefusalWarning), warned };
}

function isRefusalWarning({ msg }: Record<string, unknown>): boolean {
  return /^the database refuses this start/.test(String(msg));
}

for (const [what, skip] of [
  ['a node alone', false],
  ['a node of a cluster', withoutRedis],
] as const)
  test(`${what} starts although the first connection for each purpose is refused temporarily`, { ...options, skip }, async (t) => {
    const disposers: Disposers = [];
    const undo = async () => {
      for (let stop = disposers.pop(); stop !== undefined; stop = disposers.pop()) await stop(0);
    };
    // The first to be registered is the first to run.
    t.after(undo);
    const [proxy, folder] = [await refusingDatabase(t), await temporaryFolder()];
    t.after(() => folder.remove());
    const redis = what === 'a node alone' ? null : await testRedis(t);
    const refused = new Set<string>();
    proxy.refusal = (name) => {
      const purpose = name.replace(/ [0-9a-f]{8}-.*$/, '');
      if (refused.has(purpose)) return null;
      refused.add(purpose);
      return refusals[refused.size % refusals.length]!;
    };
    const config = loadConfig({
      PORT: '0',
      HOST: '127.0.0.1',
      ADMIN_PORT: '0',
      DATA_DIR: folder.path,
      DATABASE_URL: proxy.url,
      SECRET_KEY: 'a key of tests, long enough to be taken',
      ...(redis !== null && { REDIS_URL: redis.url, CLUSTER_PORT: '0' }),
    });
    const { log, warnings } = recordedLog();
    const never = () => assert.fail('nobody asked this node to end');
    const start = () => startNode(productOf(domains), config, log, disposers, never, never);
    const { address } = await startWithRetries({ start, undo, log, firstPauseMs: 10 });
    assert.equal((await fetch(`${address}/health/live`)).status, 200);
    assert.equal(warnings().length, 1, 'logged once');
    const purposes = ['troupe migrations', 'troupe lists', 'troupe reads', 'troupe node', ...(redis ? ['troupe cluster identity'] : [])];
    for (const purpose of purposes) assert.ok(refused.has(purpose), `${purpose} is among ${[...refused].join(', ')}`);
  });

test('a start waits for a PgBouncer that refuses sessions because it does not reach PostgreSQL', {
  ...options,
  skip: withoutPgbouncer,
}, async (t) => {
  const database = await testDatabase();
  t.after(() => database.close());
  const { hostname: host, port } = new URL(database.url);
  const link = await Link.to({ host, port: Number(port) });
  t.after(() => link.close());
  const pooler = await startPgbouncer(t, [link.through(database.url)], { pool_mode: 'session', server_login_retry: '1' });
  const store = new Database(pooler.through(database.url));
  t.after(() => store.close());
  await (await connect({ url: store.url, name: 'before' })).end();
  const heal = link.cut();
  // PgBouncer keeps the first session waiting, and refuses those after it.
  await assert.rejects(connect({ url: store.url, name: 'first', statementTimeoutMs: 1_000, queryTimeoutMs: 300 }));
  const { log, warned, warnings } = recordedLog();
  const starting = startWithRetries({ start: () => store.migrate(), undo: async () => {}, log });
  await Promise.race([warned, starting]);
  assert.match(String(warnings()[0]!.reason), /server login has been failing/);
  heal();
  await starting;
});

test('a session that breaks during its check at the start is not mistaken for transaction pooling', {
  ...options,
  skip: withoutPgbouncer,
}, async (t) => {
  const { proxy, store } = await throughPooler(t);
  let breaks = 0;
  // The text of PgBouncer when its server process crashed.
  proxy.refusal = (name, bytes) => (name === 'troupe session check' && bytes.includes('begin') && breaks++ === 0 ? '08P01' : null);
  await assert.rejects(store.migrate(), /cannot be used \(refused by a test\)/);
  assert.equal(breaks, 2, 'asked again');
  await store.migrate();
});

test('a start is retried if a PgBouncer does not answer after the login', { ...options, skip: withoutPgbouncer }, async (t) => {
  const { proxy, store } = await throughPooler(t);
  let silences = 0;
  proxy.refusal = (name, bytes) => (name === 'troupe session check' && bytes.includes('begin') && silences++ === 0 ? 'silence' : null);
  const { log, warnings } = recordedLog();
  await startWithRetries({ start: () => store.migrate(), undo: async () => {}, log, firstPauseMs: 10 });
  assert.match(String(warnings()[0]!.reason), /Query read timeout/);
});

test('a start waits for a Redis that has no free connection', { ...options, skip: withoutRedis }, async (t) => {
  const { client, url } = await testRedis(t);
  const redis = new RedisConnection({ url, name: 'test', scripts: { troupe_test: 'return 1' }, numberOfKeys: 0 });
  t.after(() => redis.close());
  await client.config('SET', 'maxclients', 1);
  const connected = redis.connect(60_000);
  await until(async () => Number(/rejected_connections:(\d+)/.exec(await client.info('stats'))![1]) > 0);
  await client.config('SET', 'maxclients', 100);
  await connected;
  assert.equal(await redis.run('troupe_test', [], ''), 1);
});

test('a start that is refused for too long logs one warning and ends with a line that names the database', options, async (t) => {
  const proxy = await refusingDatabase(t);
  for (const refusal of refusals) {
    proxy.refusal = () => refusal;
    const store = new Database(proxy.url);
    t.after(() => store.close());
    const { log, warnings } = recordedLog();
    let tries = 0;
    const start = () => {
      tries++;
      return store.migrate();
    };
    await assert.rejects(
      startWithRetries({ start, undo: async () => {}, log, firstPauseMs: 10, retryForMs: 100 }),
      /^Error: The database test_\w+ at 127\.0\.0\.1:\d+ cannot be used \(.+\): check DATABASE_URL$/,
      refusal,
    );
    assert.ok(tries > 1, `${tries} tries`);
    assert.equal(warnings().length, 1);
  }
});

test('a start that is refused permanently ends at once with a line that has the reason', options, async (t) => {
  const proxy = await refusingDatabase(t);
  const elsewhere = new URL(proxy.url);
  elsewhere.pathname = '/no_such_database';
  const closed = new URL(proxy.url);
  closed.port = '1';
  const cases: [string, string | null, RegExp][] = [
    [proxy.url, '28P01', /refused by a test/],
    [proxy.url, '28000', /refused by a test/],
    [elsewhere.href, null, /"no_such_database" does not exist/],
    [closed.href, null, /ECONNREFUSED/],
  ];
  for (const [url, refusal, why] of cases) {
    proxy.refusal = () => refusal;
    const store = new Database(url);
    t.after(() => store.close());
    let tries = 0;
    const start = () => {
      tries++;
      return store.migrate();
    };
    const { log, warnings } = recordedLog();
    await assert.rejects(startWithRetries({ start, undo: async () => {}, log }), ({ message }: Error) => {
      assert.match(message, why);
      return /cannot be used .* check DATABASE_URL/.test(message);
    });
    assert.deepEqual([tries, warnings().length], [1, 0], String(why));
  }
});

test('a start is not retried after the node is ordered to stop', options, async () => {
  const passing = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  let tries = 0;
  const start = async () => {
    tries++;
    throw passing;
  };
  const { log } = recordedLog();
  await assert.rejects(startWithRetries({ start, undo: async () => {}, log, firstPauseMs: 1, isWanted: () => tries < 3 }), passing);
  assert.equal(tries, 3);
});
