/** A node that is stopped and a node that joins: no request fails. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { SteadyQueries } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

let world: World;
before(async () => {
  if (!withoutRedis) world = await World.open({ env: { DRAIN_GRACE_MS: '3000' } });
});
after(() => world?.close());

test('a fourth node gets its share of shards from the others, no other shards move, and no request fails', options, async () => {
  const { cluster, caller } = world;
  await world.untilBalanced(['node-1', 'node-2', 'node-3']);
  const before = await cluster.ownerOfShards();
  const queries = new SteadyQueries(caller, () => cluster.nodes.slice(0, 3), world.paths);
  const fourth = await cluster.add();
  await fourth.untilReady();
  await world.untilBalanced(['node-1', 'node-2', 'node-3', 'node-4']);
  const now = await cluster.ownerOfShards();
  await queries.stop();
  assert.deepEqual(queries.failures, []);
  const moved = now.flatMap((owner, shard) => (owner === before[shard] ? [] : [owner]));
  assert.deepEqual([...new Set(moved)], ['node-4'], 'shards move to the new node alone');
  assert.ok(moved.length > 1024 / 8 && moved.length < 1024 / 2, `${moved.length} shards moved`);
});

test(
  'a node that is stopped becomes unready, closes its sockets, hands over its shards and exits with 0; no request fails',
  options,
  async () => {
    const { cluster, caller } = world;
    const leaver = world.node(1);
    const socket = await world.stream(leaver);
    const queries = new SteadyQueries(caller, () => world.others(leaver), world.paths);
    const leaving = leaver.term();
    await leaver.untilReadiness((status) => status === 503);
    assert.equal((await caller.at(leaver).fetch('GET', world.paths[0]!)).status, 200, 'it still answers while balancers notice');
    const goaway = await socket.untilMessage('goaway');
    assert.ok(goaway.reconnect_after_ms >= 0);
    assert.equal(await socket.ended(), 1012);
    const { code, afterMs } = await leaving;
    assert.equal(code, 0, leaver.log.slice(-2_000));
    assert.ok(afterMs < 30_000, `${afterMs} ms`);
    await queries.stop();
    assert.deepEqual(queries.failures, []);
    assert.ok(!(await cluster.owners()).has(leaver.name), 'it owns nothing any more');
    assert.doesNotMatch(leaver.log, /"level":"error"/);
    await leaver.start();
    await cluster.untilReady();
  },
);

test('tasks of a stopped node continue without loss', options, async () => {
  const { caller } = world;
  const [workspace] = world.workspaces;
  await caller.at(world.node(2)).upload(workspace!, 'sales.csv', 'region,units\nnorth,12\nsouth,7\n');
  const order = { prompt: 'Analyse sales.csv', workspace_id: workspace, config: { autonomy_level: 100 } };
  const tasks = await Promise.all(Array.from({ length: 8 }, (_, n) => caller.at(world.node(1 + (n % 3))).json('POST', '/v1/tasks', order)));
  assert.equal((await world.node(3).term()).code, 0);
  for (const { id } of tasks)
    assert.equal((await caller.at(world.node(2)).untilTask(id, ['complete', 'failed', 'cancelled'])).status, 'complete');
  await world.node(3).start();
  await world.cluster.untilReady();
});

test('after all nodes have left, the first node to start finds all data', options, async () => {
  const { cluster, caller } = world;
  const ends = await Promise.all(cluster.up.map((node) => node.term()));
  assert.deepEqual(
    ends.map(({ code }) => code),
    ends.map(() => 0),
  );
  await world.node(2).start();
  await world.node(2).untilReady();
  for (const path of world.paths) await caller.at(world.node(2)).json('GET', path);
});
