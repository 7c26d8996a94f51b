import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyTurns } from '../../../src/edge/http/body-turns.ts';

const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a round parses bodies up to its bytes; each larger body has a round of its own', async () => {
  const turns = new BodyTurns(10_000);
  const order: string[] = [];
  const enter = (name: string, bytes: number) => turns.enter('ann', bytes)?.then(() => void order.push(name)) ?? order.push(name);
  enter('first', 6_000);
  enter('large', 50_000);
  enter('as large', 50_000);
  enter('last', 4_000);
  enter('small', 100);
  assert.deepEqual(order, ['first', 'small'], 'a small body never waits');
  await nextRound();
  assert.deepEqual(order.slice(2), ['large']);
  await nextRound();
  assert.deepEqual(order.slice(3), ['as large']);
  await nextRound();
  assert.deepEqual(order.slice(4), ['last']);
  await nextRound();
  assert.equal(turns.enter('ann', 9_000), null, 'nothing waits any more');
});

test('accounts take turns', async () => {
  const turns = new BodyTurns(10_000);
  const order: string[] = [];
  for (const account of ['ann', 'ann', 'ann', 'ann', 'bob']) void turns.enter(account, 20_000)?.then(() => void order.push(account));
  while (order.length < 5) await nextRound();
  assert.deepEqual(order, ['ann', 'bob', 'ann', 'ann', 'ann']);
});
