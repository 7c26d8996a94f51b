/**
 * Users and keys on a cluster of real nodes: a revocation takes effect on all nodes within a second, and the root key is changed while
 * they run.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { StreamClient } from '../support/stream-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { withinASecond } from '../support/within-a-second.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
const password = 'a long enough password';
const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

let cluster: ClusterProcesses;
let nodes: NodeProcess[];
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

before(async () => {
  if (withoutRedis) return;
  // One folder, so that a mail is found whichever node has kept it.
  folder = await temporaryFolder();
  cluster = await ClusterProcesses.start({ nodes: 0, redis: true, env: { DRAIN_GRACE_MS: '0' } });
  nodes = await Promise.all([1, 2].map(() => cluster.add({ SECRET_KEY: first, SECRET_KEYS_ACCEPTED: second, DATA_DIR: folder.path })));
  await cluster.untilReady();
});
after(async () => {
  await cluster?.close();
  await folder?.remove();
});

type Request = { token?: string; method?: string; path?: string; body?: unknown };

async function ask(node: NodeProcess, { token, method = 'GET', path = '/auth/me', body }: Request) {
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), 'content-type': 'application/json' };
  const response = await fetch(`${node.url}/v1${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, json: text === '' ? null : JSON.parse(text) };
}

/** The token in the password reset mail to the address. */
async function mailedToken(to: string): Promise<string> {
  const kept = join(folder.path, 'mail');
  let mail: string | undefined;
  await until(async () => {
    const names = (await readdir(kept).catch(() => [])).filter((file) => file.startsWith('req_') && file.endsWith('.eml'));
    const mails = await Promise.all(names.map((name) => readFile(join(kept, name), 'utf8')));
    mail = mails.find((text) => text.includes(`To: ${to}`));
    return mail !== undefined;
  }, 'a mail');
  const text = mail!.replace(/=\r\n/g, '').replaceAll('=3D', '=');
  return /^v4\.public\.\S+/m.exec(text)![0];
}

/** A token that both nodes accept, and the request that ends it. */
type Ending = { token: string; end: () => Promise<{ status: number }> };

/** After one node has ended the token, no node accepts it one second after the answer. */
async function endsEverywhere(make: () => Promise<Ending>): Promise<void> {
  await withinASecond(async () => {
    const { token, end } = await make();
    for (const node of nodes) assert.equal((await ask(node, { token })).status, 200);
    const { status } = await end();
    assert.ok(status < 300, String(status));
    return nodes.map((node) => async () => (await ask(node, { token })).status === 401);
  });
}

test(
  'a revoked key, a signed-out session and all sessions of a user who set a new password are refused on every node within a second',
  options,
  async () => {
    const [here, there] = nodes as [NodeProcess, NodeProcess];
    const ann = await Caller.register(here, 'ann');
    await endsEverywhere(async () => {
      const { id, key } = await ann.json('POST', '/v1/api-keys', { name: 'ci', scopes: ['tasks.read'] });
      return { token: key, end: () => ask(there, { token: ann.token, method: 'DELETE', path: `/api-keys/${id}` }) };
    });

    const body = { email: 'ann@example.com', password };
    await endsEverywhere(async () => {
      const { access_token: token, refresh_token } = (await ask(here, { method: 'POST', path: '/auth/login', body })).json;
      return { token, end: () => ask(there, { token, method: 'POST', path: '/auth/logout', body: { refresh_token } }) };
    });
    assert.equal((await ask(there, { token: ann.token })).status, 200, 'other sessions stay');

    let users = 0;
    await endsEverywhere(async () => {
      const name = `forgetful-${users++}`;
      const { token } = await Caller.register(here, name);
      await ask(here, { method: 'POST', path: '/auth/forgot-password', body: { email: `${name}@example.com` } });
      const change = { token: await mailedToken(`${name}@example.com`), password: 'yet another one' };
      return { token, end: () => ask(there, { method: 'POST', path: '/auth/reset-password', body: change }) };
    });
  },
);

test('a key that is revoked at one node ends its streams at all of them with 4401, and no others', options, async () => {
  const [here, there] = nodes as [NodeProcess, NodeProcess];
  const person = await Caller.register(here);
  const [{ id, key }, { key: otherKey }] = await Promise.all(
    ['one', 'other'].map((name) => person.json('POST', '/v1/api-keys', { name, scopes: ['tasks.read'] })),
  );
  const open = async (node: NodeProcess, token: string, path: string) => {
    const client = await StreamClient.open(Number(new URL(node.url).port), path);
    client.send({ type: 'auth', token });
    await client.untilMessage('auth_ok');
    return client;
  };
  const streams = [await open(here, key, '/ws'), await open(there, key, '/v1/ws')];
  const others = [await open(here, otherKey, '/v1/ws'), await open(there, otherKey, '/ws')];
  await ask(there, { token: person.token, method: 'DELETE', path: `/api-keys/${id}` });
  for (const stream of streams) assert.equal(await stream.ended(), 4401);
  for (const other of others) {
    other.send({ type: 'ping' });
    await other.untilMessage('pong');
    other.vanish();
  }
});

test('wrong passwords are counted across the nodes', options, async () => {
  await Caller.register(nodes[0]!, 'bob');
  const guess = (node: NodeProcess) =>
    ask(node, { method: 'POST', path: '/auth/login', body: { email: 'bob@example.com', password: 'wrong' } });
  const statuses = [];
  for (let n = 0; n < 6; n++) statuses.push((await guess(nodes[n % 2]!)).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
});

test('SECRET_KEY is changed one node at a time, and no session ends', options, async () => {
  const ann = await Caller.register(nodes[0]!, 'carla');
  const everywhere = async () => {
    for (const node of nodes) assert.equal((await ask(node, { token: ann.token })).status, 200);
  };
  for (const n of [0, 1]) {
    const next = await cluster.add({ SECRET_KEY: second, SECRET_KEYS_ACCEPTED: first, DATA_DIR: folder.path });
    await next.untilReady();
    await nodes[n]!.term();
    cluster.nodes.splice(cluster.nodes.indexOf(nodes[n]!), 1);
    nodes = nodes.with(n, next);
    await everywhere();
  }
  const late = await cluster.add({ SECRET_KEY: second, SECRET_KEYS_ACCEPTED: '' });
  await late.untilReady();
  assert.equal((await ask(late, { token: ann.token })).status, 401, 'without the earlier key its tokens are over');
  const { json } = await ask(late, { method: 'POST', path: '/auth/login', body: { email: 'carla@example.com', password } });
  assert.equal((await ask(nodes[0]!, { token: json.access_token })).status, 200);
});
