/** The waits between tries stay in their windows, and Retry-After is respected. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { retryAfterMs, retryPauseMs } from '../../../src/providers/model/retry.ts';

test('the window doubles up to 30 s and is used from its beginning', () => {
  const almostOne = () => 0.999999;
  assert.deepEqual(
    [1, 2, 3, 10, 2_000].map((tries) => retryPauseMs(tries, undefined, almostOne)),
    [500, 1_000, 2_000, 30_000, 30_000],
  );
  assert.equal(
    retryPauseMs(9, undefined, () => 0),
    0,
  );
});

test('Retry-After is the minimum wait, a minute the maximum', () => {
  assert.equal(
    retryPauseMs(1, 7_000, () => 0),
    7_000,
  );
  assert.equal(
    retryPauseMs(5, 9_999_999, () => 0.999999),
    60_500,
  );
});

test('Retry-After is read as seconds, as a date and in milliseconds, and invalid values are ignored', () => {
  const nowMs = Date.parse('2026-11-20T09:30:00Z');
  const read = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), nowMs);
  assert.equal(read({ 'retry-after': '2.5' }), 2_500);
  assert.equal(read({ 'retry-after': 'Fri, 20 Nov 2026 09:30:20 GMT' }), 20_000);
  assert.equal(read({ 'retry-after': 'Fri, 20 Nov 2020 09:30:20 GMT' }), 0);
  assert.equal(read({ 'retry-after-ms': '1500', 'retry-after': '60' }), 1_500);
  for (const value of ['', 'soon', '-5x', '99999999999999']) assert.equal(read({ 'retry-after': value }), undefined, value);
});
