import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database } from '../../src/storage/database.ts';
import { Gate } from '../../src/storage/gate.ts';
import { testDatabase } from '../support/database.ts';

test('a gate admits a fixed number in order; beyond its limits of number and time requests are refused', async () => {
  const gate = new Gate({ maxInside: 1, maxWaiting: 2, maxWaitMs: 20, full: 'Too many' });
  const first = Promise.withResolvers<string>();
  const inside = gate.pass(() => first.promise);
  const begun: string[] = [];
  const waiting = ['a', 'b'].map((name) => gate.pass(async () => begun.push(name)));
  await assert.rejects(
    gate.pass(async () => begun.push('c')),
    { code: 'overloaded', message: 'Too many', retryAfterS: 2 },
  );
  // No slot is freed: waiting requests fail at their time limit.
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'overloaded');
  assert.equal(begun.length, 0);
  const next = ['d', 'e'].map((name) => gate.pass(async () => begun.push(name)));
  first.resolve('done');
  assert.equal(await inside, 'done');
  await Promise.all(next);
  assert.deepEqual(begun, ['d', 'e']);
});

test('waiting reads are limited: those beyond the limit fail as overloaded, the others are answered', async (t) => {
  const kept = await testDatabase();
  const database = new Database(kept.url, { poolSize: 1 });
  t.after(async () => {
    await database.close();
    await kept.close();
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 1_200 }, () => database.read({ text: 'select 1' })));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.ok(refused.length >= 190 && refused.length <= 200, `${refused.length} refused`);
  for (const { reason } of refused) assert.deepEqual([reason.code, reason.retryAfterS], ['overloaded', 1]);
  assert.equal((await database.read({ text: 'select 1 as one' })).rows[0].one, 1);
});
