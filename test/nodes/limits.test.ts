/** Limits of callers on real nodes that share a real Redis, in real time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';
import { withinASecond } from '../support/within-a-second.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
let cluster: ClusterProcesses;
let database: pg.Client;
type Limits = { requests?: number | null; sockets?: number | null };
type Limited = Caller & { account: string };
/** Another account, whose limit shows that all nodes have read the limits. */
let witness: Limited;
let witnessed = 1_000_000;

before(async () => {
  if (withoutRedis) return;
  cluster = await ClusterProcesses.start({ nodes: 3, redis: true });
  database = new pg.Client({ connectionString: cluster.databaseUrl() });
  await database.connect();
  witness = await registered();
});
after(async () => {
  await database?.end();
  await cluster?.close();
});

/** A caller whose account has these limits. */
async function caller(limits: Limits): Promise<Limited> {
  const made = await registered();
  await set(made.account, limits);
  return made;
}

async function registered(): Promise<Limited> {
  const made = await Caller.register(cluster.up[0]!);
  const { account_id: account } = await made.json('GET', '/v1/auth/me');
  return Object.assign(made, { account });
}

/**
 * Resolves when every node has the limits. A node reads those of all accounts in use at once, so it has them when it has later ones of the
 * witness, which counts no request of the account.
 */
async function set(account: string, limits: Limits): Promise<void> {
  await Promise.all(cluster.up.map((_, n) => ask(witness, n)));
  await store(account, limits);
  await store(witness.account, { requests: ++witnessed });
  for (const n of cluster.up.keys()) await until(async () => (await limitOf(witness, n)) === witnessed, 'a node has the limits');
}

async function store(account: string, { requests = -1, sockets = -1 }: Limits): Promise<void> {
  await database.query(
    `update account_override set requests_per_minute = $2, websockets = $3, concurrent_requests = -1, changed_at = clock_timestamp() where account_id = $1`,
    [account, requests, sockets],
  );
}

/** The requests a minute that a node applies. */
async function limitOf(who: Caller, n: number): Promise<number> {
  return Number((await ask(who, n)).headers.get('x-ratelimit-limit'));
}

async function ask(who: Caller, n: number): Promise<Response> {
  const response = await who.at(cluster.up[n % cluster.up.length]!).fetch('GET', '/v1/auth/me');
  await response.arrayBuffer();
  return response;
}

test('three nodes together grant a quota exactly once, plus the requests refilled meanwhile', options, async () => {
  const free = await caller({ requests: null });
  const key = (await free.json('POST', '/v1/api-keys', { name: 'k', scopes: ['tasks.read'] })).key;
  const program = Object.assign(free.at(cluster.up[0]!), { token: key });
  const beganMs = performance.now();
  const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(program, n).then(({ status }) => status)));
  // A busy machine may shed requests within the quota: these are not counted here.
  const granted = statuses.filter((status) => status !== 429).length;
  const came = Math.ceil((performance.now() - beganMs) / 1_000);
  assert.ok(granted >= 60 && granted <= 60 + came, `${granted} of 60, and ${came} for the time`);
});

test('a large quota, which nodes lease in parts, is also granted once', options, async () => {
  const business = await caller({ requests: 2_000 });
  const beganMs = performance.now();
  const questions = await countQuestions();
  let granted = 0;
  for (let round = 0; round < 30; round++) {
    const answers = await Promise.all(Array.from({ length: 90 }, (_, n) => ask(business, n)));
    granted += answers.filter(({ status }) => status !== 429).length;
  }
  const came = ((performance.now() - beganMs) * 2_000) / 60_000;
  assert.ok(granted <= 2_000 + came && granted > 1_950, `${granted} of 2,000 and ${came.toFixed()}`);
  const asked = await questions();
  // The slower the machine, the more tokens come meanwhile, and are leased.
  assert.ok(asked > 0 && asked < (2_700 + came) / 10, `${asked} questions for 2,700 requests, while ${came.toFixed()} tokens came`);
});

/** Counts the queries to Redis about rates, without those of the membership, until the returned function is called. */
async function countQuestions(): Promise<() => Promise<number>> {
  const monitor = await cluster.redis!.client.monitor();
  let questions = 0;
  let isOver = false;
  monitor.on('monitor', (_time: string, [command, , , key]: string[]) => {
    if (command?.toLowerCase() === 'evalsha' && key?.includes('rate:')) questions++;
    if (command?.toLowerCase() === 'echo') isOver = true;
  });
  return async () => {
    await cluster.redis!.client.echo('over');
    await until(() => isOver, 'the last query');
    monitor.disconnect();
    return questions;
  };
}

test('six keys of an account together have five times the requests and sockets of one key, on all nodes', options, async () => {
  const owner = await caller({ requests: 40, sockets: 1 });
  const keys = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      const { key } = await owner.json('POST', '/v1/api-keys', { name: `k${n}`, scopes: ['tasks.read'] });
      return Object.assign(owner.at(cluster.up[0]!), { token: key as string }) as Caller;
    }),
  );
  const beganMs = performance.now();
  const statuses = await Promise.all(Array.from({ length: 300 }, (_, n) => ask(keys[n % 6]!, n).then(({ status }) => status)));
  const granted = statuses.filter((status) => status !== 429).length;
  const came = Math.ceil(((performance.now() - beganMs) * 200) / 60_000);
  // The requests that created the keys count too.
  assert.ok(granted >= 185 && granted <= 200 + came, `${granted} of 200, and ${came} for the time`);

  const opened = await Promise.all(keys.map((key, n) => open(key, n % cluster.up.length)));
  assert.deepEqual(opened.map(({ first }) => first).sort(), [4429, 'auth_ok', 'auth_ok', 'auth_ok', 'auth_ok', 'auth_ok']);
  for (const { socket } of opened) socket.close();
});

test('limits set by an operator apply on every node within a second, higher and lower ones', options, async () => {
  const one = await caller({ requests: 5 });
  const statuses = async () => Promise.all(Array.from({ length: 12 }, (_, n) => ask(one, n).then(({ status }) => status)));
  assert.ok((await statuses()).filter((status) => status === 200).length <= 6);
  await set(one.account, { requests: 1_000 });
  assert.deepEqual([...new Set(await statuses())], [200]);
  await set(one.account, { requests: 5 });
  assert.ok((await statuses()).filter((status) => status === 200).length <= 6);

  const known = await caller({ requests: 2_000 });
  let requests = 2_000;
  await withinASecond(async () => {
    requests += 1;
    await Promise.all(cluster.up.map((_, n) => ask(known, n)));
    await store(known.account, { requests });
    return cluster.up.map((_, n) => async () => (await limitOf(known, n)) === requests);
  });
});

test('without Redis requests continue and each node counts its share; when Redis is back they are counted together', options, async () => {
  const one = await caller({ requests: 60 });
  await ask(one, 0);
  await cluster.redis!.kill();
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, (_, n) => ask(one, n)));
    assert.ok(answers.every(({ status }) => status === 200 || status === 429));
    return answers.every(({ status }) => status === 429);
  });
  const other = await caller({ requests: 60 });
  const beganMs = performance.now();
  const granted = await Promise.all(Array.from({ length: 90 }, (_, n) => ask(other, n)));
  const came = Math.floor((performance.now() - beganMs) / 1_000);
  const count = granted.filter(({ status }) => status === 200).length;
  assert.ok(count >= 57 && count <= 66 + came, `${count} of three times 20, and ${came} for the time`);
  await cluster.redis!.restart();
  // Redis came back empty: each node has reconnected and sent its counts when it is a member of this set again.
  await until(async () => {
    const [countedBy] = await cluster.redis!.client.keys('*:sockets');
    return countedBy !== undefined && (await cluster.redis!.client.scard(countedBy)) === 3;
  });
  const third = await caller({ requests: 60 });
  await until(async () => {
    await ask(third, 0);
    return (await cluster.redis!.client.keys('*rate:usr_*')).length > 0;
  });
  assert.ok((await ask(other, 1)).headers.has('x-ratelimit-limit'));
});

async function open(who: Caller, n: number): Promise<{ socket: WebSocket; first: 'auth_ok' | number }> {
  const socket = new WebSocket(`${cluster.up[n]!.url.replace('http', 'ws')}/v1/ws`);
  const first = await new Promise<'auth_ok' | number>((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token: who.token }));
    socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).type);
    socket.onclose = ({ code }) => resolve(code);
  });
  return { socket, first };
}

test('connections are counted over all nodes: one too many is closed with 4429, and a closed one frees its slot', options, async () => {
  const one = await caller({ sockets: 2 });
  const [a, b] = [await open(one, 0), await open(one, 1)];
  assert.deepEqual([a.first, b.first], ['auth_ok', 'auth_ok']);
  assert.equal((await open(one, 2)).first, 4429);
  a.socket.close();
  await until(async () => {
    const next = await open(one, 2);
    return next.first === 'auth_ok';
  });
  b.socket.close();
});

test('a client whose only permitted connection was at a killed node can connect to another node at once', options, async () => {
  const one = await caller({ sockets: 1 });
  const doomed = cluster.up.at(-1)!;
  assert.equal((await open(one, cluster.up.length - 1)).first, 'auth_ok');
  assert.equal((await open(one, 0)).first, 4429);
  await doomed.kill();
  assert.equal((await open(one, 0)).first, 'auth_ok');
});
