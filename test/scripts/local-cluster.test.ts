/** The parts of `npm run cluster` with the service itself as nodes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { LocalCluster } from '../../scripts/cluster/local-cluster.ts';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

test('a local cluster answers by any node, also when one of them is killed', { skip: withoutRedis }, async (t) => {
  const folder = await temporaryFolder('troupe-local-');
  const dataDir = join(folder.path, 'data');
  const lines: string[] = [];
  const cluster = await LocalCluster.start({
    nodes: 2,
    dataDir,
    env: { DRAIN_GRACE_MS: '0' },
    print: (line) => lines.push(line),
  });
  t.after(async () => {
    await cluster.stop();
    await folder.remove();
  });
  const caller = await Caller.register(cluster);
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'Shared' });
  for (const node of cluster.nodes) {
    const answer = await fetch(`${await node.url}/v1/workspaces/${id}`, { headers: { authorization: `Bearer ${caller.token}` } });
    assert.equal(answer.status, 200, node.name);
  }

  const [killed] = cluster.nodes;
  killed!.signal('SIGKILL');
  await killed!.ended;
  // What was asked of the dead node alone may be answered with 503 until its shards are claimed.
  const isAnswered = () =>
    caller.fetch('GET', `/v1/workspaces/${id}`, undefined, { connection: 'close' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(isAnswered, 'an answer');
  assert.deepEqual(cluster.ready, ['node-2']);
  assert.ok(lines.includes('node-1 has ended (SIGKILL)'), lines.join('\n'));

  await cluster.stop();
  assert.deepEqual(
    cluster.nodes.map(({ isAlive }) => isAlive),
    [false, false],
  );
  assert.equal((await cluster.nodes[1]!.ended).code, 0);
  assert.equal(await runningEmbeddedPostgres(dataDir), null);
});
