import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createOutbound, type Outbound } from '../../../src/providers/outbound/outbound.ts';
import { NeverSent } from '../../../src/providers/outbound/port.ts';
import type { Resolve } from '../../../src/providers/outbound/resolve.ts';
import { until } from '../../support/until.ts';

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function serve(listener: RequestListener): Promise<{ url: string; port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

/** A server that answers with raw bytes, or not at all. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    answer(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function outbound(allow: string[], resolve?: Resolve): Outbound {
  const made = createOutbound({ allow, resolve });
  closers.push(() => made.close());
  return made;
}

const local = outbound(['127.0.0.0/8']);
const strict = outbound([]);
const text = (body: Uint8Array) => Buffer.from(body).toString();

describe('permitted addresses', () => {
  test('every spelling of a private address is refused before a connection is made', async () => {
    let connections = 0;
    const { port } = await serve((_request, response) => {
      connections++;
      response.end();
    });
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0x7f.1',
      '127.1',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '127.0.0.1.',
      '①②⑦.0.0.1',
    ];
    for (const host of hosts) await assert.rejects(strict.fetch(`http://${host}:${port}/`), { code: 'forbidden' }, host);
    assert.equal(connections, 0);
  });

  test('names are checked by all their addresses', async () => {
    const names: Record<string, string[]> = {
      'inside.test': ['10.0.0.1'],
      'mixed.test': ['1.1.1.1', '127.0.0.1'],
      'mapped.test': ['::ffff:169.254.169.254'],
      'none.test': [],
    };
    const guarded = outbound([], async (name) => names[name]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    for (const name of ['inside.test', 'mixed.test', 'mapped.test'])
      await assert.rejects(guarded.fetch(`http://${name}/`), { code: 'forbidden' }, name);
    await assert.rejects(guarded.fetch('http://none.test/'), { code: 'unavailable' });
  });

  test("localhost is refused with the system's resolver", async () => {
    await assert.rejects(strict.fetch('http://localhost:1/'), { code: 'forbidden' });
  });

  test('a name that changes its address between check and connection is connected to the checked one', async () => {
    const { port } = await serve((_request, response) => response.end('checked'));
    let asked = 0;
    // The first answer is where the server is; every later one would be another machine of the allowed network.
    const rebinding = outbound(['127.0.0.1/32'], async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    assert.equal(text((await rebinding.fetch(`http://rebind.test:${port}/`)).body), 'checked');
    assert.equal(asked, 1);
  });

  test('a name that becomes private after its first use is refused on the next connection', async () => {
    const { port } = await serve((_request, response) => response.setHeader('connection', 'close').end('x'));
    const answers = ['127.0.0.1', '127.0.0.2'];
    const rebinding = outbound(['127.0.0.1/32'], async () => [{ address: answers.shift()!, family: 4 }]);
    await rebinding.fetch(`http://rebind.test:${port}/`);
    await assert.rejects(rebinding.fetch(`http://rebind.test:${port}/`), { code: 'forbidden' });
  });

  test('a redirect to a private address is refused', async () => {
    for (const location of [
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'http://10.0.0.1/',
      '//192.168.0.1/x',
      'http://0x0a000001/',
    ]) {
      const { url } = await serve((_request, response) => response.writeHead(302, { location }).end());
      await assert.rejects(local.fetch(url), { code: 'forbidden' }, location);
    }
  });

  test('a redirect to another protocol is refused', async () => {
    for (const location of ['file:///etc/passwd', 'ftp://1.1.1.1/', 'javascript:1', 'http://user:pass@1.1.1.1/']) {
      const { url } = await serve((_request, response) => response.writeHead(302, { location }).end());
      await assert.rejects(local.fetch(url), { code: 'bad_request' }, location);
    }
  });

  test('an address that is not http or https is a bad request, and none of it is stored', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (const url of [
      '',
      'example.com',
      'file:///etc/passwd',
      'gopher://1.1.1.1/',
      'http://',
      'http://user:secret@1.1.1.1/',
      'data:text/plain,x',
    ]) {
      await assert.rejects(strict.fetch(url), { code: 'bad_request' }, url);
    }
    assert.ok(timers() <= before, `${timers()} timers, and ${before} before`);
  });

  test('an address of the configuration may be private, and its redirects are not followed', async () => {
    const { url } = await serve((_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end('here'));
    const answer = await strict.fetch(url, { configured: true });
    assert.deepEqual([answer.status, text(answer.body)], [302, 'here']);
  });
});

describe('redirects', () => {
  test('are followed up to the limit, and the final address is returned', async () => {
    const { url } = await serve((request, response) => {
      const step = Number(request.url!.slice(1));
      if (step < 5) response.writeHead(302, { location: `/${step + 1}` }).end();
      else response.end('there');
    });
    const answer = await local.fetch(`${url}/0`);
    assert.deepEqual([answer.url, text(answer.body)], [`${url}/5`, 'there']);
    await assert.rejects(local.fetch(`${url}/-1`), { code: 'unavailable', message: /redirects too often/ });
    assert.equal((await local.fetch(`${url}/0`, { redirects: 0 })).status, 302);
  });

  test('in an endless circle end', async () => {
    const { url } = await serve((_request, response) => response.writeHead(302, { location: '/' }).end());
    await assert.rejects(local.fetch(url), { code: 'unavailable' });
  });

  test('to another origin drop every header that could be a credential', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const { url } = await serve((_request, response) => response.writeHead(307, { location: other.url }).end());
    await local.fetch(url, { headers: { Authorization: 'Bearer a', Cookie: 'b', 'X-Api-Key': 'c', Accept: 'text/plain' } });
    const { authorization, cookie, 'x-api-key': key, accept } = seen[0]!;
    assert.deepEqual([authorization, cookie, key, accept], [undefined, undefined, undefined, 'text/plain']);
  });

  test('after a POST become GET with 302 and 303, and stay POST with 307', async () => {
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      let body = '';
      request
        .on('data', (chunk) => (body += chunk))
        .on('end', () => {
          const status = Number(request.url!.slice(1));
          if (status) return response.writeHead(status, { location: '/' }).end();
          seen.push(`${request.method} ${body} ${request.headers.authorization}`);
          response.end();
        });
    });
    for (const status of [302, 303, 307])
      await local.fetch(`${url}/${status}`, { method: 'POST', body: 'data', headers: { authorization: 'a' } });
    assert.deepEqual(seen, ['GET  a', 'GET  a', 'POST data a']);
  });
});

describe('bounds', () => {
  test('a body is cut at the limit and the transfer is ended', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      response.on('close', closed.resolve);
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    const answer = await local.fetch(url, { maxBytes: 5000 });
    assert.deepEqual([answer.body.length, answer.truncated], [5000, true]);
    await closed.promise;
  });

  test('a body of exactly the limit is complete', async () => {
    const { url } = await serve((_request, response) => response.end('x'.repeat(5000)));
    const answer = await local.fetch(url, { maxBytes: 5000 });
    assert.deepEqual([answer.body.length, answer.truncated], [5000, false]);
  });

  const packers: Record<string, (data: Buffer) => Buffer> = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  for (const [encoding, pack] of Object.entries(packers)) {
    test(`a ${encoding} bomb is cut at the limit, counted after decompression`, async () => {
      const bomb = pack(Buffer.alloc(50 * 2 ** 20));
      const { url } = await serve((_request, response) => response.setHeader('content-encoding', encoding).end(bomb));
      const answer = await local.fetch(url, { maxBytes: 100_000 });
      assert.deepEqual([answer.body.length, answer.truncated], [100_000, true]);
    });

    test(`a ${encoding} body arrives decompressed`, async () => {
      const { url } = await serve((_request, response) => response.setHeader('content-encoding', encoding).end(pack(Buffer.from('hello'))));
      assert.equal(text((await local.fetch(url)).body), 'hello');
    });
  }

  test('damaged, incomplete and unknown compression is reported as unavailable', async () => {
    const whole = gzipSync('x'.repeat(100_000));
    const bodies: [string, Buffer][] = [
      ['gzip', Buffer.from('no gzip at all')],
      ['gzip', whole.subarray(0, 50)],
      ['gzip, gzip', whole],
      ['snappy', whole],
    ];
    for (const [encoding, body] of bodies) {
      const { url } = await serve((_request, response) => response.setHeader('content-encoding', encoding).end(body));
      await assert.rejects(local.fetch(url), { code: 'unavailable' }, encoding);
    }
  });

  test('endless headers are refused', async () => {
    const url = await serveRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x-filler: ${'y'.repeat(1000)}\r\n`.repeat(100)}\r\n`));
    await assert.rejects(local.fetch(url), { code: 'unavailable', message: /headers are too large/ });
  });

  test('requests to servers that do not answer, or send headers or body very slowly, end at the time limit', async () => {
    const drip = (start: string) => (socket: Socket) => {
      socket.write(start);
      const timer = setInterval(() => socket.write('a'), 5);
      socket.on('close', () => clearInterval(timer));
    };
    const servers = [() => {}, drip('HTTP/1.1 200 OK\r\nx: '), drip('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n')];
    for (const answer of servers) {
      const url = await serveRaw(answer);
      await assert.rejects(local.fetch(url, { timeoutMs: 150 }), { code: 'unavailable', message: /did not answer within 0.15 s/ });
    }
  });

  test('a cut connection, a refused one and an answer that is not HTTP are reported as unavailable', async () => {
    const answers = ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', '', 'SSH-2.0-OpenSSH\r\n\r\n'];
    for (const answer of answers) {
      const url = await serveRaw((socket) => socket.end(answer));
      await assert.rejects(local.fetch(url), { code: 'unavailable' }, answer);
    }
    await assert.rejects(local.fetch('http://127.0.0.1:1/'), { code: 'unavailable', message: /refused/ });
  });

  test('a request that was not sent is distinguished from one that may have arrived', async () => {
    const made = createOutbound({ allow: ['127.0.0.0/8'], connections: 2 });
    closers.push(() => made.close());
    const reached: string[] = [];
    const { url } = await serve((request) => void reached.push(request.url!));
    const fetched = (address: string, timeoutMs: number) => made.fetch(address, { timeoutMs, account: 'one' }).catch((error) => error);
    // One connection of the two is the account's, and this takes it.
    const first = fetched(`${url}/first`, 3_000);
    await until(() => reached.length > 0, 'the first request');
    const second = await fetched(`${url}/second`, 100);
    assert.deepEqual([second instanceof NeverSent, second.code], [true, 'unavailable']);
    assert.match(second.message, /did not answer within 0.1 s/);
    const late = await first;
    assert.deepEqual([late instanceof NeverSent, late.code], [false, 'unavailable']);
    assert.deepEqual(reached, ['/first']);
    for (const address of ['http://127.0.0.1:1/', 'http://10.0.0.1/'])
      assert.ok((await fetched(address, 400)) instanceof NeverSent, address);
    for (const answer of ['', 'SSH-2.0-OpenSSH\r\n\r\n'])
      assert.ok(!((await fetched(await serveRaw((socket) => socket.end(answer)), 10_000)) instanceof NeverSent), answer);
  });

  test('an abort ends the request with its reason, before the answer and within it', async () => {
    const reached = Promise.withResolvers<ServerResponse>();
    const { url } = await serve((_request, response) => {
      response.write('begin');
      reached.resolve(response);
    });
    const abort = new AbortController();
    const answer = local.fetch(url, { signal: abort.signal });
    const closed = once(await reached.promise, 'close');
    abort.abort(new Error('cancelled by the user'));
    await assert.rejects(answer, /cancelled by the user/);
    await closed;
    await assert.rejects(local.fetch(url, { signal: AbortSignal.abort(new Error('never mind')) }), /never mind/);
  });

  test('line breaks in a header are refused, not sent', async () => {
    const { url } = await serve((_request, response) => response.end());
    await assert.rejects(local.fetch(url, { headers: { 'x-a': 'b\r\nhost: other' } }), { code: 'unavailable' });
  });
});

test('repeated headers are joined and names are lower case', async () => {
  const { url } = await serve((_request, response) => response.setHeader('X-Many', ['a', 'b']).end());
  assert.equal((await local.fetch(url)).headers['x-many'], 'a, b');
});

test('slow answers for one account do not delay other accounts at the same origin', async () => {
  const slow: ServerResponse[] = [];
  const arrived = Promise.withResolvers<void>();
  const { url } = await serve((request, response) => {
    if (request.url !== '/slow') return void response.end('quick');
    if (slow.push(response) === 8) arrived.resolve();
  });
  const busy = Array.from({ length: 40 }, () => local.fetch(`${url}/slow`, { account: 'busy' }));
  await arrived.promise;
  assert.equal(text((await local.fetch(`${url}/quick`, { account: 'quiet' })).body), 'quick');
  assert.equal(slow.length, 8, 'half of the connections');
  let ended = 0;
  for (const done of busy) void done.then(() => ended++);
  while (ended < busy.length) {
    for (const response of slow.splice(0)) response.end();
    await new Promise((resolve) => setImmediate(resolve));
  }
});

describe('a body that is read as it arrives', () => {
  test('its parts are available before its end, and redirects are answers', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/away') return void response.writeHead(302, { location: '/' }).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('first');
    });
    const { status, headers, body } = await local.stream(url);
    assert.deepEqual([status, headers['content-type']], [200, 'text/event-stream']);
    const [first] = (await once(body, 'data')) as [Buffer];
    assert.equal(text(first), 'first');
    body.destroy();
    assert.equal((await local.stream(`${url}/away`)).status, 302);
  });

  test('it ends with an error after maxBytes, and when aborted', async () => {
    const { url } = await serve((request, response) => {
      response.writeHead(200);
      response.write('x'.repeat(request.url === '/big' ? 100_000 : 1));
    });
    const big = await local.stream(`${url}/big`, { maxBytes: 50_000 });
    await assert.rejects(async () => {
      for await (const _chunk of big.body);
    }, /longer than 50000 bytes/);
    const stop = new AbortController();
    const open = await local.stream(url, { signal: stop.signal });
    stop.abort();
    await assert.rejects(
      async () => {
        for await (const _chunk of open.body);
      },
      { name: 'AbortError' },
    );
  });

  test('addresses are checked, and the time until its headers is limited', async () => {
    const { url } = await serve(() => {});
    await assert.rejects(strict.stream(url), { code: 'forbidden' });
    await assert.rejects(local.stream(url, { timeoutMs: 100 }), { code: 'unavailable' });
  });
});
