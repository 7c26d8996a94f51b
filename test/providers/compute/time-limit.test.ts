import assert from 'node:assert/strict';
import test from 'node:test';
import { timeLimit } from '../../../src/providers/compute/time-limit.ts';

test('a process whose processor time could not be read at first is not charged for what it used before', () => {
  const readings = [null, 50_000, 50_900, 51_000];
  const next = timeLimit({ timeMs: 1_000, wallMs: 60_000 }, () => readings.shift()!);
  assert.equal(next(), 1_000);
  assert.equal(next(), 100);
  assert.equal(next(), 'time');
});

test('a reading that fails later is not taken for use', () => {
  const readings = [50_000, null, 50_400];
  const next = timeLimit({ timeMs: 1_000, wallMs: 60_000 }, () => readings.shift()!);
  assert.equal(next(), 1_000);
  assert.equal(next(), 600);
});

test('the wall clock is the limit of a process that computes little, and of every process without readings', () => {
  assert.equal(timeLimit({ timeMs: 1_000, wallMs: 0 }, () => 0)(), 'wall');
  assert.equal(timeLimit({ timeMs: 1_000, wallMs: 0 }, () => null)(), 'time');
});
