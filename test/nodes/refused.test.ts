/** Nodes that may not join: they print the reason in one line, and the running nodes are not affected. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

let cluster: ClusterProcesses;
before(async () => {
  if (!withoutRedis) cluster = await ClusterProcesses.start({ nodes: 1, redis: true });
});
after(() => cluster?.close());

const cases: [string, Record<string, string>, RegExp][] = [
  ['with another SECRET_KEY', { SECRET_KEY: 'another key, long enough to be taken' }, /SECRET_KEY/],
  ['without REDIS_URL on the database of a cluster', { REDIS_URL: '' }, /REDIS_URL/],
];

for (const [what, env, line] of cases)
  test(`a node ${what} is refused, and the running nodes continue`, options, async () => {
    const node = await cluster.prepare(env);
    const { code, output } = await node.startRefused();
    assert.equal(code, 1);
    const said = output.split('\n').filter((one) => one !== '' && !one.startsWith('{'));
    assert.equal(said.length, 1, output);
    assert.match(said[0]!, line);
    assert.ok(!output.includes(node.env.SECRET_KEY!), 'no key is printed');
    await cluster.node('node-1').untilReady();
    const caller = await Caller.register(cluster.node('node-1'));
    await caller.json('POST', '/v1/workspaces', { name: what });
  });

test('of two nodes without REDIS_URL the second is refused', options, async (t) => {
  const single = await ClusterProcesses.start({ nodes: 1, redis: false });
  t.after(() => single.close());
  const { code, output } = await (await single.prepare()).startRefused();
  assert.equal(code, 1);
  assert.match(output, /Another node runs on this database.*REDIS_URL/);
});
