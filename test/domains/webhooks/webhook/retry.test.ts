import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTryMs, retryForMs } from '../../../../src/domains/webhooks/webhook/retry.ts';

test('a failed delivery is tried again after 5 s, 30 s, 2 min, 10 min, then hourly, the last time after 24 hours', () => {
  const triesMs: number[] = [];
  for (let atMs: number | null = 0, failures = 1; atMs !== null; failures++) {
    atMs = nextTryMs(failures, 0, atMs);
    if (atMs !== null) triesMs.push(atMs);
  }
  const delaysS = triesMs.map((atMs, i) => (atMs - (triesMs[i - 1] ?? 0)) / 1_000);
  assert.deepEqual(delaysS.slice(0, 6), [5, 30, 120, 600, 3_600, 3_600]);
  assert.ok(delaysS.slice(4, -1).every((delayS) => delayS === 3_600));
  assert.equal(triesMs.at(-1), retryForMs);
});

test('Retry-After of a receiver is respected, for at most an hour and never past the last try', () => {
  assert.equal(nextTryMs(1, 0, 0, 60_000), 60_000);
  assert.equal(nextTryMs(4, 0, 0, 1_000), 600_000);
  assert.equal(nextTryMs(1, 0, 0, 10 * 3_600_000), 3_600_000);
  assert.equal(nextTryMs(20, 0, retryForMs - 1, 3_600_000), retryForMs);
});

test('a delivery that failed twice in three days, because this service did not run, is tried again by the schedule', () => {
  const threeDaysMs = 3 * retryForMs;
  assert.equal(nextTryMs(2, 0, threeDaysMs), threeDaysMs + 30_000);
  assert.equal(nextTryMs(2, 0, threeDaysMs, 60_000), threeDaysMs + 60_000);
  let tries = 0;
  for (let atMs: number | null = threeDaysMs; atMs !== null; tries++) atMs = nextTryMs(2 + tries, 0, atMs);
  assert.ok(tries > 5 && tries < 30, `${tries} tries`);
});
