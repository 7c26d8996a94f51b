import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { browserUsers } from '../../../src/providers/browser/browser-user.ts';
import { tooLarge } from '../../../src/providers/browser/driver/memory-watch.ts';
import { PageProxy, type PageProxyOptions } from '../../../src/providers/browser/driver/page-proxy.ts';
import { type Parsed, readGreeting, readRequest } from '../../../src/providers/browser/driver/socks.ts';
import { createConnector } from '../../../src/providers/outbound/connector.ts';
import type { Scope } from '../../support/scope.ts';

/** Echoes. */
const echo = createServer({ allowHalfOpen: true }, (socket) => {
  reached++;
  socket.on('error', () => {}).pipe(socket);
});
let reached = 0;
let echoPort = 0;
before(async () => {
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  echoPort = (echo.address() as { port: number }).port;
});
after(() => echo.close());

async function openProxy(t: Scope, options: Partial<PageProxyOptions> = {}) {
  const proxy = new PageProxy({ connector: createConnector(['127.0.0.1']), host: '127.0.0.1', isPeer: () => true, ...options });
  const url = new URL((await proxy.listen()).replace('socks5', 'http'));
  t.after(() => proxy.close());
  const dial = async (localAddress = '127.0.0.1') => {
    const socket = connect({ port: Number(url.port), host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  return { proxy, dial };
}

const greeting = Buffer.from([5, 1, 0]);
function requestFor(host: string, port: number): Buffer {
  return Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), Buffer.from(host), Buffer.from([port >> 8, port & 255])]);
}

/** The answer to the request; undefined where the connection was closed before. */
function ask(socket: Socket, host: string, port = echoPort): Promise<number | undefined> {
  return new Promise((resolve) => {
    let got = Buffer.alloc(0);
    const read = (data: Buffer) => {
      got = Buffer.concat([got, data]);
      if (got.length < 12) return;
      socket.off('data', read);
      resolve(got[3]);
    };
    if (socket.destroyed) return resolve(undefined);
    socket.on('data', read).once('close', () => resolve(undefined));
    socket.write(Buffer.concat([greeting, requestFor(host, port)]));
  });
}

test('bytes of a client are read in any division, and no bytes make the reader fail', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes, (data) => {
      for (const read of [readGreeting, readRequest] as ((data: Buffer) => Parsed<unknown>)[]) {
        const whole = read(data);
        // A part is parsed like the whole.
        for (let at = 0; at < data.length; at++) {
          const part = read(data.subarray(0, at));
          if (part.kind !== 'incomplete') assert.deepEqual(part, whole);
        }
      }
    }),
  );
  const host = fc.stringMatching(/^[a-z0-9.-]{1,255}$/);
  fc.assert(
    fc.property(host, fc.nat(65_535), (name, port) => {
      const value = { host: name, port };
      assert.deepEqual(readRequest(requestFor(name, port)), { kind: 'read', value, bytes: 7 + name.length });
    }),
  );
  const four = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 0, 80]);
  assert.deepEqual(readRequest(four), { kind: 'read', value: { host: '127.0.0.1', port: 80 }, bytes: 10 });
  const six = Buffer.concat([Buffer.from([5, 1, 0, 4]), Buffer.alloc(15), Buffer.from([1, 0, 80])]);
  assert.deepEqual(readRequest(six), { kind: 'read', value: { host: '0:0:0:0:0:0:0:1', port: 80 }, bytes: 22 });
});

test('a permitted host is reached, any other is refused with the reason', async (t) => {
  const { proxy, dial } = await openProxy(t);
  proxy.beginPage(1_000, () => {});
  const socket = await dial();
  assert.equal(await ask(socket, '127.0.0.1'), 0);
  socket.end('hello');
  assert.equal(String((await once(socket, 'data'))[0]), 'hello');
  for (const host of [
    '127.0.0.2',
    '169.254.169.254',
    '10.0.0.1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.2',
    '2130706434',
    '0x7f.2',
    'localhost.',
  ]) {
    assert.equal(await ask(await dial(), host), host === 'localhost.' ? 4 : 2, host);
    assert.match(proxy.failureOf(host)!, /is not a public address|not a known host|has no address|could not/, host);
  }
  assert.equal(await ask(await dial(), '127.0.0.1', 1), 4);
  assert.match(proxy.failureOf('127.0.0.1')!, /could not be reached/);
});

test('P1: without a page no connection is made, and connections end with their page', async (t) => {
  const { proxy, dial } = await openProxy(t);
  const before = reached;
  assert.equal(await ask(await dial(), '127.0.0.1'), undefined);
  assert.equal(reached, before);
  proxy.beginPage(1_000, () => {});
  const socket = await dial();
  assert.equal(await ask(socket, '127.0.0.1'), 0);
  const closed = once(socket.resume(), 'close');
  proxy.endPage();
  await closed;
  assert.equal(await ask(await dial(), '127.0.0.1'), undefined);
});

test('P2: what a page transfers in both directions is limited', async (t) => {
  const { proxy, dial } = await openProxy(t);
  const { promise: tooMuch, resolve } = Promise.withResolvers<void>();
  proxy.beginPage(1_000, resolve);
  const socket = await dial();
  assert.equal(await ask(socket, '127.0.0.1'), 0);
  socket.write(Buffer.alloc(500));
  socket.resume();
  await once(socket, 'data');
  const closed = once(socket, 'close');
  socket.write(Buffer.alloc(2));
  await Promise.all([tooMuch, closed]);
});

test('P3: an unknown address is not served, and is reported where requested', async (t) => {
  const before = reached;
  const refusedPeers: string[] = [];
  const isPeer = (address: string) => address === '127.0.0.1';
  const { proxy, dial } = await openProxy(t, { isPeer, onRefusedPeer: (host, address) => refusedPeers.push(`${address} ${host}`) });
  proxy.beginPage(1_000, () => {});
  assert.equal(await ask(await dial('127.0.0.2'), '127.0.0.1'), undefined);
  assert.deepEqual([refusedPeers, reached], [['127.0.0.2 127.0.0.1'], before]);
  assert.equal(await ask(await dial(), '127.0.0.1'), 0);
});

test('a connection that does not speak SOCKS is closed', async (t) => {
  const { proxy, dial } = await openProxy(t);
  proxy.beginPage(1_000, () => {});
  for (const bytes of [
    'GET http://127.0.0.1/ HTTP/1.1\r\n\r\n',
    '\x04\x01\x00\x50\x7f\x00\x00\x01\x00',
    '\x05\x01\x02',
    '\x05\x01\x00\x05\x02\x00\x01',
  ]) {
    const socket = await dial();
    socket.resume().end(Buffer.from(bytes, 'latin1'));
    if (!socket.closed) await once(socket, 'close');
  }
});

test('the process of a page is ended when it is too large, and the largest ones while all together are', () => {
  const pages = (sizes: number[]) => sizes.map((bytes) => ({ type: 'renderer', bytes }));
  const ends = (...sizes: number[]) => tooLarge([...pages(sizes), { type: 'browser', bytes: 10 }], 10, 20).map(({ bytes }) => bytes);
  assert.deepEqual(ends(), []);
  assert.deepEqual(ends(10, 10), []);
  assert.deepEqual(ends(3, 11, 2), [11]);
  assert.deepEqual(ends(8, 9, 7), [9]);
  assert.deepEqual(ends(9, 9, 9, 9, 9), [9, 9, 9]);
  const browser = { type: 'browser', bytes: 11 };
  assert.deepEqual(tooLarge([...pages([1, 9]), browser], 10, 20), [browser]);
});

test('a browser that this service starts has its sandbox or a separate user; only root can start it without both', () => {
  assert.deepEqual(browserUsers(true, false), [{ uid: null, sandbox: true, isSafe: true }]);
  const asRoot = browserUsers(true, true);
  assert.deepEqual([asRoot[0]!.uid, asRoot[0]!.sandbox], [65_534, true]);
  for (const { uid, sandbox, isSafe } of asRoot) assert.equal(isSafe, uid !== null || sandbox);
});
