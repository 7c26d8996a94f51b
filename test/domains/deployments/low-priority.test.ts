import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creationGate } from '../../../src/domains/deployments/low-priority.ts';
import { deploymentWorld } from '../../support/deployment-world.ts';

test('two deployments are created at once, of accounts in turn', async () => {
  const creations = creationGate({ turn: async () => {}, waitingRequests: 0 });
  const order: string[] = [];
  let [running, most] = [0, 0];
  const creation = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  const accounts = ['a', 'a', 'a', 'a', 'a', 'b', 'b'];
  await Promise.all(accounts.map((account) => creations.pass(account, creation).then(() => void order.push(account))));
  assert.equal(most, 2);
  assert.ok(order.lastIndexOf('b') < order.length - 1, order.join());
});

test('a creation begins in a turn of the spare time that counts for many contents', async () => {
  const spareTime = Promise.withResolvers<void>();
  const turns: [string, number][] = [];
  const lane = {
    waitingRequests: 0,
    turn(account: string, pieces = 1) {
      turns.push([account, pieces]);
      return spareTime.promise;
    },
  };
  const creations = creationGate(lane);
  let isCreated = false;
  const created = creations.pass('acct', async () => {
    isCreated = true;
  });
  await new Promise(setImmediate);
  assert.equal(isCreated, false);
  assert.equal(lane.waitingRequests, 1);
  assert.equal(turns[0]![0], 'acct');
  assert.ok(turns[0]![1] > 1);
  spareTime.resolve();
  await created;
  assert.equal(isCreated, true);
  assert.equal(lane.waitingRequests, 0);
});

test('fifty creations at once are all accepted', async (t) => {
  const world = await deploymentWorld(t);
  const workspaceId = await world.workspace();
  await world.runtime.sql(
    `insert into workspace_file (id, workspace_id, account_id, name, type, size_bytes, sha256, version, generation, content_key, status, created_at)
      select 'wsf_' || n, $1, $2, 'page-' || n || '.html', 'text/html', 10, lpad(to_hex(n), 64, '0'), 0, 0, 'ws/file/' || n, 'present', now()
      from generate_series(1, 99) n`,
    [workspaceId, world.accountId],
  );
  const creations = Array.from({ length: 50 }, () =>
    world.send('POST', '/v1/deployments', { workspace_id: workspaceId, target: 'vercel' }, `${world.accountId} test`),
  );
  const answers = await Promise.all(creations);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.deepEqual(await world.runtime.sql('select distinct files from snapshot'), [{ files: 100 }]);
});
