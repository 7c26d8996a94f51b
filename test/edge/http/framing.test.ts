import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import Type from 'typebox';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { RawClient } from '../../support/raw-http.ts';

/** What was served, in order. */
let served: string[] = [];

const routes: AnyRoute[] = [
  ...['/health', '/smuggled'].map((path) =>
    route({
      method: 'GET',
      path,
      summary: 'Looked at',
      scope: null,
      responses: { 200: Type.String() },
      handler({ request }) {
        served.push(path);
        return { status: 200, json: request.remoteAddress };
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/echo',
    summary: 'Echo',
    scope: null,
    body: Type.Unknown(),
    responses: { 200: Type.Unknown() },
    handler({ body }) {
      served.push('/echo');
      return { status: 200, json: body };
    },
  }),
];

let edge: TestEdge;
before(async () => {
  edge = await startEdge(routes);
});
beforeEach(() => {
  served = [];
});
after(() => edge.server.close(0));

const second = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const post = (headers: string, body: string): string =>
  `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
const chunked = (body: string, encoding = 'chunked'): string => post(`Transfer-Encoding: ${encoding}\r\n`, body);
const get = (headers: string, line = 'GET /health HTTP/1.1'): string => `${line}\r\nHost: a\r\n${headers}\r\n`;

/** Sends it all in one packet, a second request behind it; resolves with the statuses answered until the server ends the connection or a sound request is answered. */
async function exchange(bytes: string): Promise<(number | null)[]> {
  const client = await RawClient.connect(edge.port);
  await client.send(bytes);
  const statuses: (number | null)[] = [];
  for (;;) {
    const answer = await client.answer();
    statuses.push(answer?.status ?? null);
    if (answer === null) break;
  }
  client.end();
  // The server works, and has handled all requests.
  assert.equal((await fetch(`${edge.url}/health`)).status, 200);
  return statuses.slice(0, -1);
}

test('ambiguous framing is refused: nothing behind an ambiguous request is served', async () => {
  const cases: Record<string, string> = {
    'an encoding that is not known': chunked('2\r\n{}\r\n0\r\n\r\n', 'xchunked'),
    'an encoding in front of chunked': chunked('2\r\n{}\r\n0\r\n\r\n', 'gzip, chunked'),
    'an encoding behind chunked': chunked('2\r\n{}\r\n0\r\n\r\n', 'chunked, identity'),
    'an empty encoding and a length': post('Transfer-Encoding: \r\nContent-Length: 2\r\n', '{}'),
    'identity and a length': post('Transfer-Encoding: identity\r\nContent-Length: 2\r\n', '{}'),
    'length, then encoding': post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    'encoding, then length': post('Transfer-Encoding: chunked\r\nContent-Length: 2\r\n', '0\r\n\r\n'),
    'the same on GET': `${get('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n')}0\r\n\r\n`,
    'a hexadecimal length': post('Content-Length: 0x2\r\n', '{}'),
    'a length with a space': post('Content-Length: 1 0\r\n', '{}'),
    'a length with an exponent': post('Content-Length: 2e0\r\n', '{}'),
    'a length of 2^64 + 2': post('Content-Length: 18446744073709551618\r\n', '{}'),
    'a length beyond what is taken': post('Content-Length: 4294967298\r\n', '{}'),
    'a chunk of 0x2': chunked('0x2\r\n{}\r\n0\r\n\r\n'),
    'a chunk of +2': chunked('+2\r\n{}\r\n0\r\n\r\n'),
    'a chunk of  2': chunked(' 2\r\n{}\r\n0\r\n\r\n'),
    'a chunk of 2^64 + 2': chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'),
    'a chunk without a size': chunked('\r\n{}\r\n0\r\n\r\n'),
    'a chunk that ends in other bytes': chunked('2\r\n{}XX0\r\n\r\n'),
    'chunks with bare line feeds': chunked('2\n{}\n0\n\n'),
    'a trailer': chunked('2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n'),
    'a trailer that is the second request': chunked('2\r\n{}\r\n0\r\nXXGET: /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'),
    'a trailer that is it but for two bytes': chunked('2\r\n{}\r\n0\r\nXXGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'),
    'a proper chunked request': chunked('2\r\n{}\r\n0\r\n\r\n'),
    'a chunked request that is refused': chunked('2\r\n{}\r\n0\r\n\r\n').replace('/echo', '/nowhere'),
    'a chunked GET': `${get('Transfer-Encoding: chunked\r\n')}0\r\n\r\n`,
    'two hosts': get('Host: b\r\n'),
    'two tokens': get('Authorization: a\r\nAuthorization: b\r\n'),
    'a method that is none': get('', 'G@T /health HTTP/1.1'),
    'a method without end': get('', `${'A'.repeat(5_000)} /health HTTP/1.1`),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    served = [];
    const statuses = await exchange(bytes + second);
    assert.ok(!served.includes('/smuggled'), `${name}: ${statuses} ${served}`);
    assert.ok(statuses.length <= 1, `${name}: ${statuses}`);
  }
});

test('a body of known length ends at its length, and the next request follows', async () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE', 'POST']) {
    served = [];
    const client = await RawClient.connect(edge.port);
    const headers = `Content-Type: application/json\r\nContent-Length: ${second.length}\r\n`;
    await client.send(get(headers, `${method} /health HTTP/1.1`) + second + get('', 'GET /nowhere HTTP/1.1'));
    const first = await client.answer({ head: method === 'HEAD' });
    assert.ok([200, 204, 405].includes(first!.status), `${method} ${first?.status}`);
    assert.equal((await client.answer())?.status, 404, method);
    assert.ok(!served.includes('/smuggled'), method);
    client.end();
  }
});

test('only a malformed request gets an error with its id, and its connection ends', async () => {
  for (const bytes of [chunked('2\r\n{}\r\n0\r\n\r\n', 'gzip'), get('Host: b\r\n'), get('', 'G@T /health HTTP/1.1')]) {
    const client = await RawClient.connect(edge.port);
    await client.send(bytes.replace('Host: a', 'Host: a\r\nX-Request-Id: mine'));
    const answer = await client.answer();
    assert.deepEqual([answer?.status, answer?.headers.get('x-request-id'), answer?.headers.get('connection')], [400, 'mine', 'close']);
    await client.closed();
  }
});

test('a chunked request is answered, and is the last of its connection', async () => {
  for (const encoding of ['chunked', 'Chunked', '\tCHUNKED']) {
    const client = await RawClient.connect(edge.port);
    await client.send(chunked('2\r\n{}\r\n0\r\n\r\n', encoding));
    assert.deepEqual([(await client.answer())?.status, served.at(-1)], [200, '/echo']);
    await client.closed();
  }
});

test('a request that is not HTTP/1.1 is refused and its connection is closed', async () => {
  const lines = [
    'GET /health HTTP/1.0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET http://a/health HTTP/1.1\r\nHost: a\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET\t/health\tHTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /health HTTP/1.2\r\nHost: a\r\n\r\n',
    'GET /health HTTP/1.1\nHost: a\n\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n',
  ];
  for (const bytes of lines) {
    const client = await RawClient.connect(edge.port);
    await client.send(bytes + second);
    const answer = await client.answer();
    await client.closed();
    assert.equal(answer?.status, 505, bytes);
  }
  assert.deepEqual(served, []);
});

test('a protocol switch is refused, and a PROXY preamble of an untrusted address ends its connection', async () => {
  const client = await RawClient.connect(edge.port);
  await client.send(get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'));
  assert.equal((await client.answer())?.status, 200);
  client.end();
  const proxied = await RawClient.connect(edge.port);
  await proxied.send(`\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x02\x03\x04\x05\x06\x07\x08\0\x01\0\x02${get('')}`);
  assert.equal((await proxied.answer())?.status, 400);
  await proxied.closed();
});

test('a client that expects 100-continue gets it, and another expectation is ignored', async () => {
  for (const expected of ['100-continue', '200-ok']) {
    const client = await RawClient.connect(edge.port);
    await client.send(post(`Expect: ${expected}\r\nContent-Length: 2\r\n`, '{}'));
    assert.equal((await client.answer())?.status, 200);
    client.end();
  }
});
