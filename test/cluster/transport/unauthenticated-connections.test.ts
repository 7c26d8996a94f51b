import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { UnauthenticatedConnections } from '../../../src/cluster/transport/unauthenticated-connections.ts';
import { connectAll, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

async function dial(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const ended = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'));

test('silent connections of an address are limited: further ones are closed at once, open ones after a time; nodes can still connect', async (t) => {
  const node = await testNode(t, 'node', { maxUnauthenticatedPerAddress: 3, maxUnauthenticated: 4, dialWithinMs: 3_000 });
  const silent = [];
  for (let i = 0; i < 3; i++) silent.push(await dial(t, node.member.port));
  await ended((await dial(t, node.member.port)).resume());
  assert.ok(silent.every((socket) => !socket.closed));
  await Promise.all(silent.map((socket) => ended(socket.resume())));

  const peer = await testNode(t, 'peer');
  connectAll([node, peer]);
  await Promise.all([node.waitsFor('up'), peer.waitsFor('up')]);
  // Authenticated connections do not count against the limit.
  for (let i = 0; i < 3; i++) assert.ok(!(await dial(t, node.member.port)).closed);
});

test('the rate of new connections of an address is limited; authenticated connections are not counted', () => {
  let nowMs = 0;
  const bounds = { maxUnauthenticated: 100, maxUnauthenticatedPerAddress: 100, unauthenticatedBurst: 5, unauthenticatedPerSecond: 2 };
  const connections = new UnauthenticatedConnections({ ...bounds, withinMs: 1_000, nowMs: () => nowMs });
  let port = 0;
  const arrive = (remoteAddress: string, proves = false): boolean => {
    let close = () => {};
    const socket = {
      remoteAddress,
      remotePort: ++port,
      destroy: () => close(),
      once: (_: string, listener: () => void) => void (close = listener),
    };
    const admitted = connections.admit(socket as unknown as Socket);
    if (proves) connections.authenticated(`${remoteAddress}:${port}`);
    close();
    return admitted;
  };
  assert.deepEqual(
    Array.from({ length: 7 }, () => arrive('192.0.2.1')),
    [true, true, true, true, true, false, false],
  );
  assert.equal(arrive('192.0.2.2'), true, 'others are as before');
  nowMs += 1_000;
  assert.deepEqual([arrive('192.0.2.1'), arrive('192.0.2.1'), arrive('192.0.2.1')], [true, true, false]);
  for (let i = 0; i < 50; i++) assert.equal(arrive('192.0.2.3', true), true);
  assert.equal(connections.count, 0);
});

test('the connections of all addresses together are limited', async (t) => {
  const connections = new UnauthenticatedConnections({
    maxUnauthenticated: 4,
    maxUnauthenticatedPerAddress: 3,
    unauthenticatedBurst: 50,
    unauthenticatedPerSecond: 1,
    withinMs: 60_000,
  });
  const closing: (() => void)[] = [];
  t.after(() => closing.forEach((close) => close()));
  const admitted = Array.from({ length: 6 }, (_, i) =>
    connections.admit({
      remoteAddress: `192.0.2.${i}`,
      remotePort: 1,
      destroy() {},
      once: (_: string, close: () => void) => closing.push(close),
    } as unknown as Socket),
  );
  assert.deepEqual(admitted, [true, true, true, true, false, false]);
  await until(() => connections.count === 4);
});
