import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import type { HttpRequest } from '../../../src/edge/http/message.ts';
import { type AnyContext, type AnyRoute, type Reply, route } from '../../../src/edge/http/route.ts';
import { createRouter } from '../../../src/edge/http/router.ts';
import { unlimited } from '../../../src/edge/limits/limits.ts';
import { AppError } from '../../../src/errors.ts';
import { noLog } from '../../../src/log.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { rawRequest } from '../../support/raw-http.ts';

const Task = Type.Object({ id: Type.String(), variant: Type.String() });
const seen: string[] = [];

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Health',
    scope: null,
    responses: { 200: Type.Object({ status: Type.String() }) },
    handler: () => ({ status: 200, json: { status: 'ok' } }),
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}',
    summary: 'One',
    scope: 'tasks.read',
    responses: { 200: Task },
    handler: ({ params, variant }) => ({ status: 200, json: { id: params.id, variant } }),
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}/slow',
    summary: 'Later',
    scope: 'tasks.read',
    responses: { 200: Task },
    handler: async ({ params, variant }) => ({ status: 200, json: { id: params.id, variant } }),
  }),
  route({
    method: 'POST',
    path: '/tasks',
    summary: 'Create',
    scope: 'tasks.write',
    body: Type.Object({ prompt: Type.String({ minLength: 1 }) }),
    responses: { 201: Task },
    handler: ({ body, variant }) => ({ status: 201, json: { id: body.prompt, variant }, headers: { Location: '/tasks/1' } }),
  }),
  route({
    method: 'GET',
    path: '/sites/{id}/{path*}',
    summary: 'A file',
    scope: 'tasks.read',
    responses: { 200: Task },
    handler: ({ params, variant }) => ({ status: 200, json: { id: `${params.id}: ${params.path}`, variant } }),
  }),
  route({
    method: 'DELETE',
    path: '/tasks/{id}',
    summary: 'Remove',
    scope: 'tasks.write',
    responses: { 204: null },
    handler: () => ({ status: 204 }),
  }),
  route({
    method: 'GET',
    path: '/tasks/special',
    summary: 'Fixed',
    scope: null,
    responses: { 200: Task },
    handler: ({ variant }) => ({ status: 200, json: { id: 'fixed', variant } }),
  }),
  route({
    method: 'POST',
    path: '/settings',
    summary: 'Session only',
    scope: 'session',
    responses: { 200: Task },
    handler: ({ variant }) => ({ status: 200, json: { id: 's', variant } }),
  }),
  route({
    method: 'GET',
    path: '/me',
    summary: 'Any',
    scope: 'any',
    responses: { 200: Task },
    handler: ({ variant, principal }) => ({ status: 200, json: { id: principal.id, variant } }),
  }),
  route({
    method: 'GET',
    path: '/fails/{how}',
    summary: 'Fails',
    scope: null,
    responses: { 200: Task },
    handler: ({ params }) => fail(params.how),
  }),
  route({
    method: 'GET',
    path: '/fails-later/{how}',
    summary: 'Fails',
    scope: null,
    responses: { 200: Task },
    handler: async ({ params }) => fail(params.how),
  }),
];

function fail(how: string): never {
  if (how === 'bug') throw new TypeError('the password is hunter2');
  if (how === 'private') throw new AppError('stale_epoch', 'shard 7 epoch 3');
  if (how === 'busy') throw new AppError('overloaded', 'Too much to do', { retryAfterS: 1.2 });
  throw new AppError('conflict', 'Already there');
}

let edge: TestEdge;
before(async () => {
  edge = await startEdge(routes, {
    around: async (context: AnyContext, next: () => Promise<Reply>) => {
      seen.push(`${context.route.path} ${context.request.header('idempotency-key')}`);
      return next();
    },
  });
});
after(() => edge.server.close(0));

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const json = (body: string, token = 'all') => ({
  method: 'POST',
  body,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
});

test('every path is served with and without /v1, and the handler knows which', async () => {
  for (const [prefix, variant] of [
    ['/v1', 'A'],
    ['', 'B'],
  ]) {
    const response = await fetch(`${edge.url}${prefix}/tasks/task_1`, bearer('all'));
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { id: 'task_1', variant });
    assert.equal(response.headers.get('content-type'), 'application/json');
  }
});

test('an asynchronous handler gives the same answer', async () => {
  const response = await fetch(`${edge.url}/tasks/task_1/slow`, bearer('all'));
  assert.deepEqual([response.status, await response.json()], [200, { id: 'task_1', variant: 'B' }]);
});

test('every answer has a request id: that of the caller if well-formed, otherwise a new one', async () => {
  const own = await fetch(`${edge.url}/health`, { headers: { 'x-request-id': 'abc-1_2' } });
  assert.equal(own.headers.get('x-request-id'), 'abc-1_2');
  for (const bad of ['a b', 'x'.repeat(129), 'a"b', 'ü']) {
    const response = await fetch(`${edge.url}/nowhere`, { headers: { 'x-request-id': bad } });
    assert.match(response.headers.get('x-request-id')!, /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  }
});

test('request ids do not repeat', async () => {
  const { newRequestId } = await import('../../../src/edge/http/request-id.ts');
  assert.equal(new Set(Array.from({ length: 20_000 }, () => newRequestId())).size, 20_000);
});

test('an unknown path is 404, also in malicious forms', async () => {
  for (const path of [
    '/nowhere',
    '/',
    '/v1',
    '/v1/',
    '/v1/v1/tasks/1',
    '//tasks/1',
    '/tasks//1',
    '/tasks/',
    '/tasks/1/',
    '/tasks/../health',
    '/%2e%2e/health',
    '/v1/%2e%2e/health',
    '/TASKS/1',
    '/health%00',
    '/health/',
    '/tasks/%00',
    '/tasks/a%00b',
    '/tasks/%',
    '/tasks/%zz',
    '/tasks/%ff',
    '/tasks/%ed%a0%80',
  ]) {
    const answer = await rawRequest(edge.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n`);
    assert.equal(answer?.status, 404, path);
    assert.equal(answer!.body.toString(), '{"detail":"Not Found"}', path);
  }
});

test('a parameter is decoded once and keeps its slash', async () => {
  const answer = await rawRequest(edge.port, 'GET /tasks/a%2Fb%2520%C3%BC HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n');
  assert.equal(JSON.parse(answer!.body.toString()).id, 'a/b%20ü');
});

test('the rest of a path keeps its slashes, may be empty, and is decoded once', async () => {
  for (const [path, id] of [
    ['/v1/sites/a/', 'a: '],
    ['/sites/a/b/c.html', 'a: b/c.html'],
    ['/sites/a/b%2Fc//../d%2520', 'a: b/c//../d%20'],
  ] as const)
    assert.equal(JSON.parse((await get(path)).body.toString()).id, id, path);
  for (const path of ['/sites/a', '/sites//b', '/sites/a/%ff', '/sites/a/b%00']) assert.equal((await get(path)).status, 404, path);

  async function get(path: string) {
    return (await rawRequest(edge.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n`))!;
  }
});

test('a fixed segment is preferred to a parameter', async () => {
  assert.equal(((await (await fetch(`${edge.url}/tasks/special`)).json()) as { id: string }).id, 'fixed');
});

test('a wrong or unknown method is 405 and lists the allowed ones', async () => {
  for (const method of ['PUT', 'PATCH', 'FOO', 'TRACE', 'CONNECT']) {
    const answer = await rawRequest(edge.port, `${method} /tasks/1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.equal(answer?.status, 405, method);
    assert.equal(answer!.headers.get('allow'), 'GET, HEAD, DELETE, OPTIONS');
    assert.equal(answer!.body.toString(), '{"detail":"Method Not Allowed"}');
  }
});

test('OPTIONS lists the methods and has no body', async () => {
  const response = await fetch(`${edge.url}/v1/tasks`, { method: 'OPTIONS' });
  assert.deepEqual([response.status, response.headers.get('allow'), await response.text()], [204, 'POST, OPTIONS', '']);
});

test('HEAD answers as GET does, with its length and without its body', async () => {
  const get = await fetch(`${edge.url}/tasks/1`, bearer('all'));
  const length = get.headers.get('content-length');
  const head = await rawRequest(edge.port, 'HEAD /tasks/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n', { head: true });
  assert.deepEqual([head!.status, head!.headers.get('content-length')], [200, length]);
});

test('an empty answer is 204 without a length', async () => {
  const answer = await rawRequest(edge.port, 'DELETE /tasks/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n');
  assert.deepEqual([answer!.status, answer!.headers.get('content-length')], [204, undefined]);
});

test('no token or a wrong one is 401 before the body is read', async () => {
  for (const token of ['', 'Bearer nobody', 'Basic all']) {
    const response = await fetch(`${edge.url}/tasks`, { method: 'POST', body: '{{{', headers: { authorization: token } });
    assert.equal(response.status, 401);
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    assert.deepEqual(await response.json(), { detail: 'Not authenticated' });
  }
});

test('a missing scope is 403 before the body is read', async () => {
  const response = await fetch(`${edge.url}/tasks`, json('{{{', 'reader'));
  assert.deepEqual([response.status, await response.json()], [403, { detail: 'This needs the scope tasks.write' }]);
});

test('routes that need a session refuse keys, and a download link opens only its own file', async () => {
  assert.equal((await fetch(`${edge.url}/settings`, { method: 'POST', ...bearer('key') })).status, 403);
  assert.equal((await fetch(`${edge.url}/settings`, { method: 'POST', ...bearer('all') })).status, 200);
  assert.equal((await fetch(`${edge.url}/me`, bearer('link'))).status, 403);
  assert.equal((await fetch(`${edge.url}/me`, bearer('key'))).status, 200);
  assert.equal((await fetch(`${edge.url}/tasks/1`, bearer('link'))).status, 200);
});

test('a refusal by the limiter comes after the scope and before the body, with its headers and Retry-After', async () => {
  const callers: unknown[] = [];
  const limited = await startEdge(routes, {
    limits: {
      admit(principal, request) {
        callers.push(principal?.id ?? request.clientAddress);
        request.rateLimit = { limit: 60, remaining: 0, resetS: 9 };
        return new AppError('rate_limited', 'Too many', { retryAfterS: 7 });
      },
      peek: () => {},
    },
  });
  assert.equal((await fetch(`${limited.url}/tasks`, json('{{{', 'reader'))).status, 403);
  const response = await fetch(`${limited.url}/tasks`, json('{{{'));
  assert.deepEqual([response.status, response.headers.get('retry-after'), response.headers.get('x-ratelimit-reset')], [429, '7', '9']);
  await fetch(`${limited.url}/health`);
  assert.deepEqual(callers, ['key-2', 'ses_1', '127.0.0.1']);
  await limited.server.close(0);
});

test('refused tokens count against the address; beyond the limit the answer is 429', async () => {
  let left = 2;
  const limited = await startEdge(routes, {
    limits: { admit: (principal) => (principal !== null || left-- > 0 ? null : new AppError('rate_limited', 'Too many')), peek: () => {} },
  });
  const statuses: number[] = [];
  for (const token of ['wrong', 'all', 'none', 'other', 'all'])
    statuses.push((await fetch(`${limited.url}/tasks`, json('{"prompt":"x"}', token))).status);
  assert.deepEqual(statuses, [401, 201, 401, 429, 201]);
  await limited.server.close(0);
});

test('asynchronous authentication and limits run in the same order and get the address', async () => {
  const later = await startEdge(routes, {
    authenticate: async (request: HttpRequest) =>
      request.header('authorization') === 'Bearer all'
        ? { accountId: 'a', userId: 'u', kind: 'session', scopes: 'all', mode: 'live', id: 's' }
        : null,
    limits: {
      async admit(_, request) {
        request.rateLimit = { limit: 60, remaining: 59, resetS: 1 };
        return null;
      },
      peek: () => {},
    },
  });
  const refused = await fetch(`${later.url}/tasks`, { method: 'POST', body: 'x' });
  assert.deepEqual([refused.status, refused.headers.get('x-ratelimit-remaining')], [401, '59']);
  const response = await fetch(`${later.url}/tasks`, json('{"prompt":"hello"}'));
  assert.deepEqual([response.status, response.headers.get('x-ratelimit-limit'), response.headers.get('location')], [201, '60', '/tasks/1']);
  assert.equal((await fetch(`${later.url}/tasks`, json('{"prompt":""}'))).status, 422);
  await later.server.close(0);
});

test('if a token or its limits cannot be queried, the answer has the limits of the address', async () => {
  const down = async (): Promise<never> => {
    throw new AppError('unavailable', 'The database does not answer');
  };
  const peek = (request: HttpRequest) => {
    request.rateLimit = { limit: request.clientAddress === '127.0.0.1' ? 60 : 0, remaining: 59, resetS: 1 };
  };
  for (const parts of [{ authenticate: down, limits: { admit: () => null, peek } }, { limits: { admit: down, peek } }]) {
    const broken = await startEdge(routes, parts);
    const response = await fetch(`${broken.url}/tasks`, json('{"prompt":"hello"}'));
    assert.deepEqual([response.status, response.headers.get('x-ratelimit-limit')], [503, '60']);
    await broken.server.close(0);
  }
});

test('the wrapper sees every POST after validation, and nothing else', async () => {
  seen.length = 0;
  await fetch(`${edge.url}/tasks`, { ...json('{"prompt":"x"}'), headers: { ...json('').headers, 'idempotency-key': 'k1' } });
  await fetch(`${edge.url}/tasks`, json('{}'));
  await fetch(`${edge.url}/tasks/1`, bearer('all'));
  assert.deepEqual(seen, ['/tasks k1']);
});

test('an expected failure has the status of its code; only texts meant for callers reach them', async () => {
  for (const path of ['/fails', '/fails-later']) {
    const busy = await fetch(`${edge.url}${path}/busy`);
    assert.deepEqual([busy.status, busy.headers.get('retry-after'), await busy.json()], [503, '2', { detail: 'Too much to do' }]);
    const conflict = await fetch(`${edge.url}${path}/conflict`);
    assert.deepEqual([conflict.status, await conflict.json()], [409, { detail: 'Already there' }]);
    const hidden = await fetch(`${edge.url}${path}/private`);
    assert.deepEqual([hidden.status, await hidden.json()], [503, { detail: 'Service Unavailable' }]);
  }
});

test('a bug is a 500 without its text, logged with the request id', async () => {
  for (const path of ['/fails/bug', '/fails-later/bug']) {
    edge.logged.length = 0;
    const response = await fetch(edge.url + path, { headers: { 'x-request-id': 'mine' } });
    assert.deepEqual([response.status, await response.json()], [500, { detail: 'Internal Server Error' }]);
    const [line] = edge.logged;
    assert.equal(line?.level, 'error');
    assert.equal((line!.fields as { request_id: string }).request_id, 'mine');
  }
});

test('declaring an endpoint twice is refused at start', () => {
  assert.throws(
    () => createRouter({ routes: [routes[0]!, routes[0]!], authenticate: () => null, limits: unlimited, log: noLog }),
    /GET \/health is declared twice/,
  );
});

test('a command that would be shed is refused before its token and body are read; reads continue', async (t) => {
  let overloaded = true;
  const busy = await startEdge(routes, { isOverloaded: () => overloaded });
  t.after(() => busy.server.close(0));
  const answer = await fetch(`${busy.url}/v1/tasks`, { method: 'POST', body: 'no JSON' });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.deepEqual(await answer.json(), { detail: 'The service has too much to do; try again shortly' });
  assert.equal((await fetch(`${busy.url}/health`)).status, 200);
  assert.equal((await fetch(`${busy.url}/v1/tasks/1`, { headers: { Authorization: 'Bearer all' } })).status, 200);
  assert.deepEqual(busy.logged, [], 'what is shed is counted and not logged');
  overloaded = false;
  assert.equal((await fetch(`${busy.url}/v1/tasks`, { method: 'POST', body: 'no JSON' })).status, 401);
});
