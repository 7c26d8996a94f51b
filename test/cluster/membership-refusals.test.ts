import assert from 'node:assert/strict';
import test from 'node:test';
import { testRedis, withoutRedis } from '../support/redis.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { agreed, joinedNodes, testNode } from './membership-nodes.ts';

const options = { skip: withoutRedis };

test('M7 a node with another SECRET_KEY is refused, with the digests shortened', options, async (t) => {
  const redis = await testRedis(t);
  await joinedNodes(t, redis.url, ['a']);
  const joiner = testNode(t, redis.url, 'b', { shared: { secretKeyDigest: 'b'.repeat(64) } });
  await assert.rejects(joiner.membership.start(), {
    code: 'conflict',
    message:
      'SECRET_KEY of this node (digest bbbbbbbb) is not the one of the running nodes (digest aaaaaaaa): give all nodes of a cluster the same key',
  });
  assert.equal(joiner.membership.state, 'stopped');
});

test('M7 a node with another number of shards is refused', options, async (t) => {
  const redis = await testRedis(t);
  await joinedNodes(t, redis.url, ['a']);
  const joiner = testNode(t, redis.url, 'b', { shared: { shardCount: 512 } });
  await assert.rejects(joiner.membership.start(), { code: 'conflict', message: /into 512 shards, but the running nodes into 1024/ });
});

test('M7 a node whose address the others could not reach is refused', options, async (t) => {
  const redis = await testRedis(t);
  await joinedNodes(t, redis.url, ['a']);
  const joiner = testNode(t, redis.url, 'b', { shared: { network: 'loopback of b' } });
  await assert.rejects(joiner.membership.start(), {
    code: 'conflict',
    message: /^This node announces 127\.0\.0\.1:4000 \(loopback of b\), but .* \(any\): set CLUSTER_HOST/,
  });
});

test('M7 a node that shares no version of the protocol with one of the members is refused', options, async (t) => {
  const redis = await testRedis(t);
  const old = testNode(t, redis.url, 'old', { shared: { protocol: { lowest: 1, highest: 1 } } });
  await old.membership.start();
  const middle = testNode(t, redis.url, 'middle', { shared: { protocol: { lowest: 1, highest: 2 } } });
  await middle.membership.start();
  const young = testNode(t, redis.url, 'young', { shared: { protocol: { lowest: 2, highest: 3 } } });
  await assert.rejects(young.membership.start(), {
    code: 'conflict',
    message: /^This node speaks versions 2 to 3 of .* but the running node old speaks version 1: upgrade/,
  });
  await old.membership.leave();
  const next = testNode(t, redis.url, 'next', { shared: { protocol: { lowest: 2, highest: 3 } } });
  await next.membership.start();
  await agreed([middle, next]);
});

test('settings of earlier nodes that have all left have no effect', options, async (t) => {
  const redis = await testRedis(t);
  const [a] = await joinedNodes(t, redis.url, ['a']);
  await a!.membership.leave();
  const other = testNode(t, redis.url, 'b', { shared: { secretKeyDigest: 'b'.repeat(64) } });
  await other.membership.start();
  await agreed([other]);
});

test('settings of a node that ended before it was a member have no effect after a lease', options, async (t) => {
  const redis = await testRedis(t);
  const given = testNode(t, redis.url, 'a');
  const start = given.membership.start();
  await until(async () => (await redis.client.exists('troupe:{test}:waiting')) === 1, 'it waits');
  await given.membership.stop();
  await assert.rejects(start);
  await until(async () => (await redis.client.exists('troupe:{test}:waiting')) === 0, 'nobody waits');
  const other = testNode(t, redis.url, 'b', { shared: { secretKeyDigest: 'b'.repeat(64) } });
  await other.membership.start();
});

test('a second node with the name of a live node is refused', options, async (t) => {
  const redis = await testRedis(t);
  const [a] = await joinedNodes(t, redis.url, ['a']);
  const namesake = testNode(t, redis.url, 'a', { port: 4_001 });
  await assert.rejects(namesake.membership.start(), {
    code: 'conflict',
    message: 'NODE_NAME a is in use by a running node at 127.0.0.1:4000: give each node of a cluster a name of its own',
  });
  assert.equal(a!.membership.state, 'member');
  assert.equal(a!.expelled, 0);
});

for (const [where, port] of [
  ['at the same address', 4_000],
  ['elsewhere', 4_001],
] as const) {
  test(`a killed node is replaced by a node with its name ${where}`, options, async (t) => {
    const redis = await testRedis(t);
    const [a, killed] = await joinedNodes(t, redis.url, ['a', 'b']);
    await killed!.membership.stop();
    const next = testNode(t, redis.url, 'b', { port });
    await next.membership.start();
    await agreed([a!, next]);
  });
}

test('a node that leaves does not block the next node with its name', options, async (t) => {
  const redis = await testRedis(t);
  const [a] = await joinedNodes(t, redis.url, ['a']);
  await a!.membership.leaving();
  const next = testNode(t, redis.url, 'a', { port: 4_001 });
  await next.membership.start();
  await agreed([a!, next]);
});

test('an expelled node rejoins although the first answer to it was lost', options, async (t) => {
  const redis = await testRedis(t);
  const link = await TcpProxy.before(redis.url);
  t.after(() => link.close());
  const [a] = await joinedNodes(t, redis.url, ['a']);
  const b = testNode(t, link.url, 'b');
  const held = link.hold(/./, 'to client');
  const start = b.membership.start();
  await held.arrived;
  // Answers to its requests so far are lost.
  held.drop();
  link.cut(/./);
  await start;
  await agreed([a!, b]);
});
