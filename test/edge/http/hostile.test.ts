import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import type { HttpResponse } from '../../../src/edge/http/message.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { RawClient, rawRequest } from '../../support/raw-http.ts';

const Echo = Type.Object({ got: Type.Unknown() });
let release: () => void = () => {};
let entered: () => void = () => {};

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Health',
    scope: null,
    responses: { 200: Echo },
    handler: () => ({ status: 200, json: { got: 'ok' } }),
  }),
  route({
    method: 'POST',
    path: '/echo',
    summary: 'Echo',
    scope: null,
    body: Type.Unknown(),
    responses: { 200: Echo },
    handler: ({ body }) => ({ status: 200, json: { got: typeof body === 'string' ? body.length : body } }),
  }),
  route({
    method: 'POST',
    path: '/count',
    summary: 'A number',
    scope: null,
    body: Type.Object({ n: Type.Number() }),
    responses: { 200: Echo },
    handler: ({ body }) => ({ status: 200, json: { got: body.n } }),
  }),
  route({
    method: 'POST',
    path: '/news',
    summary: 'Bytes of anybody',
    scope: null,
    limited: false,
    readsBody: true,
    responses: { 200: Echo },
    handler: async ({ readBytes }) => ({ status: 200, json: { got: (await readBytes(2 ** 19)).length } }),
  }),
  route({
    method: 'GET',
    path: '/held',
    summary: 'Waits',
    scope: null,
    responses: { 200: Echo },
    handler: async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
        entered();
      });
      return { status: 200, json: { got: 'held' } };
    },
  }),
  route({
    method: 'GET',
    path: '/broken-header',
    summary: 'Defect',
    scope: null,
    responses: { 200: Echo },
    handler: (): HttpResponse => ({ status: 200, headers: { 'X-Bad': 7 as unknown as string }, body: 'x' }),
  }),
  route({
    method: 'GET',
    path: '/broken-header-later',
    summary: 'Defect',
    scope: null,
    responses: { 200: Echo },
    handler: async (): Promise<HttpResponse> => ({ status: 200, headers: { 'X-Bad': 7 as unknown as string }, body: 'x' }),
  }),
];

let edge: TestEdge;
before(async () => {
  edge = await startEdge(routes);
});
after(() => edge.server.close(0));

const post = (headers: string, body: string | Buffer = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n`, 'latin1'),
    Buffer.from(body as string, 'latin1'),
  ]);
const sized = (body: string | Buffer): Buffer => post(`Content-Length: ${Buffer.byteLength(body as string, 'latin1')}\r\n`, body);
const stillServes = async (): Promise<void> => assert.equal((await fetch(`${edge.url}/health`)).status, 200);

test('repeated headers that must be unique are refused, and the connection is closed', async () => {
  const cases = {
    'two lengths': post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}'),
    'two different lengths': post('Content-Length: 2\r\nContent-Length: 40\r\n', '{}'),
    'two hosts': Buffer.from('GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
    'two transfer encodings': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    'an encoding that is not understood': post('Transfer-Encoding: gzip\r\n', '0\r\n\r\n'),
    'length and encoding': post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    'two tokens': Buffer.from('GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n'),
    'a negative length': post('Content-Length: -2\r\n', '{}'),
    'a length beyond all numbers': post('Content-Length: 99999999999999999999999\r\n', '{}'),
    'two lengths in one': post('Content-Length: 2, 2\r\n', '{}'),
    'a signed length': post('Content-Length: +2\r\n', '{}'),
    'an empty length': post('Content-Length: \r\n', '{}'),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    const client = await RawClient.connect(edge.port);
    await client.send(bytes);
    const answer = await client.answer();
    await client.closed();
    assert.equal(answer?.status, 400, name);
  }
  await stillServes();
});

test('pipelined requests in one packet are answered in order', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send(
    Buffer.concat([
      sized('{"n":1}'),
      Buffer.from('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)),
      Buffer.from('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'),
    ]),
  );
  const statuses: (number | undefined)[] = [];
  for (let i = 0; i < 5; i++) statuses.push((await client.answer())?.status);
  // The first waits for its body, which is there: the others are not mixed up with it.
  assert.deepEqual(statuses, [200, 200, 200, 200, 404]);
  client.end();
});

test('a second request while the first is still unanswered ends the connection rather than mixing answers', async () => {
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const client = await RawClient.connect(edge.port);
  await client.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
  await inside;
  await client.send('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.closed();
  assert.equal(client.rest.length, 0);
  release();
  await stillServes();
});

test('a client that disconnects while its request runs affects no other', async () => {
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const client = await RawClient.connect(edge.port);
  await client.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
  await inside;
  client.socket.resetAndDestroy();
  await stillServes();
  release();
  await stillServes();
});

test('a client that closes its sending half after the request ends the request and affects no other', async () => {
  const client = await RawClient.connect(edge.port);
  client.socket.end('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.closed();
  release();
  await stillServes();
});

test('a defect in an answer ends its connection, not the process', async () => {
  for (const path of ['/broken-header', '/broken-header-later']) {
    await assert.rejects(fetch(edge.url + path));
    await stillServes();
  }
});

test('JSON over a MiB is refused by its Content-Length before a byte of it is sent', async () => {
  const answer = await rawRequest(edge.port, post(`Content-Length: ${2 ** 20 + 1}\r\n`));
  assert.deepEqual([answer?.status, answer?.body.toString()], [413, '{"detail":"A JSON body may have at most 1048576 bytes"}']);
});

test('JSON over a MiB in chunks is refused while it is read, not after', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send(post('Transfer-Encoding: chunked\r\n'));
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  for (let i = 0; i < 17; i++) await client.send(chunk);
  const answer = await client.answer();
  assert.deepEqual([answer?.status, answer?.headers.get('connection')], [413, 'close']);
  await client.closed();
  await stillServes();
});

test('JSON of exactly a MiB is accepted, in one piece, in chunks and in single bytes', async () => {
  const body = `"${'x'.repeat(2 ** 20 - 2)}"`;
  const whole = await rawRequest(edge.port, sized(body));
  assert.equal(whole?.body.toString(), `{"got":${2 ** 20 - 2}}`);
  const chunked = await rawRequest(edge.port, post('Transfer-Encoding: chunked\r\n', `100000\r\n${body}\r\n0\r\n\r\n`));
  assert.equal(chunked?.body.toString(), `{"got":${2 ** 20 - 2}}`);
  const client = await RawClient.connect(edge.port);
  client.socket.setNoDelay(true);
  for (const byte of sized('{"a":"ü"}'.replace('ü', 'u'))) await client.send(Buffer.from([byte]));
  assert.equal((await client.answer())?.status, 200);
  client.end();
});

test('a body that is not JSON is 400', async () => {
  const deep = (open: string, close: string, n: number): string => open.repeat(n) + close.repeat(n);
  for (const body of [
    '{',
    '{"a":}',
    "{'a':1}",
    'undefined',
    '{"a":1}}',
    '\0',
    'nul',
    '[1,]',
    deep('[', ']', 65),
    deep('{"a":', '}', 500_000 / 6),
    '['.repeat(2 ** 20),
  ]) {
    const answer = await rawRequest(edge.port, sized(body));
    assert.equal(answer?.status, 400, body.slice(0, 20));
    assert.equal(typeof JSON.parse(answer!.body.toString()).detail, 'string');
  }
  assert.equal((await rawRequest(edge.port, sized(`${'['.repeat(64)}${']'.repeat(64)}`)))?.status, 200);
  assert.equal((await rawRequest(edge.port, sized(`"${'['.repeat(100)}\\"${'['.repeat(100)}"`)))?.status, 200);
});

test('names with a meaning in JavaScript are ordinary names; of duplicate names the last counts', async () => {
  const answer = await rawRequest(edge.port, sized('{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"n":1,"n":2}'));
  assert.equal(answer?.body.toString(), '{"got":{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"n":2}}');
  assert.deepEqual([({} as any).a, ({} as any).b], [undefined, undefined]);
});

test('a number that overflows is not accepted as a number', async () => {
  for (const n of ['1e999', '-1e999', '9'.repeat(400)]) {
    assert.equal((await rawRequest(edge.port, sized(`{"n":${n}}`).toString('latin1').replace('/echo', '/count')))?.status, 422, n);
  }
});

test('a body that is not UTF-8 is 400; a byte order mark is accepted', async () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0xfe, 0xff, 0x00, 0x22],
  ]) {
    assert.equal((await rawRequest(edge.port, sized(Buffer.from(bytes))))?.status, 400);
  }
  assert.equal((await rawRequest(edge.port, sized(Buffer.from('\ufeff{}', 'utf8'))))?.status, 200);
});

test('text that the database cannot store is 422 with the field', async () => {
  const answer = await rawRequest(edge.port, sized('{"a":[{"b":"x\\u0000"}],"c":"\\ud800","d":"\\\\u0000 is fine","e":"\\u00fc"}'));
  assert.equal(answer?.status, 422);
  const { detail } = JSON.parse(answer!.body.toString()) as { detail: { loc: unknown[]; type: string }[] };
  assert.deepEqual(
    detail.map((issue) => [issue.loc, issue.type]),
    [
      [['body', 'a', '0', 'b'], 'value_error'],
      [['body', 'c'], 'value_error'],
    ],
  );
});

test('a body of another content type is 415', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    const header = type === '' ? '' : `Content-Type: ${type}\r\n`;
    const answer = await rawRequest(edge.port, `POST /echo HTTP/1.1\r\nHost: a\r\n${header}Content-Length: 2\r\n\r\n{}`);
    assert.equal(answer?.status, 415, type);
  }
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json ; v=1']) {
    assert.equal(
      (await rawRequest(edge.port, `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 2\r\n\r\n{}`))?.status,
      200,
      type,
    );
  }
});

test('malformed chunks close the connection, and no request remains waiting', async () => {
  for (const garbage of ['zz\r\nabc\r\n0\r\n\r\n', '-1\r\n\r\n', 'ffffffffffffffffff\r\n', '5\r\nabc\r\n0\r\n\r\n\r\n\r\n']) {
    const client = await RawClient.connect(edge.port);
    await client.send(post('Transfer-Encoding: chunked\r\n', garbage));
    const answer = await client.answer();
    assert.equal(answer?.status, 400, garbage);
    client.end();
  }
  await stillServes();
});

test('an incomplete body has no effect', async () => {
  for (let i = 0; i < 20; i++) {
    const client = await RawClient.connect(edge.port);
    await client.send(post('Content-Length: 1000\r\n', '{"a":'));
    client.socket.resetAndDestroy();
  }
  await stillServes();
  assert.deepEqual(
    edge.logged.filter((line) => line.level === 'error' && line.message === 'request failed unexpectedly'),
    [],
  );
});

test('too long and too many headers are refused, also ten megabytes of them', async () => {
  for (const headers of [
    `X-A: ${'b'.repeat(20_000)}\r\n`,
    Array.from({ length: 150 }, (_, i) => `X-${i}: a\r\n`).join(''),
    `X-A: ${'b'.repeat(10_000_000)}\r\n`,
  ]) {
    const client = await RawClient.connect(edge.port);
    const sent = client.send(`GET /health HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
    const answer = await client.answer();
    assert.ok(answer === null || answer.status === 431, String(answer?.status));
    await client.closed();
    await sent;
  }
  await stillServes();
});

test('headers of 15 KB are accepted, as configured at the start', async () => {
  assert.equal((await rawRequest(edge.port, `GET /health HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(15_000)}\r\n\r\n`))?.status, 200);
});

test('malformed request lines are refused', async () => {
  for (const line of [
    'GET /health HTTP/1.0',
    'GET /health HTTP/2.0',
    'GET http://a/health HTTP/1.1',
    'GET /he\0alth HTTP/1.1',
    'GET  /health HTTP/1.1',
    '\x16\x03\x01\x02\x00\x01',
  ]) {
    const client = await RawClient.connect(edge.port);
    client.socket.end(Buffer.from(`${line}\r\nHost: a\r\n\r\n`, 'latin1'));
    const answer = await client.answer();
    assert.ok(answer === null || answer.status >= 400, `${line} ${answer?.status}`);
    client.end();
  }
  await stillServes();
});

test('a body on a GET is not read, and the connection continues', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send('GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.equal((await client.answer())?.status, 200);
  assert.equal((await client.answer())?.status, 200);
  client.end();
});

test('a refused body is discarded, and the connection continues', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`);
  assert.equal((await client.answer())?.status, 404);
  await client.send(`${'x'.repeat(100_000)}GET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.equal((await client.answer())?.status, 200);
  client.end();
});

test('unauthenticated bodies are limited in memory together, and other bodies keep their part', async (t) => {
  const bytes = 500_000;
  const clients = await Promise.all(Array.from({ length: 24 }, () => RawClient.connect(edge.port)));
  t.after(() => {
    for (const { socket } of clients) socket.destroy();
  });
  const head = `POST /news HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;
  const body = Buffer.alloc(bytes - 1);
  await Promise.all(clients.map((client) => client.send(Buffer.concat([Buffer.from(head), body]))));
  const answers = clients.map(async (client) => ({ client, answer: await client.answer() }));
  // There is room for 16 bodies of 8 MiB: the others are refused at once, also while no body is complete.
  const refused: { client: RawClient; status: number | undefined }[] = [];
  await new Promise<void>((resolve) => {
    for (const one of answers)
      void one.then(({ client, answer }) => {
        refused.push({ client, status: answer?.status });
        if (refused.length === 8) resolve();
      });
  });
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([503]));
  assert.equal((await rawRequest(edge.port, sized('"others"')))?.status, 200);
  const held = clients.filter((client) => !refused.some((one) => one.client === client));
  await Promise.all(held.map((client) => client.send('x')));
  const taken = (await Promise.all(answers)).filter(({ client }) => held.includes(client));
  assert.deepEqual(new Set(taken.map(({ answer }) => answer?.status)), new Set([200]));
  const next = await rawRequest(edge.port, Buffer.concat([Buffer.from(head), body, Buffer.from('x')]));
  assert.equal(next?.status, 200, 'what was answered has made room');
  assert.equal((await rawRequest(edge.port, `POST /news HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 ** 19 + 1}\r\n\r\n`))?.status, 413);
});
