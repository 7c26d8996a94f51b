import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import { HttpRequest } from '../../../src/edge/http/message.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { Concurrency } from '../../../src/edge/limits/concurrency.ts';
import type { Entitlement } from '../../../src/edge/limits/entitlements.ts';
import { RequestLimits } from '../../../src/edge/limits/limits.ts';
import { OwnRates } from '../../../src/edge/limits/own-rates.ts';
import { AppError } from '../../../src/errors.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { until } from '../../support/until.ts';

let nowUs = 0;
const concurrency = new Concurrency();
const entitlement: { -readonly [L in keyof Entitlement]: number } = { requestsPerMinute: 60, concurrentRequests: 3, websockets: 1 };
const limits = new RequestLimits({
  entitlements: { of: () => entitlement },
  rates: new OwnRates(() => nowUs),
  concurrency,
  anonymousPerMinute: 12,
});
let edge: TestEdge;
let release: () => void = () => {};

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/me',
    summary: 'x',
    scope: 'any',
    responses: { 200: Type.Object({}) },
    handler: () => ({ status: 200 as const, json: {} }),
  }),
  route({
    method: 'GET',
    path: '/open',
    summary: 'x',
    scope: null,
    responses: { 200: Type.Object({}) },
    handler: () => ({ status: 200 as const, json: {} }),
  }),
  route({
    method: 'GET',
    path: '/health',
    summary: 'x',
    scope: null,
    limited: false,
    responses: { 200: Type.Object({}) },
    handler: () => ({ status: 200 as const, json: {} }),
  }),
  route({
    method: 'GET',
    path: '/slow',
    summary: 'x',
    scope: 'any',
    responses: { 200: Type.Object({}) },
    handler: () => new Promise<{ status: 200; json: object }>((resolve) => (release = () => resolve({ status: 200 as const, json: {} }))),
  }),
  route({
    method: 'GET',
    path: '/fails',
    summary: 'x',
    scope: 'any',
    responses: { 200: Type.Object({}) },
    handler: async () => {
      throw new TypeError('a bug');
    },
  }),
  route({
    method: 'GET',
    path: '/stream',
    summary: 'x',
    scope: 'any',
    responses: { 200: null },
    // While a client reads.
    handler: () => ({ status: 200, headers: null, body: new Readable({ read() {} }) }),
  }),
  route({
    method: 'POST',
    path: '/body',
    summary: 'x',
    scope: 'any',
    body: Type.Object({}),
    responses: { 201: Type.Object({}) },
    handler: () => ({ status: 201 as const, json: {} }),
  }),
];

before(async () => {
  edge = await startEdge(routes, { limits });
});
after(() => edge.server.close(0));

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const head = (path: string, more = '', method = 'GET') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key\r\n${more}\r\n`;

/** A raw connection that has sent `text`. */
async function send(text: string): Promise<Socket> {
  const socket = connect(edge.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(text);
  socket.on('error', () => {});
  return socket;
}

/** A minute later all buckets are full. */
function later(): void {
  nowUs += 61_000_000;
}

test('exactly sixty requests a minute are granted, then one each second; every answer has the rate limit state', async () => {
  later();
  const statuses: number[] = [];
  for (let i = 0; i < 61; i++) statuses.push((await fetch(`${edge.url}/me`, as('all'))).status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [60, 429]);
  const refused = await fetch(`${edge.url}/me`, as('all'));
  const header = (name: string) => refused.headers.get(name);
  assert.deepEqual(
    [header('retry-after'), header('x-ratelimit-limit'), header('x-ratelimit-remaining'), header('x-ratelimit-reset')],
    ['1', '60', '0', '60'],
  );
  assert.deepEqual(Object.keys((await refused.json()) as object), ['detail']);
  nowUs += 999_999;
  assert.equal((await fetch(`${edge.url}/me`, as('all'))).status, 429);
  nowUs += 1;
  assert.equal((await fetch(`${edge.url}/me`, as('all'))).status, 200);
  assert.equal((await fetch(`${edge.url}/me`, as('key'))).status, 200, 'another caller has a bucket of its own');
});

test('refused, unknown and invalid requests have the headers too; requests without a token count against the address; health counts nothing', async () => {
  later();
  const seen: [number, string | null][] = [];
  for (const [path, init] of [
    ['/me', as('nobody')],
    ['/nowhere', {}],
    ['/me', { method: 'DELETE' }],
    ['/open', {}],
    ['/health', {}],
    ['/me', { method: 'OPTIONS' }],
  ] as const) {
    const answer = await fetch(edge.url + path, init);
    seen.push([answer.status, answer.headers.get('x-ratelimit-remaining')]);
  }
  assert.deepEqual(seen, [
    [401, '11'],
    [404, '10'],
    [405, '9'],
    [200, '8'],
    [200, '8'],
    [204, '8'],
  ]);
  for (let i = 0; i < 8; i++) await fetch(`${edge.url}/me`, as('nobody'));
  for (const path of ['/me', '/nowhere', '/open']) assert.equal((await fetch(edge.url + path)).status, 429, path);
  assert.equal((await fetch(`${edge.url}/health`)).status, 200);
  assert.equal((await fetch(`${edge.url}/me`, as('key'))).status, 200, 'who has a key is not refused for its address');
});

test('a request for an unknown path counts against its valid key, and with an invalid key against the address', async () => {
  later();
  const remaining = async (path: string, init: RequestInit) => (await fetch(edge.url + path, init)).headers.get('x-ratelimit-remaining');
  assert.equal(await remaining('/nowhere', as('key')), '59');
  assert.equal(await remaining('/me', { method: 'DELETE', ...as('key') }), '58');
  assert.equal(await remaining('/nowhere', as('nobody')), '11');
  for (let i = 0; i < 60; i++) await fetch(`${edge.url}/nowhere`, as('key'));
  assert.equal((await fetch(`${edge.url}/nowhere`, as('key'))).status, 429);
  assert.equal(await remaining('/open', {}), '10', 'the address has not paid for the key');
});

test('a token or cookie that is refused before its look-up counts against the address', async (t) => {
  nowUs += 120_000_000;
  const authenticate = () => {
    throw new AppError('forbidden', 'This cookie may not act');
  };
  const strict = await startEdge(routes, { limits, authenticate });
  t.after(() => strict.server.close(0));
  const statuses = [];
  for (let n = 0; n < 13; n++) statuses.push((await fetch(`${strict.url}/me`)).status);
  assert.deepEqual(statuses, [...Array(12).fill(403), 429]);
  assert.deepEqual(await Promise.all(['198.51.100.1', '127.0.0.1'].map((one) => limits.admitRefusedToken(one))), [true, false]);
});

test('all keys and sessions of an account together have five times the rate of one, which a refused request does not use up', async () => {
  later();
  const statuses = async (token: string, count: number) => {
    const seen = await Promise.all(Array.from({ length: count }, async () => (await fetch(`${edge.url}/me`, as(token))).status));
    return seen.filter((status) => status === 200).length;
  };
  entitlement.concurrentRequests = -1;
  try {
    const granted = [];
    for (const token of ['all', 'key', 'reader', 'more-1', 'more-2', 'more-3']) granted.push(await statuses(token, 70));
    assert.deepEqual(granted, [60, 60, 60, 60, 60, 0]);
    const refused = await fetch(`${edge.url}/me`, as('more-3'));
    assert.deepEqual(
      [
        refused.status,
        refused.headers.get('x-ratelimit-limit'),
        refused.headers.get('x-ratelimit-remaining'),
        refused.headers.get('retry-after'),
      ],
      [429, '300', '0', '1'],
    );
    assert.match(((await refused.json()) as { detail: string }).detail, /300 requests a minute by all keys and sessions/);
    assert.equal((await fetch(`${edge.url}/me`, as('other-account'))).status, 200);
    nowUs += 1_000_000;
    assert.deepEqual([await statuses('more-3', 20), limits.refused.account_rate > 0], [5, true], 'five times what comes back to one key');
  } finally {
    entitlement.concurrentRequests = 3;
  }
});

test('all keys of an account together have five times the requests at once of one', async () => {
  later();
  const sockets = await Promise.all(
    ['all', 'key', 'reader', 'more-1', 'more-2'].flatMap((token) =>
      [0, 1, 2].map(() => send(head('/slow').replace('Bearer key', `Bearer ${token}`))),
    ),
  );
  await until(() => concurrency.countOf('acct_1') === 15);
  assert.equal((await fetch(`${edge.url}/me`, as('more-3'))).status, 429);
  assert.equal(limits.refused.account_concurrency, 1);
  assert.equal((await fetch(`${edge.url}/me`, as('other-account'))).status, 200);
  for (const socket of sockets) socket.destroy();
  await until(() => concurrency.callers === 0);
});

test('IPv6 requests without a key are counted by /64, and all networks of a /48 together have twenty times as many', async () => {
  later();
  const ask = async (address: string) => {
    const bytes = new TextEncoder().encode(address);
    const request = new HttpRequest('GET', '/', '', [], null, { getRemoteAddressAsText: () => bytes.buffer as ArrayBuffer });
    const refused = await limits.admit(null, request);
    request.end();
    return refused?.code ?? 'admitted';
  };
  const answers: string[] = [];
  for (let i = 0; i < 12; i++) answers.push(await ask(`2001:db8:1:1::${i + 1}`));
  assert.deepEqual([...new Set(answers)], ['admitted']);
  assert.equal(await ask('2001:db8:1:1:ffff::1'), 'rate_limited', 'another address of the same /64');
  for (let network = 2; network <= 20; network++)
    for (let i = 0; i < 12; i++) assert.equal(await ask(`2001:db8:1:${network}::1`), 'admitted', String(network));
  assert.equal(await ask('2001:db8:1:99::1'), 'rate_limited', 'another /64 of the same /48');
  assert.equal(await ask('2001:db8:2:1::1'), 'admitted', 'another /48');
});

test('a download link counts against a quota of its account, separate from its keys and from the address', async () => {
  later();
  for (let i = 0; i < 70; i++) assert.equal((await fetch(`${edge.url}/body`, as('link'))).status, 405);
  const link = await fetch(`${edge.url}/nowhere`, as('link'));
  assert.deepEqual([link.headers.get('x-ratelimit-limit'), link.headers.get('x-ratelimit-remaining')], ['300', '229']);
  assert.equal((await fetch(`${edge.url}/open`)).headers.get('x-ratelimit-remaining'), '11');
  assert.equal((await fetch(`${edge.url}/me`, as('key'))).headers.get('x-ratelimit-remaining'), '59');
});

test('a caller has a limited number of concurrent requests; each frees its slot however it ends', async () => {
  later();
  const full = async () => {
    const answer = await fetch(`${edge.url}/me`, as('key'));
    return [answer.status, answer.headers.get('retry-after')];
  };
  const endings: [string, string][] = [
    ['a client that goes while it is answered', head('/slow')],
    ['a client that goes in the middle of a stream', head('/stream')],
    ['a client that goes in the middle of its body', head('/body', 'Content-Type: application/json\r\nContent-Length: 100\r\n', 'POST')],
  ];
  for (const [name, request] of endings) {
    const sockets = await Promise.all([send(request), send(request), send(request)]);
    await until(() => concurrency.countOf('key-1') === 3);
    assert.deepEqual(await full(), [429, '1'], name);
    assert.equal((await fetch(`${edge.url}/me`, as('all'))).status, 200, 'others have places of their own');
    for (const socket of sockets) socket.destroy();
    await until(() => concurrency.countOf('key-1') === 0);
    assert.equal((await full())[0], 200, name);
  }
  const slow = fetch(`${edge.url}/slow`, as('key'));
  await until(() => concurrency.countOf('key-1') === 1);
  release();
  await slow;
  for (let i = 0; i < 5; i++) assert.equal((await fetch(`${edge.url}/fails`, as('key'))).status, 500);
  await fetch(`${edge.url}/nowhere`, { method: 'POST', body: 'x'.repeat(100_000) }).catch(() => {});
  await until(() => concurrency.callers === 0);
});

test('a hundred requests with random endings leave no slot taken', async () => {
  later();
  entitlement.requestsPerMinute = -1;
  entitlement.concurrentRequests = -1;
  const requests = [
    head('/me'),
    head('/slow'),
    head('/stream'),
    head('/fails'),
    head('/body', 'Content-Length: 9\r\n', 'POST'),
    head('/nowhere'),
  ];
  await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const socket = await send(requests[i % requests.length]!);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      socket.destroy();
      await once(socket, 'close');
    }),
  );
  await until(() => concurrency.callers === 0);
  const answer = await fetch(`${edge.url}/me`, as('key'));
  assert.deepEqual([answer.headers.get('x-ratelimit-limit'), answer.headers.get('x-ratelimit-reset')], ['2147483647', '0']);
});
