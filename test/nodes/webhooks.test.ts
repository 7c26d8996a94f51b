/** A webhook of a cluster while its node is killed: no event is lost, events of a task keep their order, and repeats have the same id. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { shardOf } from '../../src/cluster/address.ts';
import { withoutRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

test('every event reaches a webhook whose node is killed meanwhile, events of a task in order', options, async (t) => {
  const world = await World.open({ env: { OUTBOUND_ALLOW: '127.0.0.1' } });
  t.after(() => world.close());
  const receiver = await startReceiver(t);
  // Slow enough that some deliveries are in flight whenever the node is killed.
  receiver.answer = (_request, response) => void setTimeout(() => response.end(), 20);
  const { cluster, caller } = world;
  const { id } = await caller.json('POST', '/v1/api-keys/webhooks', { url: receiver.url, events: ['*'] });
  const registeredAt = (await caller.events()).at(-1)?.seq ?? 0;
  const owner = (await cluster.ownerOfShards())[shardOf('webhook', id)];
  const victim = cluster.nodes.find(({ name }) => name === owner)!;
  const survivor = caller.at(world.others(victim)[0]!);
  const create = () => survivor.json('POST', '/v1/tasks', { prompt: 'What is 6 times 7?', config: { autonomy_level: 100 } });
  const tasks = await Promise.all(Array.from({ length: 6 }, create));
  await until(() => receiver.received.length >= 10, 'some deliveries');
  await victim.kill();
  tasks.push(await create());
  for (const task of tasks) await survivor.untilTask(task.id, ['complete', 'failed', 'cancelled']);
  const committed = (await survivor.events(registeredAt)).map(({ id, seq }) => ({ id, seq }));
  const arrived = () => new Map(receiver.received.map(({ event }) => [event.seq, event]));
  await until(() => committed.every(({ seq }) => arrived().has(seq)), 'all events');

  const firstArrivals = new Map<string, number[]>();
  const seen = new Set<number>();
  for (const { event, headers } of receiver.received) {
    assert.equal(headers['webhook-id'], event.id);
    const task = event.data.task_id;
    if (!seen.has(event.seq) && task !== undefined) firstArrivals.set(task, [...(firstArrivals.get(task) ?? []), event.seq]);
    seen.add(event.seq);
  }
  assert.ok(firstArrivals.size > 0);
  for (const seqs of firstArrivals.values())
    assert.deepEqual(
      seqs,
      [...seqs].sort((a, b) => a - b),
    );
  const repeats = receiver.received.length - seen.size;
  assert.ok(repeats <= 128, `${repeats} repeats`);
});
