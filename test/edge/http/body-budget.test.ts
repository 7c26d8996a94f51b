import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBudget } from '../../../src/edge/http/body-budget.ts';

test('the bodies in memory have a common limit; an answer frees its part, also if a body was refused while it was read', () => {
  const budget = new BodyBudget(100);
  const [first, second, third] = [budget.open(), budget.open(), budget.open()];
  first.add(60);
  second.add(30);
  assert.throws(() => second.add(11), { code: 'overloaded', retryAfterS: 1 });
  third.add(10);
  assert.throws(() => third.add(1), { code: 'overloaded' });
  second.release();
  second.release();
  third.add(30);
  assert.throws(() => third.add(1), { code: 'overloaded' });
  first.release();
  third.add(60);
});

test('a part of the limit counts in the whole, and the rest is left for others', () => {
  const whole = new BodyBudget(100);
  const share = whole.share(30);
  const [unauthenticated, known] = [share.open(), whole.open()];
  unauthenticated.add(30);
  assert.throws(() => share.open().add(1), { code: 'overloaded' });
  known.add(70);
  assert.throws(() => whole.open().add(1), { code: 'overloaded' });
  unauthenticated.release();
  known.add(20);
  assert.throws(() => unauthenticated.add(20), { code: 'overloaded' });
  unauthenticated.add(10);
});
