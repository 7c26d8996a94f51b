import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import Type from 'typebox';
import type { HttpResponse } from '../../../src/edge/http/message.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { type RawAnswer, rawRequest } from '../../support/raw-http.ts';

let words = 'one';
const long = (chars: number): string => words.repeat(Math.ceil(chars / words.length)).slice(0, chars);

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/tasks/{id}',
    summary: 'So many characters',
    scope: 'tasks.read',
    responses: { 200: Type.Unknown() },
    handler: ({ params }) => ({ status: 200, json: long(Number(params.id)) }),
  }),
  route({
    method: 'GET',
    path: '/report',
    summary: 'Text with a tag and a rule of its own',
    scope: 'tasks.read',
    responses: { 200: null },
    handler: (): HttpResponse => ({
      status: 200,
      headers: { 'Content-Type': 'text/csv', ETag: '"own"', 'Cache-Control': 'no-store' },
      body: long(5_000),
    }),
  }),
  route({
    method: 'GET',
    path: '/gone',
    summary: 'A refusal',
    scope: 'tasks.read',
    responses: { 200: null, 404: Type.Unknown() },
    handler: (): HttpResponse => ({ status: 404, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(long(5_000)) }),
  }),
  route({
    method: 'POST',
    path: '/secrets',
    summary: 'Shows a secret once',
    scope: 'any',
    body: Type.Unknown(),
    responses: { 201: Type.Unknown() },
    handler: ({ body }) => ({ status: 201, json: { secret: 'hunter2', given: body, padding: long(5_000) } }),
  }),
];

let edge: TestEdge;
before(async () => {
  edge = await startEdge(routes);
});
after(() => edge.server.close(0));

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<RawAnswer> {
  const lines = Object.entries({ Host: 'a', Authorization: 'Bearer all', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return (await rawRequest(edge.port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, { head: method === 'HEAD' }))!;
}

test('a read of an unchanged resource is 304, with the tag and without the body; for HEAD and both prefixes', async () => {
  const first = await ask('/v1/tasks/20');
  const tag = first.headers.get('etag')!;
  assert.match(tag, /^W\/"[\w-]{27}"$/);
  assert.equal(first.headers.get('cache-control'), 'private, no-cache');
  for (const known of [tag, tag.slice(2), `"x", ${tag}`, `${tag},"y"`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const again = await ask('/tasks/20', { 'If-None-Match': known }, method);
      assert.deepEqual([again.status, again.headers.get('etag'), again.body.length], [304, tag, 0], `${method} ${known}`);
      assert.equal(again.headers.get('content-type'), undefined);
    }
  }
  for (const other of ['"x"', 'W/"x"', tag.replaceAll('"', ''), '', 'W/']) {
    assert.equal((await ask('/tasks/20', { 'If-None-Match': other })).status, 200, other);
  }
});

test('a tag changes with its content', async () => {
  const before = (await ask('/tasks/20')).headers.get('etag')!;
  words = 'two';
  const changed = await ask('/tasks/20', { 'If-None-Match': before });
  words = 'one';
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), before);
});

test('a handler’s own tag and rule stay; a refusal has no tag', async () => {
  const report = await ask('/report');
  assert.deepEqual(
    ['etag', 'cache-control', 'content-type'].map((name) => report.headers.get(name)),
    ['"own"', 'no-store', 'text/csv'],
  );
  assert.equal((await ask('/report', { 'If-None-Match': 'W/"own"' })).status, 304);
  const gone = await ask('/gone', { 'If-None-Match': '*' });
  assert.deepEqual([gone.status, gone.headers.get('etag')], [404, undefined]);
});

test('text longer than a packet is compressed for clients that accept gzip, at once or in the thread pool, with a Vary header', async () => {
  for (const chars of [1_500, 10_000, 300_000]) {
    const plain = await ask(`/tasks/${chars}`);
    const small = await ask(`/tasks/${chars}`, { 'Accept-Encoding': 'br, GZIP;q=0.5' });
    assert.deepEqual([plain.headers.get('content-encoding'), small.headers.get('content-encoding')], [undefined, 'gzip']);
    assert.deepEqual(gunzipSync(small.body), plain.body);
    assert.ok(small.body.length < plain.body.length / 5);
    for (const name of ['vary', 'etag', 'content-type']) assert.equal(small.headers.get(name), plain.headers.get(name), name);
    assert.equal(small.headers.get('vary'), 'Accept-Encoding');
    const head = await ask(`/tasks/${chars}`, { 'Accept-Encoding': 'gzip' }, 'HEAD');
    assert.equal(head.headers.get('content-length'), String(small.body.length));
    assert.equal((await ask(`/tasks/${chars}`, { 'Accept-Encoding': 'gzip', 'If-None-Match': small.headers.get('etag')! })).status, 304);
  }
});

test('answers that are short, refusals, requested with a cookie or marked as incompressible are not compressed', async () => {
  const gzip = { 'Accept-Encoding': 'gzip' };
  for (const [path, headers] of [
    ['/tasks/1000', gzip],
    ['/gone', gzip],
    ['/tasks/5000', { ...gzip, Cookie: 'troupe_session=x' }],
    ['/tasks/5000', { 'Accept-Encoding': 'gzip;q=0' }],
    ['/tasks/5000', { 'Accept-Encoding': 'gzip; q=0.000' }],
    ['/tasks/5000', { 'Accept-Encoding': 'xgzip, identity' }],
    ['/tasks/5000', { 'Accept-Encoding': '' }],
  ] as const) {
    const answer = await ask(path, headers);
    assert.equal(answer.headers.get('content-encoding'), undefined, `${path} ${JSON.stringify(headers)}`);
  }
});

test('the answer to a command, which may show a secret beside what its caller sent, is never compressed', async () => {
  const body = JSON.stringify('hunter'.repeat(500));
  const headers = { 'Accept-Encoding': 'gzip', 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  const answer = await ask('/secrets', headers, 'POST', body);
  assert.deepEqual([answer.status, answer.headers.get('content-encoding'), answer.headers.get('etag')], [201, undefined, undefined]);
});

test('many concurrent long answers are all correct, compressed or not', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask('/tasks/200000', { 'Accept-Encoding': 'gzip' })));
  for (const { headers, body } of answers) {
    const text = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body;
    assert.equal(text.length, 200_002);
  }
});
