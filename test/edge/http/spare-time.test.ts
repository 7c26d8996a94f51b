import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { RequestStats } from '../../../src/edge/http/request-stats.ts';
import { SpareTime } from '../../../src/edge/http/spare-time.ts';

const never = 60_000;

function world(pauseMs = never) {
  const requests = new RequestStats();
  const spareTime = new SpareTime(requests, pauseMs);
  const given: string[] = [];
  const asking = (pieces = 1) => {
    const lane = spareTime.lane(pieces);
    return (account: string, options?: { isUrgent: boolean }) => lane.turn(account, options).then(() => void given.push(account));
  };
  return {
    given,
    spareTime,
    asking,
    ask: asking(),
    begin: () => void requests.inFlight++,
    /** Of a request that is in progress; with `inMs`, of another one. */
    answer(inMs = 0) {
      if (inMs > 0) requests.inFlight++;
      requests.answered(performance.now() + inMs);
    },
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

test('T2: no turn runs immediately while a request is in progress, nor shortly after the last of many answers', async () => {
  const { ask, given, begin, answer, rounds } = world(1_000);
  begin();
  const first = ask('a');
  await rounds(20);
  assert.deepEqual(given, []);
  await first;
  answer();
  // In the future, so that on a slow machine none of them is long ago.
  for (let n = 0; n < 5; n++) answer(never);
  const second = ask('b');
  await rounds(20);
  assert.deepEqual(given, ['a']);
  await second;
});

test('T2: a pause ends when the only request is answered', async () => {
  const { ask, given, begin, answer, rounds } = world();
  begin();
  const asked = ask('a');
  await rounds(20);
  assert.deepEqual(given, []);
  answer();
  await asked;
});

test('T2: a request that arrives in the round of a turn runs before it', async () => {
  const { ask, given, begin, rounds } = world(1_000);
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
  const { asking, begin } = world(pauseMs);
  const ask = asking(5);
  begin();
  const beganMs = performance.now();
  await ask('a');
  await ask('a');
  assert.ok(performance.now() - beganMs >= 6 * (pauseMs - 1));
});

test('T2: a request that only waits for a turn does not delay turns', async () => {
  const { ask, begin, spareTime } = world();
  begin();
  spareTime.waitingRequests++;
  await ask('a');
});

test('T3: accounts take turns, however much one of them has', async () => {
  const { ask, given } = world();
  await Promise.all([ask('a'), ask('a'), ask('a'), ask('b'), ask('c')]);
  assert.deepEqual(given, ['a', 'b', 'c', 'a', 'a']);
});

test('T4: of two lanes that never empty each gets equal parts of the time', async () => {
  const { asking, begin, given } = world(1);
  const [long, short] = [asking(15), asking()];
  begin();
  const all = [...Array.from({ length: 3 }, () => long('long')), ...Array.from({ length: 40 }, (_, n) => short(`account ${n}`))];
  await Promise.all(all);
  const longs = given.flatMap((account, at) => (account === 'long' ? [at] : []));
  assert.deepEqual(longs, [0, 16, 32]);
});

test('T4: a lane that was empty gets no more than its part afterwards', async () => {
  const { asking, begin, given } = world(1);
  const [first, second] = [asking(), asking()];
  begin();
  for (let n = 0; n < 20; n++) await first('first');
  await Promise.all([...Array.from({ length: 4 }, () => first('first')), ...Array.from({ length: 4 }, () => second('second'))]);
  const longestRun = Math.max(
    ...(
      given
        .slice(20)
        .join(' ')
        .match(/second( second)*/g) ?? []
    ).map((run) => run.split(' ').length),
  );
  assert.ok(longestRun <= 2, given.slice(20).join(' '));
});

test('T5: urgent turns run while requests are in progress and other turns wait, one in each round', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { ask, begin, given } = world();
  begin();
  void ask('waits');
  const asked = [ask('a', { isUrgent: true }), ask('a', { isUrgent: true }), ask('b', { isUrgent: true })];
  for (let turns = 0; turns < 3; ) {
    await round();
    assert.ok(given.length - turns <= 1, 'never two in a round');
    turns = given.length;
  }
  await Promise.all(asked);
  assert.deepEqual(given, ['a', 'b', 'a']);
});
