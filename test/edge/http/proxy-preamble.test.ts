import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TrustedProxies } from '../../../src/edge/http/client-address.ts';
import { createServer, type HttpServer } from '../../../src/edge/http/server.ts';
import { noLog } from '../../../src/log.ts';
import { RawClient, rawRequest } from '../../support/raw-http.ts';

const servers: HttpServer[] = [];
/** Ports: of a server without trusted proxies, and of one that trusts this machine. */
const ports = { strict: 0, trusting: 0 };

before(async () => {
  for (const [name, ranges] of [
    ['strict', ['10.0.0.0/8']],
    ['trusting', ['127.0.0.0/8']],
  ] as const) {
    const server = await createServer({
      handler: (request) => ({ status: 200, headers: null, body: request.clientAddress }),
      log: noLog,
      maxHeaderBytes: 16_384,
      accessLog: false,
      proxies: new TrustedProxies(ranges),
    });
    server.webSocket(
      '/ws',
      { open() {}, message() {}, drain() {}, close() {} },
      { maxMessageBytes: 1, maxBufferedBytes: 1, idleTimeoutS: 8 },
    );
    ports[name] = (await server.listen('127.0.0.1', 0)).port;
    servers.push(server);
  }
});
after(() => Promise.all(servers.map((server) => server.close(0))));

/** Version 2, TCP over IPv4: the client 203.0.113.9. */
const preamble = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb00710901020304c0010050', 'hex');
const get = (more = '', path = '/') => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`);
const upgrade = get(
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  '/ws',
);

test('a PROXY preamble of an untrusted peer is refused and ends the connection, at any position', async () => {
  for (const request of [get(), upgrade]) {
    const client = await RawClient.connect(ports.strict);
    await client.send(Buffer.concat([preamble, request]));
    assert.equal((await client.answer())?.status, 400);
    await client.closed();
  }
  const second = await RawClient.connect(ports.strict);
  await second.send(get());
  assert.equal((await second.answer())?.body.toString(), '127.0.0.1');
  await second.send(Buffer.concat([preamble, get()]));
  assert.equal((await second.answer())?.status, 400);
  await second.closed();
  assert.notEqual(
    (await rawRequest(ports.strict, Buffer.concat([Buffer.from('PROXY TCP4 203.0.113.9 1.2.3.4 5 6\r\n'), get()])))?.status,
    200,
  );
});

test("a PROXY preamble of a trusted proxy names the client; the client's own headers are not trusted", async () => {
  const asked = async (request: Buffer) => (await rawRequest(ports.trusting, Buffer.concat([preamble, request])))?.body.toString();
  assert.equal(await asked(get()), '203.0.113.9');
  assert.equal(await asked(get('X-Forwarded-For: 198.51.100.1\r\n')), '203.0.113.9');
  assert.equal((await rawRequest(ports.trusting, get('X-Forwarded-For: 198.51.100.1\r\n')))?.body.toString(), '198.51.100.1');
});

test('every response has one nosniff header and no server banner', async () => {
  const answer = await rawRequest(ports.strict, get());
  assert.equal(answer?.headers.get('x-content-type-options'), 'nosniff');
  assert.deepEqual(
    [...answer!.headers.keys()].filter((name) => /server|powered|uwebsockets/i.test(name)),
    [],
  );
});
