import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database } from '../../src/storage/database.ts';
import { Gate } from '../../src/storage/gate.ts';
import { testDatabase } from '../support/database.ts';

test('a gate lets so many in, in order; past its bounds of number and of time whoever comes is turned away', async () => {
  const gate = new Gate({ maxInside: 1, maxWaiting: 2, maxWaitMs: 20, full: 'Too many' });
  const first = Promise.withResolvers<string>();
  const inside = gate.pass(() => first.promise);
  const begun: string[] = [];
  const waiting = ['a', 'b'].map((name) => gate.pass(async () => begun.push(name)));
  await assert.rejects(
    gate.pass(async () => begun.push('c')),
    { code: 'overloaded', message: 'Too many', retryAfterS: 2 },
  );
  // Nobody comes out: those in line are told so when their time is up.
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'overloaded');
  assert.equal(begun.length, 0);
  const next = ['d', 'e'].map((name) => gate.pass(async () => begun.push(name)));
  first.resolve('done');
  assert.equal(await inside, 'done');
  await Promise.all(next);
  assert.deepEqual(begun, ['d', 'e']);
});

test('a long line takes up a burst; where no place has been free for longer than that, as many wait as are inside', async () => {
  let nowMs = 0;
  const gate = new Gate({ maxInside: 2, maxWaiting: 10, burstMs: 100, full: 'Too many', now: () => nowMs });
  const works: PromiseWithResolvers<void>[] = [];
  const outcomes: Promise<PromiseSettledResult<void>>[] = [];
  const come = (count: number) => {
    for (let i = 0; i < count; i++) {
      const pass = gate.pass(() => works[works.push(Promise.withResolvers<void>()) - 1]!.promise);
      outcomes.push(Promise.allSettled([pass]).then(([outcome]) => outcome!));
    }
  };
  const turnedAway = async (from: number) => {
    const settled = await Promise.all(outcomes.slice(from).map((outcome) => Promise.race([outcome, null])));
    return settled.filter((outcome) => outcome?.status === 'rejected').length;
  };
  const finish = async (count: number) => {
    for (let i = 0; i < count; i++) {
      works.shift()!.resolve();
      await new Promise(setImmediate);
    }
  };
  nowMs = 1_000;
  come(13);
  await new Promise(setImmediate);
  assert.equal(await turnedAway(0), 1, 'two are inside, ten wait');
  nowMs = 1_101;
  await finish(8);
  come(3);
  await new Promise(setImmediate);
  assert.equal(await turnedAway(13), 3, 'two wait, and the line stands');
  await finish(2);
  come(3);
  await new Promise(setImmediate);
  assert.equal(await turnedAway(16), 1, 'the line is empty: two may wait');
  await finish(4);
  nowMs = 2_000;
  come(12);
  await new Promise(setImmediate);
  assert.equal(await turnedAway(19), 0, 'a place had been free: it is a burst again');
  await finish(12);
  assert.equal((await Promise.all(outcomes)).filter(({ status }) => status === 'fulfilled').length, 12 + 2 + 12);
});

test('reads that wait for a connection have a bound: those beyond are told overloaded, the others are answered', async (t) => {
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
