/** How often a connection queries its broker: signals of the stream in masses, and a broker that demands a pause. */
import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import { BrokerWorld } from '../../../../support/broker-world.ts';
import { until } from '../../../../support/until.ts';

const pollMs = 500;
let world: BrokerWorld;
before(async () => {
  world = await BrokerWorld.start({ timeoutMs: 10_000, pollMs, reconcileMs: 60_000 });
});
after(() => world.stop());
afterEach(() => world.forget());

const queries = (path: string) => world.alpaca.requests.filter((request) => request.method === 'GET' && request.path === path).length;

test('signals of the stream in masses cause a limited number of polls, and the last change is seen', async () => {
  const broker = await world.connect('alpaca');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  const there = world.at(broker, id)!;
  await until(() => world.alpaca.sockets.size === 1, 'the stream');
  // The first full round has read everything.
  await until(() => queries('/v2/positions') >= 2, 'the first round');
  const before = queries('/v2/orders');
  const beganAtMs = performance.now();
  const signals = setInterval(() => {
    for (let n = 0; n < 5; n++) world.alpaca.sendUpdate(there);
  }, 20);
  await until(() => performance.now() - beganAtMs > 4 * pollMs, 'the end of the signals');
  clearInterval(signals);
  const tookMs = performance.now() - beganAtMs;
  const polls = queries('/v2/orders') - before;
  assert.ok(polls <= 6 + (2 * tookMs) / pollMs, `${polls} polls in ${Math.round(tookMs)} ms`);
  world.alpaca.fill(there, 4, 100);
  await world.status(id, 'filled');
});

test('a broker that demands a pause is not queried before its end', async () => {
  const broker = await world.connect('alpaca');
  const { id } = await world.place(broker);
  await world.status(id, 'accepted');
  const waitS = 2;
  world.alpaca.busyS = waitS;
  const refusedAfter = world.alpaca.requests.length;
  await until(() => world.alpaca.requests.length > refusedAfter, 'the first refused poll');
  const refusedAtMs = performance.now();
  const refused = world.alpaca.requests.length;
  world.alpaca.fill(world.at(broker, id)!, 4, 100);
  await until(() => world.alpaca.requests.length > refused, 'the next poll');
  const pausedMs = performance.now() - refusedAtMs;
  assert.ok(pausedMs >= waitS * 1_000 - 100, `a pause of ${Math.round(pausedMs)} ms`);
  world.alpaca.busyS = null;
  await world.status(id, 'filled');
});
