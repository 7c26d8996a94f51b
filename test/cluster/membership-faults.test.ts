import assert from 'node:assert/strict';
import test from 'node:test';
import { type TestRedis, testRedis, withoutRedis } from '../support/redis.ts';
import { slowLink } from '../support/slow-link.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import {
  agreed,
  assertNobodyMissed,
  incarnations,
  joinedNodes,
  leaseMs,
  renewEveryMs,
  type TestNode,
  testNode,
} from './membership-nodes.ts';

const options = { skip: withoutRedis };
const state = 'troupe:{test}:state';
const members = 'troupe:{test}:members';

test('M2 M5 a Redis that is paused for longer than a lease expels no member; the view does not change', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const before = nodes[0]!.membership.view;
  redis.pause();
  await all(nodes, 'alone');
  assert.equal(nodes[0]!.membership.view, before);
  redis.resume();
  await all(nodes, 'member');
  await renewedOften(nodes);
  nothingHappened(nodes, before.number);
});

test('M2 jumps of Redis’s clock expel no member, forwards or backwards', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const { number } = nodes[0]!.membership.view;
  for (const leapMs of [3_600_000, -7_200_000]) {
    // A test cannot set the clock. Changing the time that the scripts last read has the same result.
    await redis.client.hincrby(state, 'nowMs', -leapMs);
    await renewedOften(nodes);
  }
  nothingHappened(nodes, number);
});

test('M3 a node that dies during a jump of the clock is expelled', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b, c] = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  await redis.client.hincrby(state, 'nowMs', 3_600_000);
  await c!.membership.stop();
  await agreed([a!, b!]);
});

test('M1 M2 the nodes restore the view of an emptied Redis: no member is expelled, numbers continue', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const { number } = nodes[0]!.membership.view;
  await redis.flush();
  await until(() => nodes.every(({ membership }) => membership.view.number > number), 'a new view');
  await agreed(nodes);
  await renewedOften(nodes);
  assertNobodyMissed(nodes);
});

test('M1 M2 M5 the nodes restore the view of a Redis that restarts empty', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const { number } = nodes[0]!.membership.view;
  await redis.kill();
  await all(nodes, 'alone');
  await redis.restart();
  await until(() => nodes.every(({ membership }) => membership.view.number > number), 'a new view');
  await agreed(nodes);
  await renewedOften(nodes);
  assertNobodyMissed(nodes);
});

test('M2 a node that died while Redis was emptied is expelled one lease after its view was restored', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b, c] = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const { number } = a!.membership.view;
  await redis.kill();
  await c!.membership.stop();
  await redis.restart();
  await agreed([a!, b!]);
  const restored = a!.views.filter((view) => view.number > number);
  assert.ok(incarnations(restored[0]!).includes(c!.incarnation), 'at first it is in the view, as it was');
});

test(
  'M2 a node that joins an emptied Redis before the others present their view gets a first view with all of them',
  options,
  async (t) => {
    const redis = await testRedis(t);
    const link = await TcpProxy.before(redis.url);
    t.after(() => link.close());
    const nodes = await joinedNodes(t, link.url, ['a', 'b', 'c']);
    const held = link.hold(/./, 'to server');
    await redis.flush();
    const newcomer = testNode(t, redis.url, 'newcomer');
    const joining = newcomer.membership.start();
    await until(async () => (await redis.client.exists('troupe:{test}:waiting')) === 1, 'it waits');
    held.release();
    await joining;
    await agreed([...nodes, newcomer]);
    assert.equal(incarnations(newcomer.views[0]!).length, 4);
    assertNobodyMissed(nodes);
  },
);

test('M1 M2 the nodes restore the newer view after Redis has returned to an older one', options, async (t) => {
  const redis = await testRedis(t);
  const [a, b] = await joinedNodes(t, redis.url, ['a', 'b']);
  const copy = await dump(redis);
  const c = testNode(t, redis.url, 'c');
  await c.membership.start();
  await b!.membership.leave();
  await agreed([a!, c]);
  const { number } = a!.membership.view;
  await restore(redis, copy);
  await until(() => a!.membership.view.number > number, 'a new view');
  await agreed([a!, c]);
  assertNobodyMissed([a!, c]);
});

test('M2 the nodes restore the members of a Redis that lost only those', options, async (t) => {
  const redis = await testRedis(t);
  const nodes = await joinedNodes(t, redis.url, ['a', 'b', 'c']);
  const { number } = nodes[0]!.membership.view;
  await redis.client.del(members);
  await until(() => nodes.every(({ membership }) => membership.view.number > number), 'a new view');
  await agreed(nodes);
  assertNobodyMissed(nodes);
});

test('M2 M3 a Redis slower than a lease expels no renewing member, admits nodes, and detects dead ones', options, async (t) => {
  const redis = await testRedis(t);
  const link = await slowLink(t, redis.url);
  const nodes = await joinedNodes(t, link.url, ['a', 'b', 'c']);
  const { number } = nodes[0]!.membership.view;
  link.delayMs = leaseMs * 0.75;
  // The nodes miss their leases at different times: answers take one and a half leases.
  await until(() => nodes.every(({ timesAlone }) => timesAlone > 0), 'each misses its lease');
  await all(nodes, 'member');
  await renewedOften(nodes);
  nothingHappened(nodes, number);

  const newcomer = testNode(t, link.url, 'd');
  await newcomer.membership.start();
  await agreed([...nodes, newcomer]);
  const [a, b, c] = nodes;
  await c!.membership.stop();
  await agreed([a!, b!, newcomer]);
  assert.equal(newcomer.expelled, 0);
});

test('M6 a node that was paused while Redis was emptied rejoins as a new member', options, async (t) => {
  const redis = await testRedis(t);
  const link = await TcpProxy.before(redis.url);
  t.after(() => link.close());
  const a = testNode(t, redis.url, 'a');
  const sleeper = testNode(t, link.url, 'sleeper');
  await Promise.all([a.membership.start(), sleeper.membership.start()]);
  await agreed([a, sleeper]);
  const held = link.hold(/./, 'to server');
  await redis.flush();
  await agreed([a]);
  held.release();
  await agreed([a, sleeper]);
  assert.equal(sleeper.expelled, 1);
});

test(
  'M6 a node that was paused while Redis was emptied and all others were replaced restores none of the old members',
  options,
  async (t) => {
    const redis = await testRedis(t);
    const link = await TcpProxy.before(redis.url);
    t.after(() => link.close());
    const old = testNode(t, redis.url, 'old');
    const sleeper = testNode(t, link.url, 'sleeper');
    await Promise.all([old.membership.start(), sleeper.membership.start()]);
    await agreed([old, sleeper]);
    const held = link.hold(/./, 'to server');
    await old.membership.stop();
    await redis.flush();
    const young = testNode(t, redis.url, 'young');
    await young.membership.start();
    await until(async () => Number(await redis.client.hget(state, 'servedMs')) > leaseMs, 'a lease is over');
    held.release();
    await agreed([young, sleeper]);
    assert.equal(sleeper.expelled, 1);
    assert.ok(young.views.every((view) => !incarnations(view).includes(old.incarnation)));
    assert.ok(sleeper.views.every((view, i) => i === 0 || view.number > sleeper.views[i - 1]!.number));
  },
);

async function all(nodes: TestNode[], wanted: string): Promise<void> {
  await until(() => nodes.every(({ membership }) => membership.state === wanted), `all are ${wanted}`);
}

/** Resolves when each has renewed for longer than a lease. */
async function renewedOften(nodes: TestNode[]): Promise<void> {
  const counts = () => nodes.map(({ membership, incarnation }) => membership.renewals(incarnation)?.count ?? 0);
  const from = counts();
  await until(() => counts().every((count, i) => count > from[i]! + (1.5 * leaseMs) / renewEveryMs), 'all renewed often');
}

function nothingHappened(nodes: TestNode[], viewNumber: number): void {
  for (const { membership, expelled } of nodes) {
    assert.equal(membership.view.number, viewNumber);
    assert.equal(expelled, 0);
  }
}

async function dump(redis: TestRedis): Promise<[string, Buffer][]> {
  const keys = await redis.client.keys('troupe:*');
  return Promise.all(keys.map(async (key): Promise<[string, Buffer]> => [key, (await redis.client.dumpBuffer(key))!]));
}

async function restore(redis: TestRedis, copy: [string, Buffer][]): Promise<void> {
  const all = redis.client.multi().flushall();
  for (const [key, value] of copy) all.restore(key, 0, value);
  await all.exec();
}
