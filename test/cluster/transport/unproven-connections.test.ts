import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { UnprovenConnections } from '../../../src/cluster/transport/unproven-connections.ts';
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

test('an address has so many connections that say nothing; more are closed at once, and those there are in time; nodes come through', async (t) => {
  const node = await testNode(t, 'node', { maxUnprovenPerAddress: 3, maxUnproven: 4, dialWithinMs: 400 });
  const silent = [];
  for (let i = 0; i < 3; i++) silent.push(await dial(t, node.member.port));
  await ended((await dial(t, node.member.port)).resume());
  assert.ok(silent.every((socket) => !socket.closed));
  await Promise.all(silent.map((socket) => ended(socket.resume())));

  const peer = await testNode(t, 'peer');
  connectAll([node, peer]);
  await Promise.all([node.hears('up'), peer.hears('up')]);
  // What has proved itself takes no place.
  for (let i = 0; i < 3; i++) assert.ok(!(await dial(t, node.member.port)).closed);
});

test('an address opens so many connections in a time, those that proved themselves left out', () => {
  let nowMs = 0;
  const bounds = { maxUnproven: 100, maxUnprovenPerAddress: 100, unprovenBurst: 5, unprovenPerSecond: 2 };
  const connections = new UnprovenConnections({ ...bounds, withinMs: 1_000, nowMs: () => nowMs });
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
    if (proves) connections.proved(`${remoteAddress}:${port}`);
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

test('connections of many addresses together have a bound', async (t) => {
  const connections = new UnprovenConnections({
    maxUnproven: 4,
    maxUnprovenPerAddress: 3,
    unprovenBurst: 50,
    unprovenPerSecond: 1,
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
