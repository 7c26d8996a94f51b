/** WebSockets to servers that are silent, slow or send too much. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { createOutbound } from '../../../src/providers/outbound/outbound.ts';
import type { SocketListener } from '../../../src/providers/outbound/port.ts';
import { serveWebSockets } from '../../support/web-socket-server.ts';

const nothing: SocketListener = { opened() {}, message() {}, closed() {} };

async function listening(t: TestContext, server: Server): Promise<string> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function outboundOf(t: TestContext) {
  const outbound = createOutbound({ allow: [] });
  t.after(() => outbound.close());
  return outbound;
}

test('a closed socket ends its connection, also if the server does not answer the close', { timeout: 20_000 }, async (t) => {
  const server = createServer();
  const raw = once(server, 'upgrade') as Promise<[unknown, Socket]>;
  serveWebSockets(
    server,
    () => {},
    () => false,
  );
  const host = await listening(t, server);
  const opened = Promise.withResolvers<void>();
  const socket = outboundOf(t).webSocket(`ws://${host}/`, { ...nothing, opened: opened.resolve }, { configured: true });
  const [, stream] = await raw;
  await opened.promise;
  // From now on it reads frames and answers none.
  stream.removeAllListeners('data');
  stream.resume();
  socket.close();
  await once(stream, 'end');
});

test('sockets that wait for their server hold up no request to the same origin', { timeout: 20_000 }, async (t) => {
  const server = createServer((_request, response) => response.end('answered'));
  const waiting: Socket[] = [];
  const all = Promise.withResolvers<void>();
  const count = 20;
  server.on('upgrade', (_request, stream: Socket) => {
    if (waiting.push(stream) === count) all.resolve();
  });
  const host = await listening(t, server);
  const outbound = outboundOf(t);
  const sockets = Array.from({ length: count }, () => outbound.webSocket(`ws://${host}/`, nothing, { configured: true }));
  t.after(() => {
    for (const socket of sockets) socket.close();
  });
  await all.promise;
  const { body } = await outbound.fetch(`http://${host}/`, { configured: true, timeoutMs: 10_000 });
  assert.equal(Buffer.from(body).toString(), 'answered');
});

test('a message of more than 1 MiB ends the connection, also if it comes in parts', { timeout: 20_000 }, async (t) => {
  for (const parts of [[2 ** 20 + 1], Array<number>(20).fill(60_000)]) {
    const server = createServer();
    serveWebSockets(
      server,
      () => {},
      () => false,
    );
    server.on('upgrade', (_request, stream: Socket) => {
      for (const [n, bytes] of parts.entries()) {
        const header = Buffer.alloc(10);
        header[0] = (n === parts.length - 1 ? 0x80 : 0) | (n === 0 ? 1 : 0);
        header[1] = 127;
        header.writeBigUInt64BE(BigInt(bytes), 2);
        stream.write(Buffer.concat([header, Buffer.alloc(bytes, 'x')]));
      }
    });
    const host = await listening(t, server);
    const closed = Promise.withResolvers<string>();
    const listener = { ...nothing, message: () => assert.fail('a message that is too long'), closed: closed.resolve };
    outboundOf(t).webSocket(`ws://${host}/`, listener, { configured: true });
    await closed.promise;
  }
});
