/** A killed node and a frozen node: their work continues on other nodes, and a node that resumes too late changes nothing. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { shardOf } from '../../src/cluster/address.ts';
import type { EventBody } from '../support/bodies.ts';
import { goodToken } from '../support/hosts/host-stand-in.ts';
import { VercelStandIn } from '../support/hosts/vercel-stand-in.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { untilAnswered } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

/** A silence that is certainly shorter than a lease of 2 s, which is renewed every 250 ms. */
const shortMs = 1_000;

let world: World;
let host: VercelStandIn;
const ends: (() => unknown)[] = [];
before(async () => {
  if (withoutRedis) return;
  host = await VercelStandIn.start({ after: (end) => void ends.push(end) });
  host.quick = true;
  world = await World.open({ env: { VERCEL_API_URL: host.apiUrl, OUTBOUND_ALLOW: '127.0.0.0/8' } });
});
after(async () => {
  await world?.close();
  for (const end of ends) await end();
});

test('actors of a killed node answer on the other nodes; after its restart it gets its share of shards again', options, async () => {
  const { cluster, caller } = world;
  const victim = world.node(1);
  const owned = await world.ownedBy(victim);
  assert.ok(owned.length > 0);
  await Promise.all(owned.map((id) => caller.at(world.node(2)).upload(id, 'before.txt', `kept ${id}`)));
  await victim.kill();
  await untilAnswered(
    caller,
    world.others(victim),
    owned.map((id) => `/v1/workspaces/${id}`),
  );
  for (const id of owned) {
    const survivor = caller.at(world.node(3));
    assert.equal((await survivor.upload(id, 'before.txt', 'next')).version, 2, 'commands too');
  }
  await cluster.untilReady();
  await victim.start();
  await victim.untilReady();
  await world.untilBalanced(['node-1', 'node-2', 'node-3']);
  for (const id of owned)
    assert.equal(await (await caller.at(victim).fetch('GET', `/v1/workspaces/${id}/files/before.txt`)).text(), 'next');
});

test('tasks of a killed node continue, and no finished tool call is repeated', options, async () => {
  const { caller } = world;
  const [workspace] = world.workspaces;
  await caller.at(world.node(2)).upload(workspace!, 'sales.csv', 'region,units\nnorth,12\nsouth,7\n');
  const order = { prompt: 'Analyse sales.csv', workspace_id: workspace, config: { autonomy_level: 100 } };
  const tasks = await Promise.all(
    Array.from({ length: 12 }, (_, n) => caller.at(world.node(1 + (n % 3))).json('POST', '/v1/tasks', order)),
  );
  await world.node(1).kill();
  const survivor = caller.at(world.node(2));
  for (const { id } of tasks) {
    assert.equal((await survivor.untilTask(id, ['complete', 'failed', 'cancelled'])).status, 'complete');
    const { data } = await survivor.json('GET', `/v1/tasks/${id}/events?limit=100`);
    const results = data
      .filter(({ type }: EventBody) => type === 'agent.tool_result')
      .map((event: EventBody) => `${event.data.agent_id} ${event.data.call_id}`);
    assert.equal(new Set(results).size, results.length);
  }
  await world.node(1).start();
  await world.cluster.untilReady();
});

test(
  'deployments of a killed node continue on other nodes: each exists at the host once, with its files, and no content is sent twice',
  options,
  async () => {
    const { caller, cluster } = world;
    const survivor = caller.at(world.node(2));
    await world.untilBalanced(['node-1', 'node-2', 'node-3']);
    await survivor.json('POST', '/v1/deployments/configs', { name: 'site', target: 'vercel', credentials: { token: goodToken } });
    // So slow that the deployments of the node are at different steps when it dies.
    host.meet(/./, ...Array.from({ length: 400 }, () => ({ lateMs: 150 })));
    const workspaces = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => (await survivor.json('POST', '/v1/workspaces', { name: `site ${n}` })).id as string),
    );
    const owners = await cluster.ownerOfShards();
    const siteOf = (id: string) => ({ 'index.html': `<h1>${id}</h1>`, 'a.txt': `a of ${id}`, 'b.txt': `b of ${id}` });
    const ids = await Promise.all(
      workspaces.map(async (id) => {
        for (const [name, content] of Object.entries(siteOf(id))) await survivor.upload(id, name, content);
        return (await survivor.json('POST', '/v1/deployments', { workspace_id: id, target: 'vercel' })).id as string;
      }),
    );
    // Where its random ids put most of those that the callers' node does not own.
    const runningOn = (node: NodeProcess) => ids.filter((id) => owners[shardOf('deployment', id)] === node.name).length;
    const [victim] = [world.node(1), world.node(3)].sort((a, b) => runningOn(b) - runningOn(a)) as [NodeProcess, NodeProcess];
    assert.ok(runningOn(victim) > 0, 'some run on the node that dies');
    await until(() => host.deployments.length > 1, 'some deployments at the host');
    await victim.kill();
    host.faults = [];
    for (const [n, id] of ids.entries()) {
      await until(async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const answer = await survivor.fetch('GET', `/v1/deployments/${id}`);
        return answer.status === 200 && ['live', 'failed'].includes(((await answer.json()) as { status: string }).status);
      }, `the end of ${id}`);
      const { status, error, provider_id: providerId } = await survivor.json('GET', `/v1/deployments/${id}`);
      assert.deepEqual([status, error], ['live', null]);
      const made = host.deployments.filter(({ meta }) => meta.troupe_deployment === id);
      assert.deepEqual([made.length, made[0]!.id], [1, providerId]);
      assert.deepEqual(Object.fromEntries([...made[0]!.files].map(([path, bytes]) => [path, String(bytes)])), siteOf(workspaces[n]!));
    }
    assert.equal(host.uploads.length, 3 * ids.length, 'each content once');
    assert.equal(new Set(host.uploads.map(String)).size, host.uploads.length);
    await victim.start();
    await cluster.untilReady();
  },
);

test('a stream of a killed node is resumed at another node, with every event once', options, async () => {
  const { caller } = world;
  const before = await world.stream(world.node(3));
  const [workspace] = world.workspaces;
  const writes = Array.from({ length: 40 }, (_, n) => n);
  for (const n of writes.slice(0, 10)) await caller.at(world.node(1)).upload(workspace!, 'stream.txt', `${n}`);
  await before.until(() => before.events.length > 0);
  await world.node(3).kill();
  await before.ended().catch(() => {});
  const seen = before.events.map(({ event }) => event.seq);
  const next = await world.stream(world.node(2), seen.at(-1));
  for (const n of writes.slice(10)) await caller.at(world.node(1)).upload(workspace!, 'stream.txt', `${n}`);
  const newest = (await caller.at(world.node(1)).events()).at(-1)!.seq;
  await next.until(() => next.events.at(-1)?.event.seq === newest);
  const all = [...seen, ...next.events.map(({ event }) => event.seq)];
  assert.deepEqual(
    all,
    all.map((_, n) => all[0] + n),
  );
  next.vanish();
  await world.node(3).start();
  await world.cluster.untilReady();
});

test('a freeze that is shorter than the lease moves no shard', options, async (t) => {
  const { cluster, caller } = world;
  const frozen = world.node(2);
  const silences: number[] = [];
  // On a busy machine a freeze may last longer than it should: such a sample proves nothing.
  for (let isValid = false; !isValid; ) {
    assert.ok(silences.length < 10, `the node was silent for ${silences.join(', ')} ms`);
    await world.untilBalanced(['node-1', 'node-2', 'node-3']);
    await frozen.untilReady();
    const before = await cluster.epochs();
    const beganMs = performance.now();
    frozen.freeze();
    await new Promise((resolve) => setTimeout(resolve, 300));
    frozen.thaw();
    await fetch(`${frozen.url}/health/live`);
    silences.push(Math.round(performance.now() - beganMs));
    await untilAnswered(caller, cluster.up, world.paths);
    await cluster.untilReady();
    isValid = silences.at(-1)! < shortMs;
    if (isValid) assert.deepEqual(await cluster.epochs(), before);
  }
  t.diagnostic(`silent for ${silences.join(', ')} ms`);
});

test(
  'a node that is paused past its lease loses its shards; when it resumes it shows no old state, writes nothing and rejoins',
  options,
  async () => {
    const { cluster, caller } = world;
    const sleeper = world.node(2);
    const owned = await world.ownedBy(sleeper);
    const [id] = owned;
    const path = `/v1/workspaces/${id}/files/register.txt`;
    await caller.at(world.node(1)).upload(id!, 'register.txt', 'old');
    assert.equal(await (await caller.at(sleeper).fetch('GET', path)).text(), 'old', 'it has it in memory');
    sleeper.freeze();
    // Sent while it is paused, read when it continues.
    const late = caller.at(sleeper).fetch('GET', path);
    const lateWrite = caller.at(sleeper).fetch('POST', '/v1/workspaces', { name: 'asked of a sleeper' }, { 'idempotency-key': 'sleeper' });
    await untilAnswered(
      caller,
      world.others(sleeper),
      owned.map((one) => `/v1/workspaces/${one}`),
    );
    assert.equal((await caller.at(world.node(1)).upload(id!, 'register.txt', 'new')).version, 2);
    // From here on answers must include the changes answered before.
    const later = Array.from({ length: 8 }, () => caller.at(sleeper).fetch('GET', path));
    sleeper.thaw();
    later.push(...Array.from({ length: 8 }, () => caller.at(sleeper).fetch('GET', path)));
    for (const answer of await Promise.all(later)) {
      if (answer.status === 200) assert.equal(await answer.text(), 'new');
      else assert.ok([503, 504].includes(answer.status), String(answer.status));
    }
    const answer = await late;
    if (answer.status === 200) assert.equal(await answer.text(), 'new');
    else assert.ok([503, 504].includes(answer.status), String(answer.status));
    assert.ok([201, 503, 504].includes((await lateWrite).status), String((await lateWrite).status));
    await sleeper.untilReady();
    await world.untilBalanced(['node-1', 'node-2', 'node-3']);
    for (const node of cluster.up) assert.equal(await (await caller.at(node).fetch('GET', path)).text(), 'new', node.name);
    assert.equal((await caller.at(sleeper).upload(id!, 'register.txt', 'newest')).version, 3);
  },
);

test('each of these events is logged once, and none as an error', options, () => {
  for (const { log } of world.cluster.nodes) {
    assert.doesNotMatch(log, /"level":"error"/);
    assert.doesNotMatch(log, /"(node|incarnation|peer|msg)":.*"\1":/);
  }
  const logs = world.cluster.nodes.map(({ log }) => log).join('');
  assert.match(logs, /"peer":"node-1\/[^"]+","msg":"a node has failed/);
});
