import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Type from 'typebox';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { createServer } from '../../../src/edge/http/server.ts';
import { noLog } from '../../../src/log.ts';
import { startEdge } from '../../support/http-edge.ts';
import { RawClient } from '../../support/raw-http.ts';

const routes: AnyRoute[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Health',
    scope: null,
    responses: { 200: Type.String() },
    handler: () => ({ status: 200, json: 'ok' }),
  }),
  route({
    method: 'POST',
    path: '/echo',
    summary: 'Echo',
    scope: null,
    body: Type.Unknown(),
    responses: { 200: Type.Unknown() },
    handler: ({ body }) => ({ status: 200, json: body }),
  }),
];

const get = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
const idleClients = 10_000;
const openFilesMax = Number(/^Max open files\s+(\d+)/m.exec(limits())?.[1] ?? 0);

// Each of these waits for uWebSockets.js to lose patience, about ten seconds: so they wait together.
describe('slow clients', { concurrency: true }, () => {
  /** The part that is sent at once, and the part that follows slowly. */
  const clients: Record<string, [string, string | null]> = {
    'that say nothing': ['', null],
    'whose headers dribble': [`${get.slice(0, -2)}X-A: `, 'b'],
    'whose headers come line by line': [get.slice(0, -2), 'X-A: b\r\n'],
    'whose body does not come': ['POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n', null],
    'whose refused body dribbles': ['POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n', ' '],
    'whose unread body dribbles': ['GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n', ' '],
    'whose next request dribbles': [`${get}GET /he`, 'a'],
    'without a host': ['GET /health HTTP/1.1\r\n\r\n', null],
    'that fold a header': ['GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\r\n Host: c\r\n\r\n', get],
    'that end lines by a line feed': ['GET /health HTTP/1.1\r\nHost: a\nX-A: b\r\n\r\n', get],
    'that leave a space before the colon': ['GET /health HTTP/1.1\r\nHost: a\r\nContent-Length : 2\r\n\r\n{}', get],
    'that send NUL in a header': ['GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n', get],
    'that send a header without a colon': ['GET /health HTTP/1.1\r\nHost: a\r\nfoo\r\n\r\n', get],
    'that leave out the version': ['GET /health\r\nHost: a\r\n\r\n', get],
    'with chunk extensions': ['POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n', null],
  };
  for (const [name, [first, dribble]] of Object.entries(clients)) {
    test(`clients ${name} are disconnected, even if they continue to send`, async (t) => {
      const edge = await startEdge(routes);
      t.after(() => edge.server.close(0));
      const client = await RawClient.connect(edge.port);
      const timer = setInterval(() => dribble !== null && client.send(dribble), 500);
      t.after(() => clearInterval(timer));
      await client.send(first);
      await client.closed();
      const answered = client.rest.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? [];
      assert.ok(answered.length <= 1, 'what goes on after a broken request is not served');
    });
  }

  const tooFew = openFilesMax > 0 && openFilesMax < idleClients + 500 && `a process may open ${openFilesMax} files only`;
  test(`${idleClients} idle connections do not delay other clients, cost little and end automatically`, { skip: tooFew }, async (t) => {
    const edge = await startEdge(routes);
    t.after(() => edge.server.close(0));
    const before = process.memoryUsage();
    const idleProcess = fork(
      fileURLToPath(new URL('../../support/idle-crowd.ts', import.meta.url)),
      [String(edge.port), String(idleClients)],
      {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      },
    );
    t.after(() => idleProcess.kill('SIGKILL'));
    assert.deepEqual(await nextMessage(idleProcess), { answered: idleClients });
    assert.equal((await fetch(`${edge.url}/health`)).status, 200);
    const grownBytes = process.memoryUsage().rss - before.rss;
    t.diagnostic(`${Math.round(grownBytes / idleClients)} bytes a connection`);
    assert.ok(grownBytes < idleClients * 16_384, `${grownBytes} bytes`);
    assert.deepEqual(await nextMessage(idleProcess), { closed: idleClients });
  });
});

test('a connection beyond the limit of a node is closed unanswered, and accepted after another has closed', async (t) => {
  const server = await createServer({
    handler: () => ({ status: 200, headers: null, body: 'ok' }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
    maxConnections: 3,
  });
  t.after(() => server.close(0));
  const left = Promise.withResolvers<void>();
  const limits = { maxMessageBytes: 100, maxBufferedBytes: 100, idleTimeoutS: 60 };
  server.webSocket('/ws', { open() {}, message() {}, drain() {}, close: () => left.resolve() }, limits);
  const { port } = await server.listen('127.0.0.1', 0);
  const served = async (): Promise<RawClient | null> => {
    const client = await RawClient.connect(port);
    await client.send(get);
    return (await client.answer()) === null ? null : client;
  };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(socket, 'open');
  const [one, two] = [await served(), await served()];
  assert.ok(one !== null && two !== null);
  assert.equal(await served(), null);
  socket.close();
  await left.promise;
  const three = await served();
  assert.ok(three !== null, 'the place of a WebSocket that has gone is free');
  assert.equal(await served(), null);
});

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the crowd left with ${code}`))),
  ]);
  return message;
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
