/** When rounds of queries may begin. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RoundPace } from '../../../../../src/domains/trading/brokers/connection/round-pace.ts';

/** The times at which rounds begin that are requested all the time. */
function begun(pace: RoundPace, fromMs: number, rounds: number): number[] {
  let nowMs = fromMs;
  return Array.from({ length: rounds }, () => {
    nowMs += pace.pauseMs(nowMs);
    pace.began(nowMs);
    return nowMs;
  });
}

test('a few rounds begin at once, further ones after a pause each; a rest restores the few', () => {
  const pace = new RoundPace(400);
  assert.deepEqual(begun(pace, 0, 8), [0, 0, 0, 0, 0, 400, 800, 1_200]);
  assert.deepEqual(begun(pace, 20_000, 6), [20_000, 20_000, 20_000, 20_000, 20_000, 20_400]);
});

test('rounds that begin at regular polls leave signals their rounds at once', () => {
  const pace = new RoundPace(400);
  begun(pace, 0, 8);
  for (let nowMs = 2_000; nowMs < 30_000; nowMs += 800) {
    assert.equal(pace.pauseMs(nowMs), 0);
    pace.began(nowMs);
  }
  assert.deepEqual(begun(pace, 30_000, 4), [30_000, 30_000, 30_000, 30_000]);
});

test('a pause that the broker demands is kept, up to a minute, and a shorter demand does not end it', () => {
  const pace = new RoundPace(400);
  pace.wait(9_000, 1_000);
  pace.wait(2_000, 1_500);
  assert.equal(pace.pauseMs(4_000), 6_000);
  assert.equal(pace.pauseMs(10_000), 0);
  for (const waitMs of [86_400_000, Number.POSITIVE_INFINITY]) {
    pace.wait(waitMs, 20_000);
    assert.equal(pace.pauseMs(20_000), 60_000);
  }
});
