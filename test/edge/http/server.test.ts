import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import Type from 'typebox';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { createServer } from '../../../src/edge/http/server.ts';
import { noLog } from '../../../src/log.ts';
import { startEdge } from '../../support/http-edge.ts';
import { RawClient, rawRequest } from '../../support/raw-http.ts';

function held(): { routes: AnyRoute[]; entered: Promise<void>; release: () => void } {
  const entered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const routes = [
    route({
      method: 'GET',
      path: '/held',
      summary: 'Waits',
      scope: null,
      responses: { 200: Type.String() },
      async handler() {
        entered.resolve();
        await released.promise;
        return { status: 200, json: 'done' };
      },
    }),
    route({
      method: 'GET',
      path: '/health',
      summary: 'Health',
      scope: null,
      responses: { 200: Type.String() },
      handler: () => ({ status: 200, json: 'ok' }),
    }),
  ];
  return { routes, entered: entered.promise, release: () => released.resolve() };
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('closing accepts no new connection, finishes running requests and asks clients to disconnect', async () => {
  const { routes, entered, release } = held();
  const edge = await startEdge(routes);
  const client = await RawClient.connect(edge.port);
  await client.send(request('/held'));
  await entered;
  const closed = edge.server.close(60_000);
  await assert.rejects(RawClient.connect(edge.port), { code: 'ECONNREFUSED' });
  release();
  const answer = await client.answer();
  assert.deepEqual([answer?.status, answer?.headers.get('connection'), answer?.body.toString()], [200, 'close', '"done"']);
  await closed;
  await client.closed();
});

test('closing waits until a slow reader has all of a large answer, whether it was made at once or later', async () => {
  const text = 'x'.repeat(24 * 2 ** 20);
  for (const isLater of [false, true]) {
    const entered = Promise.withResolvers<void>();
    const large = route({
      method: 'GET',
      path: '/large',
      summary: 'Answers with much',
      scope: null,
      responses: { 200: Type.String() },
      handler: () => {
        entered.resolve();
        const answer = { status: 200, json: text } as const;
        return isLater ? Promise.resolve(answer) : answer;
      },
    });
    const edge = await startEdge([large]);
    const socket = connect(edge.port, '127.0.0.1');
    socket.pause();
    socket.write(request('/large'));
    await entered.promise;
    const closed = edge.server.close(60_000);
    let bytes = 0;
    socket.on('data', (data) => (bytes += data.length));
    socket.resume();
    await closed;
    if (!socket.closed) await once(socket, 'close');
    assert.ok(bytes > text.length, `${bytes} bytes of an answer of ${text.length} characters have arrived`);
  }
});

test('closing waits at most the grace period, and closes idle connections', async () => {
  const { routes, entered, release } = held();
  const edge = await startEdge(routes);
  const [running, idle] = [await RawClient.connect(edge.port), await RawClient.connect(edge.port)];
  await running.send(request('/held'));
  await entered;
  await edge.server.close(1);
  assert.equal(await running.answer(), null);
  await idle.closed();
  release();
});

test('the signal of a request is aborted when its client disconnects, and has no effect on an answer', async () => {
  const entered = Promise.withResolvers<AbortSignal>();
  const edge = await startEdge([
    route({
      method: 'GET',
      path: '/work',
      summary: 'Works until nobody waits for it',
      scope: null,
      responses: { 200: Type.String() },
      async handler(context) {
        const { signal } = context.request;
        entered.resolve(signal);
        await once(signal, 'abort');
        return { status: 200, json: 'late' };
      },
    }),
    route({
      method: 'GET',
      path: '/quick',
      summary: 'Answers',
      scope: null,
      responses: { 200: Type.Boolean() },
      handler: async (context) => ({ status: 200, json: context.request.signal.aborted }),
    }),
  ]);
  const client = await RawClient.connect(edge.port);
  await client.send(request('/quick'));
  assert.equal((await client.answer())?.body.toString(), 'false');
  await client.send(request('/work'));
  const signal = await entered.promise;
  client.end();
  if (!signal.aborted) await once(signal, 'abort');
  assert.equal(signal.reason.message, 'The client has disconnected');
  await edge.server.close(1_000);
});

test('during a drain requests are answered, each as the last of its connection', async () => {
  const { routes } = held();
  const edge = await startEdge(routes);
  edge.server.drain();
  for (const path of ['/health', '/nowhere']) {
    const client = await RawClient.connect(edge.port);
    await client.send(request(path));
    assert.equal((await client.answer())?.headers.get('connection'), 'close');
    await client.closed();
  }
  await edge.server.close(0);
});

test('a port in use is refused, not shared', async () => {
  const { routes } = held();
  const edge = await startEdge(routes);
  const second = await createServer({
    handler: () => ({ status: 200, headers: null, body: null }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
  });
  await assert.rejects(second.listen('127.0.0.1', edge.port), /cannot listen on 127\.0\.0\.1:\d+/);
  await assert.rejects(second.listen('192.0.2.1', 0), /cannot listen on 192\.0\.2\.1:0/);
  await edge.server.close(0);
});

test('a handler that throws or rejects is a 500, and the access log has each answer', async () => {
  const lines: object[] = [];
  const log = { ...noLog, debug: (fields: object) => void lines.push(fields) };
  const server = await createServer({
    handler: ({ path }) => {
      if (path === '/throws') throw new Error('x');
      return path === '/rejects' ? Promise.reject(new Error('x')) : { status: 200, headers: null, body: 'ok' };
    },
    log,
    maxHeaderBytes: 16_384,
    accessLog: true,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  for (const path of ['/throws', '/rejects', '/fine'])
    await rawRequest(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: r1\r\n\r\n`);
  assert.deepEqual(lines, [
    { request_id: 'r1', method: 'GET', path: '/throws', status: 500 },
    { request_id: 'r1', method: 'GET', path: '/rejects', status: 500 },
    { request_id: 'r1', method: 'GET', path: '/fine', status: 200 },
  ]);
  await server.close(0);
});
