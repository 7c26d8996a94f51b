/**
 * All data in Redis may be lost: when Redis is killed, emptied, frozen or slow, no data is lost, requests continue, and the nodes
 * recover automatically.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { SteadyQueries, untilAnswered } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
/** Longer than every lease and renewal interval. */
const longMs = 4_000;

let world: World;
before(async () => {
  if (withoutRedis) return;
  world = await World.open();
  await world.untilBalanced(['node-1', 'node-2', 'node-3']);
});
after(() => world?.close());

const harms: [string, () => Promise<void>][] = [
  ['is killed, stays away, and comes back empty', () => away(longMs)],
  ['is emptied while it runs', () => world.cluster.redis!.flush()],
  ['is frozen for longer than every lease', () => frozen(longMs)],
  ['answers slowly', () => slow(400, longMs)],
  ['loses every connection', async () => world.cluster.redisLink!.breakOpen()],
];

for (const [what, harm] of harms)
  test(`when Redis ${what}, no request fails, no shard moves, and the nodes stay ready`, options, async () => {
    const { cluster, caller } = world;
    const before = await cluster.epochs();
    const queries = new SteadyQueries(caller, () => cluster.up, world.paths, { loops: 2 });
    const stream = await world.stream(world.node(2));
    await harm();
    for (const [n, node] of cluster.up.entries()) await caller.at(node).upload(world.workspaces[n]!, 'meanwhile.txt', what);
    await stream.until(() => stream.events.length >= cluster.up.length);
    stream.vanish();
    // The nodes detect the fault and recover within one lease.
    await pause(1_000);
    await queries.stop();
    assert.deepEqual(queries.failures, []);
    await cluster.untilReady();
    assert.deepEqual(await cluster.epochs(), before);
  });

test('actors of a node that died while Redis was away answer when Redis is back', options, async () => {
  const { cluster, caller } = world;
  const victim = world.node(3);
  const owned = (await world.ownedBy(victim)).map((id) => `/v1/workspaces/${id}`);
  await cluster.redis!.kill();
  await victim.kill();
  await cluster.redis!.restart();
  await untilAnswered(caller, cluster.up, owned);
  await victim.start();
  await cluster.untilReady();
  await world.untilBalanced(['node-1', 'node-2', 'node-3']);
});

async function away(forMs: number): Promise<void> {
  await world.cluster.redis!.kill();
  await pause(forMs);
  await world.cluster.redis!.restart();
}

async function frozen(forMs: number): Promise<void> {
  world.cluster.redis!.pause();
  await pause(forMs);
  world.cluster.redis!.resume();
}

async function slow(delayMs: number, forMs: number): Promise<void> {
  world.cluster.redisLink!.delayMs = delayMs;
  await pause(forMs);
  world.cluster.redisLink!.delayMs = 0;
}
