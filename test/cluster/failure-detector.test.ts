/** Which observations prove that a process is dead (D1), and which incarnations are gone (K1, K2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { FailureDetector } from '../../src/cluster/failure-detector.ts';
import { IncarnationLiveness } from '../../src/cluster/incarnation-liveness.ts';
import type { DownReason } from '../../src/cluster/peers.ts';
import { noLog } from '../../src/log.ts';

test('a broken stream and an address that refuses, or belongs to another node, start a check of lease renewals', async () => {
  for (const reason of ['refused', 'other'] as const) {
    const { watch, asked, dead } = watching();
    watch.down('x', 'broken');
    watch.down('x', reason);
    await ticks();
    assert.deepEqual(asked, [['x', 7]], 'with the count that was read after the refusal');
    assert.deepEqual(dead, ['x']);
  }
});

test('fewer observations start no check', async () => {
  const cases: DownReason[][] = [['refused', 'refused'], ['broken'], ['broken', 'silent'], ['broken', 'rejected'], ['silent', 'refused']];
  for (const reasons of cases) {
    const { watch, asked } = watching();
    for (const reason of reasons) watch.down('x', reason);
    await ticks();
    assert.deepEqual(asked, [], reasons.join());
  }
});

test('a reopened stream ends the suspicion', async () => {
  const { watch, asked } = watching();
  watch.down('x', 'broken');
  watch.up('x');
  watch.down('x', 'refused');
  await ticks();
  assert.deepEqual(asked, []);
});

test('D1 a node that renews its lease is live; the next refusal starts another check', async () => {
  const { watch, asked, dead, answers } = watching();
  answers.push(false, false, true);
  watch.down('x', 'broken');
  for (let refusal = 0; refusal < 3; refusal++) {
    watch.down('x', 'refused');
    watch.down('x', 'refused');
    await ticks();
  }
  assert.equal(asked.length, 3);
  assert.deepEqual(dead, ['x']);
});

test('K1 before the first view no incarnation is gone; K2 an unlisted incarnation is gone when a newer view does not list it either', async () => {
  const { known, declaredDead, refreshed } = nodes();
  assert.equal(known.isAlive('x'), true);
  known.applyView({ number: 1, members: [member('self')] }, nobody);
  assert.equal(known.isAlive('x'), true, 'it may be in a newer view');
  await refreshed();
  assert.equal(known.isAlive('x'), false);
  assert.deepEqual(declaredDead, ['x']);
  assert.equal(known.isAlive('self'), true);
});

test('an incarnation that left the view is gone when it owns no shard, and back when it joins again', () => {
  const { known, declaredDead, shards } = nodes();
  shards.set('x', 3);
  known.applyView({ number: 1, members: [member('self'), member('x')] }, nobody);
  assert.deepEqual(known.applyView({ number: 2, members: [member('self')] }, nobody), ['x']);
  assert.equal(known.isAlive('x'), true, 'it still owns something');
  shards.delete('x');
  known.announce();
  known.announce();
  assert.deepEqual(declaredDead, ['x']);
  assert.equal(known.isAlive('x'), false);
  known.applyView({ number: 3, members: [member('self'), member('x')] }, nobody);
  assert.equal(known.isAlive('x'), true);
});

test('an isolated member is gone while it owns no shard, and back when it is no longer isolated', () => {
  const { known, declaredDead, shards } = nodes();
  const view = { number: 1, members: [member('self'), member('x')] };
  shards.set('x', 1);
  known.applyView(view, new Set(['self', 'x']));
  assert.equal(known.isAlive('x'), true, 'it still owns something');
  shards.delete('x');
  known.announce();
  known.applyView({ ...view, number: 2 }, new Set(['self', 'x']));
  assert.deepEqual(declaredDead, ['x'], 'nobody is gone for itself');
  assert.equal(known.isAlive('x'), false);
  shards.set('x', 1);
  known.announce();
  assert.equal(known.isAlive('x'), true, 'it has taken back what nobody took');
  shards.delete('x');
  known.announce();
  assert.deepEqual(declaredDead, ['x', 'x'], 'what it has begun since');
  known.applyView({ ...view, number: 3 }, nobody);
  assert.equal(known.isAlive('x'), true);
});

test('K2 without an answer no incarnation is gone, and the next query tries again', async () => {
  const { known, declaredDead, refreshed, fail } = nodes();
  known.applyView({ number: 1, members: [member('self')] }, nobody);
  fail(true);
  known.isAlive('x');
  await refreshed();
  assert.equal(known.isAlive('x'), true);
  assert.deepEqual(declaredDead, []);
  await refreshed();
  fail(false);
  known.isAlive('x');
  await refreshed();
  assert.deepEqual(declaredDead, ['x']);
});

const nobody: ReadonlySet<string> = new Set();

function watching() {
  const asked: [string, number][] = [];
  const dead: string[] = [];
  const answers: boolean[] = [];
  let count = 6;
  const watch = new FailureDetector({
    membership: {
      renewals: () => ({ count }),
      refresh: async () => void (count = 7),
      expel: async (incarnation, seen) => {
        asked.push([incarnation, seen]);
        return answers.shift() ?? true;
      },
    },
    onDead: (incarnation) => dead.push(incarnation),
    log: noLog,
  });
  return { watch, asked, dead, answers };
}

function nodes() {
  const declaredDead: string[] = [];
  const shards = new Map<string, number>();
  let failing = false;
  const known = new IncarnationLiveness({
    self: 'self',
    shardsOf: (incarnation) => shards.get(incarnation) ?? 0,
    refresh: async () => {
      if (failing) throw new Error('nobody answers');
    },
    onEnded: (incarnation) => declaredDead.push(incarnation),
  });
  return { known, declaredDead, shards, refreshed: ticks, fail: (how: boolean) => void (failing = how) };
}

function member(incarnation: string) {
  return { incarnation, name: incarnation, host: '127.0.0.1', port: 1, roles: ['actors' as const], leaving: false };
}

async function ticks(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
