import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { identityDatabase } from '../support/identity-node.ts';

const of = { accountId: 'acct_1', key: 'k' };

async function twoProcesses(t: TestContext) {
  const { database, clock } = await identityDatabase(t);
  return { database, clock, one: new IdempotencyKeys(database, clock), two: new IdempotencyKeys(database, clock) };
}

test('of many that reserve one key at once, one gets it', async (t) => {
  const { database, clock } = await twoProcesses(t);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => new IdempotencyKeys(database, clock).reserve(of, 'print')));
  assert.equal(outcomes.filter(({ kind }) => kind === 'mine').length, 1);
  assert.equal(outcomes.filter(({ kind }) => kind === 'running').length, 11);
});

test('of many that take over from a dead process at once, one does, with the ids of the first', async (t) => {
  const { database, clock, one } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  clock.advance(14_999);
  assert.equal((await new IdempotencyKeys(database, clock).reserve(of, 'print')).kind, 'running');
  clock.advance(1);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => new IdempotencyKeys(database, clock).reserve(of, 'print')));
  const taken = outcomes.filter(({ kind }) => kind === 'mine');
  assert.deepEqual(taken, [first]);
});

test('what a process left is its own again at once, since it alone knows that it does not run', async (t) => {
  const { one } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  assert.deepEqual(await one.reserve(of, 'print'), first);
});

test('a key can be freed neither by the process that lost it nor after it was answered', async (t) => {
  const { clock, one, two } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  assert.ok(first.kind === 'mine');
  clock.advance(15_000);
  await two.reserve(of, 'print');
  await one.free(of, first.commandId);
  assert.deepEqual(await two.reserve(of, 'print'), first);
  await two.keep(of, first.commandId, 201, 'answer');
  await two.free(of, first.commandId);
  assert.deepEqual(await one.reserve(of, 'print'), { kind: 'answered', status: 201, response: 'answer' });
});

test('expired keys are deleted in chunks, others stay', async (t) => {
  const { database, clock, one } = await twoProcesses(t);
  for (let i = 0; i < 25; i++) await one.reserve({ accountId: 'acct_1', key: `old ${i}` }, 'print');
  clock.advance(24 * 3_600_000 - 1);
  await one.reserve(of, 'print');
  assert.equal(await one.deleteExpired(10), 0);
  clock.advance(1);
  assert.equal(await one.deleteExpired(10, 2), 20, 'at most two chunks');
  assert.equal(await one.deleteExpired(10), 5);
  assert.equal((await database.read({ text: 'select key from idempotency_key' })).rows[0].key, 'k');
});
