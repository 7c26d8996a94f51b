import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBudget } from '../../../src/edge/http/body-budget.ts';

test('bodies in hand together have a bound; what is answered makes room, also where a body was refused half-way', () => {
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
