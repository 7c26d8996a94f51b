import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createServer, type HttpServer } from '../../../src/edge/http/server.ts';
import type { Connection, SendResult } from '../../../src/edge/http/web-socket.ts';
import { noLog } from '../../../src/log.ts';
import { RawClient } from '../../support/raw-http.ts';

const maxBufferedBytes = 256 * 1024;
let server: HttpServer;
let port: number;
let opened: (connection: Connection<string>) => void = () => {};
let closed: (code: number) => void = () => {};
let drained: () => void = () => {};

before(async () => {
  server = await createServer({
    handler: () => ({ status: 404, headers: null, body: null }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
  });
  for (const path of ['/ws', '/v1/ws']) {
    server.webSocket<string>(
      path,
      {
        open(connection) {
          connection.data = path;
          opened(connection);
        },
        message(connection, message) {
          connection.send(typeof message === 'string' ? `text ${message} ${connection.data}` : `binary ${message.length}`);
        },
        drain: () => drained(),
        close: (_connection, code) => closed(code),
      },
      { maxMessageBytes: 64 * 1024, maxReceivedBytes: 1024 * 1024, maxBufferedBytes, idleTimeoutS: 120 },
    );
  }
  ({ port } = await server.listen('127.0.0.1', 0));
});
after(() => server.close(0));

const connect = async (path = '/ws'): Promise<WebSocket> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  socket.binaryType = 'arraybuffer';
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return socket;
};
const next = (socket: WebSocket): Promise<unknown> =>
  new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data), { once: true }));
const ended = (socket: WebSocket): Promise<{ code: number; reason: string }> =>
  new Promise((resolve) => socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }), { once: true }));

/** A reader in our hands: the handshake done, and then nothing is read. */
async function slowReader(): Promise<{ client: RawClient; connection: Connection<string> }> {
  const connection = new Promise<Connection<string>>((resolve) => {
    opened = resolve;
  });
  const client = await RawClient.connect(port);
  await client.send(
    `GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  const opening = await connection;
  // Out of uWS's own callback, in which a socket's writes are held together.
  await new Promise(setImmediate);
  client.socket.pause();
  return { client, connection: opening };
}

test('text and binary messages arrive with their type, on both paths', async () => {
  for (const path of ['/ws', '/v1/ws']) {
    const socket = await connect(path);
    socket.send('hällo');
    assert.equal(await next(socket), `text hällo ${path}`);
    socket.send(new Uint8Array(5));
    assert.equal(await next(socket), 'binary 5');
    socket.close();
  }
});

test('a text message may be sent from bytes that many receivers share', async () => {
  const connection = new Promise<Connection<string>>((resolve) => {
    opened = resolve;
  });
  const socket = await connect();
  const message = next(socket);
  assert.equal((await connection).send(Buffer.from('{"a":"ü"}')), 'sent');
  assert.equal(await message, '{"a":"ü"}');
  socket.close();
});

test('a message over the limit and a message that is not UTF-8 end the connection', async () => {
  const long = await connect();
  const endedLong = ended(long);
  long.send('x'.repeat(64 * 1024 + 1));
  assert.equal((await endedLong).code, 1009);
  const longer = await connect();
  const endedLonger = ended(longer);
  longer.send('x'.repeat(1024 * 1024 + 1));
  assert.equal((await endedLonger).code, 1006, 'what is longer than may be held is not read to its end');

  const { client } = await slowReader();
  client.socket.resume();
  const mask = Buffer.from([1, 2, 3, 4]);
  const bad = Buffer.from([0xff, 0xfe]).map((byte, i) => byte ^ mask[i]!);
  await client.send(Buffer.concat([Buffer.from([0x81, 0x80 | bad.length]), mask, bad]));
  await client.closed();
});

test('a slow reader is reported as buffered, then dropped, never with a silent gap', async () => {
  const { client, connection } = await slowReader();
  const results = new Set<SendResult>();
  const message = 'x'.repeat(16_384);
  let taken = 0;
  for (;;) {
    const result = connection.send(message);
    results.add(result);
    if (result === 'dropped') break;
    taken++;
  }
  assert.deepEqual([...results], ['sent', 'buffered', 'dropped']);
  assert.ok(connection.bufferedBytes() <= maxBufferedBytes + message.length + 16);

  const empty = new Promise<void>((resolve) => {
    drained = () => {
      if (connection.bufferedBytes() === 0) resolve();
    };
  });
  client.socket.resume();
  await empty;
  assert.ok(taken > 16);
  assert.equal(connection.bufferedBytes(), 0);
  client.end();
});

test('a slow reader that is closed gets the buffered messages and then the close code', async () => {
  const { client, connection } = await slowReader();
  while (connection.send('x'.repeat(16_384)) !== 'dropped');
  const code = new Promise<number>((resolve) => {
    closed = resolve;
  });
  connection.end(4430, 'too slow');
  assert.equal(await code, 4430);
  client.socket.resume();
  await client.closed();
  // The last frame: close, 10 bytes: 4430 and the reason.
  const tail = client.rest.subarray(-12);
  assert.deepEqual([tail[0], tail[1], tail.readUInt16BE(2), tail.subarray(4).toString()], [0x88, 10, 4430, 'too slow']);
});

test('ending a connection sends code and reason, and later calls do not throw', async () => {
  const connection = new Promise<Connection<string>>((resolve) => {
    opened = resolve;
  });
  const socket = await connect();
  const over = ended(socket);
  const server = await connection;
  server.end(4401, 'bad token');
  assert.deepEqual(await over, { code: 4401, reason: 'bad token' });
  assert.equal(server.send('x'), 'dropped');
  assert.equal(server.bufferedBytes(), 0);
  server.end(4400, 'again');
  server.cork(() => {});
});

test('the connection of a vanished client is closed with 1006', async () => {
  const code = new Promise<number>((resolve) => {
    closed = resolve;
  });
  const { client } = await slowReader();
  client.socket.resetAndDestroy();
  assert.equal(await code, 1006);
});

test('a request without an upgrade is answered by the handler', async () => {
  assert.equal((await fetch(`http://127.0.0.1:${port}/ws`)).status, 404);
});
