/** Two versions of the service run together: the older leaves unknown work for the newer (L1, L2, O3). */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { monotonicMs } from '../../src/clock.ts';
import { shardOf } from '../../src/cluster/address.ts';
import { probeIdIn, type TestCluster, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { olderProbe, probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis };

/** A node of the older version and one of the newer, and an actor of each. */
async function inTheRoll(
  t: TestContext,
): Promise<{ cluster: TestCluster; older: TestNode; newer: TestNode; onOlder: string; onNewer: string }> {
  const cluster = await testCluster(t);
  const older = await cluster.join('older', { actor: olderProbe });
  const newer = await cluster.join('newer');
  await cluster.settled();
  const onOlder = probeIdIn((shard) => older.placement.epochOf(shard) !== null);
  const onNewer = probeIdIn((shard) => newer.placement.epochOf(shard) !== null);
  return { cluster, older, newer, onOlder, onNewer };
}

async function received(node: TestNode, id: string): Promise<unknown[]> {
  return (await node.actors.query(probe, id, 'state', null))?.received ?? [];
}

async function send({ actors }: TestNode, from: string, to: string, command: 'receive' | 'receiveNew', input: unknown): Promise<void> {
  await actors.ask(probe, from, 'send', { to, inputs: [input], command });
}

test(
  'messages, timers and effects that an older node does not know wait untouched until a node that knows them has their actor',
  options,
  async (t) => {
    const { cluster, older, newer, onOlder, onNewer } = await inTheRoll(t);
    const shard = shardOf('probe', onOlder);
    await send(newer, onNewer, onOlder, 'receive', 1);
    await send(newer, onNewer, onOlder, 'receiveNew', 2);
    await send(newer, onNewer, onOlder, 'receive', 3);
    // Recorded by a newer owner of the shard, before the shard returned to the older node.
    await cluster.sql(
      `insert into timer (kind, actor_id, name, shard, command, input, due_at) values ('probe', $1, 'nap', $2, 'woke', '{"name":"nap","text":"awake"}', now())`,
      [onOlder, shard],
    );
    await cluster.sql(
      `insert into effect (id, shard, kind, actor_id, name, input, created_at) values ('eff_1', $2, 'probe', $1, 'work', '{}', now())`,
      [onOlder, shard],
    );
    const rows = () =>
      cluster.sql(
        `select to_json(m) as row from message m union all select to_json(t) from timer t union all select to_json(e) from effect e`,
      );
    await until(async () => (await received(older, onOlder)).length === 1, 'what the older node knows');
    const before = await rows();
    assert.equal(before.length, 4);
    for (let poll = 0; poll < 3; poll++) {
      await older.runtime.sweepTimers();
      await older.runtime.effects.recover();
      await older.runtime.left.count();
    }
    assert.deepEqual(await received(older, onOlder), [1], 'what came later from the same sender waits behind it');
    assert.deepEqual(await rows(), before);
    const left = older.runtime.left.found.map(({ place, kind, name, rows: n }) => ({ place, kind, name, n }));
    assert.deepEqual(left, [
      { place: 'message', kind: 'probe', name: 'receiveNew', n: 1 },
      { place: 'timer', kind: 'probe', name: 'woke', n: 1 },
      { place: 'effect', kind: 'probe', name: 'work', n: 1 },
    ]);
    assert.equal(
      cluster.lines.filter(({ node, message }) => node === 'older' && message.includes('does not know')).length,
      3,
      'one line a name',
    );

    await older.leave();
    await until(async () => (await received(newer, onOlder)).length === 5, 'all of it at the newer node');
    const all = await received(newer, onOlder);
    assert.deepEqual(
      all.filter((one) => typeof one === 'number'),
      [1, 2, 3],
    );
    assert.ok(all.includes('awake'));
    assert.deepEqual(await rows(), []);
    assert.deepEqual(await cluster.sql('select * from dead_letter'), []);
  },
);

test('discarded work delays no later work; an ask for an unknown command is refused with the advice to retry', options, async (t) => {
  const { cluster, older, newer, onOlder, onNewer } = await inTheRoll(t);
  await send(newer, onNewer, onOlder, 'receiveNew', 1);
  await send(newer, onNewer, onOlder, 'receive', 2);
  await until(() => older.runtime.left.namesIn('message').length === 1, 'the message to be left');
  await cluster.sql(`delete from message where command = 'receiveNew'`);
  await older.runtime.left.count();
  await until(async () => (await received(older, onOlder)).length === 1, 'the next one');
  assert.deepEqual(await received(older, onOlder), [2]);
  const ask = {
    kind: 'probe',
    id: onOlder,
    input: null,
    query: false,
    repeat: false,
    deadlineMs: monotonicMs() + 1_000,
    commandId: null,
    trace: null,
  };
  assert.throws(() => older.actors.answer({ ...ask, name: 'receiveNew', effectId: null }), { code: 'unavailable' });
  assert.throws(() => older.actors.answer({ ...ask, name: 'ended', effectId: 'eff_1' }), { code: 'shard_not_owned' });
});
