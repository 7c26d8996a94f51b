import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineClock } from '../../../src/clock.ts';
import { contentTurns, creationGate } from '../../../src/domains/deployments/low-priority.ts';
import { RequestStats } from '../../../src/edge/http/request-stats.ts';
import { SpareTime } from '../../../src/edge/http/spare-time.ts';
import { deploymentWorld } from '../../support/deployment-world.ts';

test('two deployments are created at once, of accounts in turn', async () => {
  const creations = creationGate({ lane: () => ({ turn: async () => {} }), waitingRequests: 0 });
  const order: string[] = [];
  let [running, most] = [0, 0];
  const creation = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  const accounts = ['a', 'a', 'a', 'a', 'a', 'b', 'b'];
  await Promise.all(accounts.map((account) => creations.pass(account, 'request', creation).then(() => void order.push(account))));
  assert.equal(most, 2);
  assert.ok(order.lastIndexOf('b') < order.length - 1, order.join());
});

test('a creation begins in a turn of the spare time that counts for many contents', async () => {
  const spareTime = Promise.withResolvers<void>();
  const turns: [string, number][] = [];
  const requests = {
    waitingRequests: 0,
    lane: (pieces = 1) => ({
      turn(account: string) {
        turns.push([account, pieces]);
        return spareTime.promise;
      },
    }),
  };
  const creations = creationGate(requests);
  let isCreated = false;
  const created = creations.pass('acct', 'request', async () => {
    isCreated = true;
  });
  await new Promise(setImmediate);
  assert.equal(isCreated, false);
  assert.equal(requests.waitingRequests, 1);
  assert.equal(turns[0]![0], 'acct');
  assert.ok(turns[0]![1] > 1);
  spareTime.resolve();
  await created;
  assert.equal(isCreated, true);
  assert.equal(requests.waitingRequests, 0);
});

test('the creation of an agent is not counted as a waiting request', async () => {
  const requests = { waitingRequests: 0, lane: () => ({ turn: async () => assert.equal(requests.waitingRequests, 0) }) };
  await creationGate(requests).pass('acct', 'agent', async () => {});
  assert.equal(requests.waitingRequests, 0);
});

test('contents get half of the time of a node that always has requests and creations, and accounts get equal parts of it', async () => {
  const requests = new RequestStats();
  requests.inFlight = 2;
  const spareTime = new SpareTime(requests, 1);
  const creations = creationGate(spareTime);
  const turnsOf = contentTurns({ spareTime, clock: machineClock, timeoutMs: 1_000_000 });
  const order: string[] = [];
  let isOver = false;
  const createAlways = async (account: string) => {
    while (!isOver) await creations.pass(account, 'request', async () => void order.push('creation'));
  };
  const creators = Array.from({ length: 20 }, (_, n) => createAlways(`creator ${n}`));
  // Ten contents at once of each deployment: three deployments of one account, one of the other.
  const createdAt = machineClock.nowMs();
  const readTen = (accountId: string) =>
    Array.from({ length: 10 }, () => turnsOf({ accountId, createdAt })().then(() => order.push(accountId)));
  const few = Promise.all(readTen('few'));
  await Promise.all([...readTen('many'), ...readTen('many'), ...readTen('many'), few.then(() => order.push('few has ended'))]);
  isOver = true;
  await Promise.all(creators);
  const untilEnd = order.slice(0, order.indexOf('few has ended'));
  assert.ok(untilEnd.filter((one) => one === 'many').length <= 11, order.join());
  const contents = order.slice(0, order.lastIndexOf('many') + 1);
  assert.ok(contents.filter((one) => one === 'creation').length <= 5, order.join());
});

test('a deployment that has used half of its time reads contents without waiting for requests', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const requests = new RequestStats();
  requests.inFlight = 1;
  const spareTime = new SpareTime(requests, 60_000);
  const clock = { ...machineClock, nowMs: () => 50_000 };
  const turnsOf = contentTurns({ spareTime, clock, timeoutMs: 100_000 });
  let hasRead = false;
  void turnsOf({ accountId: 'a', createdAt: 1 })().then(() => {
    hasRead = true;
  });
  await turnsOf({ accountId: 'b', createdAt: 0 })();
  assert.equal(hasRead, false);
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
