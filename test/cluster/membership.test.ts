import assert from 'node:assert/strict';
import test from 'node:test';
import { testRedis, withoutRedis } from '../support/redis.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { agreed, incarnations, joinedNodes, renewEveryMs, testNode } from './membership-nodes.ts';

const options = { skip: withoutRedis };

test('nodes that start together are all members of the first view', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  assert.ok(nodes.every(({ membership }) => membership.state === 'member'));
  assert.deepEqual(nodes[0]!.membership.view.members[0], {
    incarnation: nodes[0]!.incarnation,
    name: 'a',
    host: '127.0.0.1',
    port: 4_000,
    roles: ['edge', 'actors'],
    leaving: false,
  });
});

test('M1 each change creates a view with a larger number, which is the same on all nodes', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  const c = testNode(t, redis.url, 'c');
  await c.membership.start();
  await agreed([a!, b!, c]);
  const joined = c.membership.view.number;
  await b!.membership.leave();
  await agreed([a!, c]);
  assert.ok(c.membership.view.number > joined);
  for (const { views } of [a!, b!, c]) assert.ok(views.every((view, i) => i === 0 || view.number > views[i - 1]!.number));
});

test('a leaving node is marked in the view', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  await b!.membership.leaving();
  assert.equal(b!.membership.view.members.find(({ name }) => name === 'b')!.leaving, true);
  await a!.membership.refresh();
  assert.equal(a!.membership.view.members.find(({ name }) => name === 'b')!.leaving, true);
});

test('M3 a node that ends without leaving is expelled after a lease', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b, c] = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  await c!.membership.stop();
  await agreed([a!, b!]);
});

test('M4 a member reported dead is expelled at once, unless it has renewed its lease since', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  await until(() => a!.membership.renewals(b!.incarnation)!.count > 2, 'a has seen b renew');
  const seen = a!.membership.renewals(b!.incarnation)!;
  assert.equal(await a!.membership.expel(b!.incarnation, seen.count - 1), false);
  assert.deepEqual(incarnations(a!.membership.view), [a!.incarnation, b!.incarnation]);

  await b!.membership.stop();
  let last = seen;
  await until(async () => {
    // If this process was paused, a has sent no request since b's last renewal.
    await a!.membership.refresh();
    last = a!.membership.renewals(b!.incarnation)!;
    return performance.now() - last.seenAtMs > 4 * renewEveryMs;
  }, 'b has been silent for long');
  assert.equal(await a!.membership.expel(b!.incarnation, last.count - 1), false, 'it has renewed since it was seen dead');
  assert.equal(await a!.membership.expel(b!.incarnation, last.count), true);
  assert.deepEqual(incarnations(a!.membership.view), [a!.incarnation]);
  assert.equal(a!.membership.renewals(b!.incarnation), null);
  assert.equal(await a!.membership.expel(b!.incarnation, 0), true, 'who is out stays out');
});

test('M4 a node that is not a member cannot expel others', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  await redis.client.hdel('troupe:{test}:members', a!.incarnation);
  assert.equal(await a!.membership.expel(b!.incarnation, Number.MAX_SAFE_INTEGER), false);
  assert.ok(incarnations(b!.membership.view).includes(b!.incarnation));
});

test('M6 a node that was expelled while it was paused detects it, drops its state, and only then rejoins', options, async (t) => {
  const redis = await testRedis(t);
  const link = await TcpProxy.before(redis.url);
  t.after(() => link.close());
  let drop = () => {};
  const dropping = new Promise<void>((resolve) => (drop = resolve));
  const a = testNode(t, redis.url, 'a');
  const sleeper = testNode(t, link.url, 'sleeper', { onExpelled: () => dropping });
  await Promise.all([a.membership.start(), sleeper.membership.start()]);
  await agreed([a, sleeper]);

  const held = link.hold(/./, 'to server');
  await agreed([a]);
  const before = sleeper.membership.view.number;
  held.release();
  await until(() => sleeper.expelled === 1, 'the expulsion');
  assert.equal(sleeper.membership.state, 'joining');
  await a.membership.refresh();
  assert.deepEqual(incarnations(a.membership.view), [a.incarnation], 'not a member while it drops');
  drop();
  await agreed([a, sleeper]);
  assert.equal(sleeper.membership.state, 'member');
  assert.equal(sleeper.expelled, 1);
  assert.ok(sleeper.membership.view.number > before);
});

test('a node runs one Redis script an interval, for any number of nodes', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c', 'd', 'e', 'f']);
  const renewals = () => nodes.map(({ membership, incarnation }) => membership.renewals(incarnation)!.count).reduce((a, b) => a + b);
  await redis.client.config('RESETSTAT');
  const from = renewals();
  await until(() => renewals() - from > 10 * nodes.length, 'they renewed');
  const calls = [...(await redis.client.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  const asked = renewals() - from;
  // Each may have answers in flight at the start and at the end.
  assert.ok(Math.abs(calls - asked) <= 2 * nodes.length, `${calls} scripts for ${asked} renewals`);
});

test('a node is notified once when an operator asks it to leave', options, async (t) => {
  const { readCluster, requestDrain } = await import('../../src/cluster/membership-reading.ts');
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  let drainRequests = 0;
  b!.membership.onDrainRequested(() => (drainRequests += 1));
  assert.deepEqual(await requestDrain(redis.url, 'test', 'nobody'), { kind: 'unknown', names: ['a', 'b'] });
  assert.deepEqual(await requestDrain(redis.url, 'test', 'b'), { kind: 'asked' });
  const reading = await readCluster(redis.url, 'test');
  assert.deepEqual(reading.view.members, a!.membership.view.members);
  assert.deepEqual(
    reading.nodes.map(({ drainRequested, protocol }) => [drainRequested, protocol]),
    [
      [false, { lowest: 1, highest: 2 }],
      [true, { lowest: 1, highest: 2 }],
    ],
  );
  await until(() => drainRequests > 0, 'the request at b');
  await b!.membership.leaving();
  assert.deepEqual(await requestDrain(redis.url, 'test', 'b'), { kind: 'leaving' });
  await b!.membership.refresh();
  assert.equal(drainRequests, 1);
});

test('a reading of the cluster without Redis reports the cause', options, async (t) => {
  const { readCluster } = await import('../../src/cluster/membership-reading.ts');
  const redis = await testRedis(t);
  assert.deepEqual((await readCluster(redis.url, 'test')).view, { number: 0, members: [] });
  await redis.client.config('SET', 'requirepass', 'open-sesame');
  const { redis: state, nodes } = await readCluster(redis.url.replace('//', '//:not-sesame@'), 'test');
  assert.equal(state.up, false);
  assert.match(state.trouble!, /^Redis at 127\.0\.0\.1:\d+ cannot be used \(.*WRONGPASS.*\): check REDIS_URL$/);
  assert.doesNotMatch(state.trouble!, /sesame/);
  assert.deepEqual(nodes, []);
});
