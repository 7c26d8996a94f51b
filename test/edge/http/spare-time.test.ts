import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { RequestStats } from '../../../src/edge/http/request-stats.ts';
import { SpareTime } from '../../../src/edge/http/spare-time.ts';

const never = 60_000;

function world(pauseMs = never) {
  const requests = new RequestStats();
  const route = requests.route('GET', '/');
  const spareTime = new SpareTime(requests, pauseMs);
  const given: string[] = [];
  return {
    given,
    spareTime,
    ask: (account: string, pieces?: number) => spareTime.turn(account, pieces).then(() => void given.push(account)),
    begin: () => void requests.inFlight++,
    answer: () => route.answered(200, performance.now()),
    async rounds(count: number) {
      for (let i = 0; i < count; i++) await round();
    },
  };
}

test('T1: without a request in progress one turn runs in each round of the event loop', async () => {
  const { ask, given, rounds } = world();
  const asked = [ask('a'), ask('a'), ask('a')];
  assert.deepEqual(given, []);
  for (let turns = 0; turns < 3; ) {
    await round();
    assert.ok(given.length - turns <= 1, 'never two in a round');
    turns = given.length;
  }
  await Promise.all(asked);
  await rounds(1);
});

test('T2: no turn runs immediately while a request is in progress, nor shortly after its answer', async () => {
  const { ask, given, begin, answer, rounds } = world(60);
  begin();
  const first = ask('a');
  await rounds(20);
  assert.deepEqual(given, []);
  await first;
  answer();
  const second = ask('b');
  await rounds(20);
  assert.deepEqual(given, ['a']);
  await second;
});

test('T2: a request that arrives in the round of a turn runs before it', async () => {
  const { ask, given, begin, rounds } = world(60);
  const asked = ask('a');
  begin();
  await rounds(20);
  assert.deepEqual(given, []);
  await asked;
});

test('T2: while requests are always in progress a turn runs after each pause, not earlier', async () => {
  const pauseMs = 20;
  const { ask, begin } = world(pauseMs);
  begin();
  const beganMs = performance.now();
  for (let i = 0; i < 3; i++) await ask('a');
  assert.ok(performance.now() - beganMs >= 3 * (pauseMs - 1));
});

test('T2: after a turn of several pieces the pause is as many times as long', async () => {
  const pauseMs = 20;
  const { ask, begin } = world(pauseMs);
  begin();
  const beganMs = performance.now();
  await ask('a', 5);
  await ask('a');
  assert.ok(performance.now() - beganMs >= 6 * (pauseMs - 1));
});

test('T2: a request that only waits for a turn does not delay turns', async () => {
  const { ask, begin, spareTime } = world();
  begin();
  spareTime.waitingRequests++;
  await ask('a');
});

test('T3: accounts take turns, however many pieces one of them has', async () => {
  const { ask, given } = world();
  await Promise.all([ask('a'), ask('a'), ask('a'), ask('b'), ask('c')]);
  assert.deepEqual(given, ['a', 'b', 'c', 'a', 'a']);
});
