import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { withCors } from '../../../src/edge/http/cors.ts';
import type { HttpRequest } from '../../../src/edge/http/message.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { createRouter } from '../../../src/edge/http/router.ts';
import { createServer } from '../../../src/edge/http/server.ts';
import { unlimited } from '../../../src/edge/limits/limits.ts';
import { noLog } from '../../../src/log.ts';

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/tasks/{id}',
    summary: 'One',
    scope: 'tasks.read',
    responses: { 200: Type.String() },
    handler: async ({ params }) => ({ status: 200, json: params.id.repeat(2_000) }),
  }),
  route({
    method: 'POST',
    path: '/tasks',
    summary: 'Create',
    scope: null,
    body: Type.Object({ n: Type.Integer() }),
    responses: { 201: Type.Integer() },
    handler: ({ body }) => ({ status: 201, json: body.n }),
  }),
];

const principal = { accountId: 'a', userId: 'u', kind: 'session', scopes: 'all', mode: 'live', id: 's' } as const;
const authenticate = (request: HttpRequest) => (request.header('authorization') === 'Bearer all' ? principal : null);

async function startWith(t: { after(work: () => Promise<void>): void }, origins: string[]): Promise<string> {
  const router = createRouter({ routes, authenticate, limits: unlimited, log: noLog });
  const handler = withCors(router, origins);
  const server = await createServer({ handler, log: noLog, maxHeaderBytes: 16_384, accessLog: false });
  t.after(() => server.close(0));
  const { port } = await server.listen('127.0.0.1', 0);
  return `http://127.0.0.1:${port}/v1`;
}

const app = 'https://app.example.com';
const preflight = (origin: string, method: string) => ({
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization,idempotency-key' },
});
const cors = (response: Response): string[] =>
  [...response.headers.keys()].filter((name) => name.startsWith('access-control-') || name === 'vary').sort();

test('without configured origins no answer has CORS headers', async (t) => {
  const url = await startWith(t, []);
  for (const response of [
    await fetch(`${url}/tasks`, preflight(app, 'POST')),
    await fetch(`${url}/tasks/1`, { headers: { origin: app } }),
  ]) {
    assert.deepEqual(cors(response), []);
  }
});

test('a preflight of a listed origin gets the methods, the headers and their lifetime', async (t) => {
  const url = await startWith(t, [app]);
  const response = await fetch(`${url}/tasks`, preflight(app, 'POST'));
  assert.equal(response.status, 204);
  assert.equal(response.headers.get('access-control-allow-origin'), app);
  assert.equal(response.headers.get('access-control-allow-credentials'), 'true');
  assert.equal(response.headers.get('access-control-allow-methods'), 'POST, OPTIONS');
  assert.match(
    response.headers.get('access-control-allow-headers')!,
    /Authorization.*Idempotency-Key.*MCP-Protocol-Version, Mcp-Method, Mcp-Name/,
  );
  assert.equal(response.headers.get('access-control-max-age'), '7200');
  assert.equal(response.headers.get('vary'), 'Origin');
});

test('a page of a listed origin can read every answer, also refusals, with its headers', async (t) => {
  const url = await startWith(t, [app]);
  const token = { origin: app, authorization: 'Bearer all' };
  const answers = {
    200: await fetch(`${url}/tasks/1`, { headers: token }),
    304: await fetch(`${url}/tasks/1`, { headers: { ...token, 'if-none-match': '*' } }),
    401: await fetch(`${url}/tasks/1`, { headers: { origin: app } }),
    404: await fetch(`${url}/nowhere`, { headers: { origin: app } }),
    405: await fetch(`${url}/tasks`, { method: 'PUT', headers: { origin: app } }),
    415: await fetch(`${url}/tasks`, { method: 'POST', body: '{}', headers: { origin: app } }),
    422: await fetch(`${url}/tasks`, { method: 'POST', body: '{}', headers: { origin: app, 'content-type': 'application/json' } }),
  };
  for (const [status, response] of Object.entries(answers)) {
    assert.equal(response.status, Number(status));
    assert.equal(response.headers.get('access-control-allow-origin'), app, status);
    assert.match(response.headers.get('access-control-expose-headers')!, /X-Request-Id.*X-RateLimit-Remaining.*ETag/, status);
  }
  assert.equal(answers[200].headers.get('vary'), 'Accept-Encoding, Origin');
});

test('another origin, a page without one and a caller that is not a page get the answer without CORS headers', async (t) => {
  const url = await startWith(t, [app]);
  for (const origin of ['https://evil.example.com', 'http://app.example.com', `${app}.evil.com`, 'null', '']) {
    const headers: Record<string, string> = origin === '' ? {} : { origin };
    for (const response of [
      await fetch(`${url}/tasks/1`, { headers }),
      await fetch(`${url}/tasks`, { ...preflight(origin, 'POST'), headers: { ...preflight(origin, 'POST').headers, origin } }),
    ]) {
      assert.deepEqual(cors(response), ['vary'], origin);
    }
  }
});

test('with * any origin may read, and only a listed origin may send cookies', async (t) => {
  const open = await startWith(t, ['*']);
  const anyone = await fetch(`${open}/tasks/1`, { headers: { origin: 'https://x.example' } });
  assert.deepEqual(
    [anyone.headers.get('access-control-allow-origin'), anyone.headers.get('access-control-allow-credentials'), anyone.headers.get('vary')],
    ['*', null, null],
  );
  const both = await startWith(t, ['*', app]);
  const listed = await fetch(`${both}/tasks/1`, { headers: { origin: app } });
  assert.deepEqual(
    [listed.headers.get('access-control-allow-origin'), listed.headers.get('access-control-allow-credentials')],
    [app, 'true'],
  );
  const other = await fetch(`${both}/tasks/1`, { headers: { origin: 'https://x.example' } });
  assert.deepEqual([other.headers.get('access-control-allow-origin'), other.headers.get('vary')], ['*', 'Origin']);
});
