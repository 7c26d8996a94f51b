import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { identityDatabase } from '../support/identity-node.ts';

const of = { accountId: 'acct_1', key: 'k' };

async function twoProcesses(t: TestContext) {
  const { database, clock } = await identityDatabase(t);
  return { database, clock, one: new IdempotencyKeys(database, clock), two: new IdempotencyKeys(database, clock) };
}

test('of many concurrent reservations of one key one succeeds', async (t) => {
  const { database, clock } = await twoProcesses(t);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => new IdempotencyKeys(database, clock).reserve(of, 'print')));
  assert.equal(outcomes.filter(({ kind }) => kind === 'mine').length, 1);
  assert.equal(outcomes.filter(({ kind }) => kind === 'running').length, 11);
});

test('of many concurrent takeovers from a dead process one succeeds, with the ids of the first reservation', async (t) => {
  const { database, clock, one } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  clock.advance(14_999);
  assert.equal((await new IdempotencyKeys(database, clock).reserve(of, 'print')).kind, 'running');
  clock.advance(1);
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => new IdempotencyKeys(database, clock).reserve(of, 'print')));
  const taken = outcomes.filter(({ kind }) => kind === 'mine');
  assert.deepEqual(taken, [{ ...first, isRepeat: true }]);
});

test('a key reserved by a killed node is taken over at once by one process, with the ids of the first reservation', async (t) => {
  const { database, clock } = await twoProcesses(t);
  const living = new Set(['node-1/a', 'node-2/a', 'node-3/a']);
  const node = (incarnation: string) => new IdempotencyKeys(database, clock, { incarnation, isAlive: (other) => living.has(other) });
  const holder = fork(fileURLToPath(new URL('./key-holder.ts', import.meta.url)), [database.url, 'node-1/a'], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  t.after(() => holder.kill('SIGKILL'));
  const [first] = await once(holder, 'message');
  const [two, three] = [node('node-2/a'), node('node-3/a')];
  assert.equal((await two.reserve(of, 'print')).kind, 'running');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  living.delete('node-1/a');
  const outcomes = await Promise.all([
    two.reserve(of, 'print'),
    three.reserve(of, 'print'),
    three.reserve({ ...of, key: 'other' }, 'print'),
  ]);
  assert.deepEqual(
    outcomes.slice(0, 2).filter(({ kind }) => kind === 'mine'),
    [{ ...first, isRepeat: true }],
  );
  assert.deepEqual(
    outcomes
      .slice(0, 2)
      .map(({ kind }) => kind)
      .sort(),
    ['mine', 'running'],
  );
  assert.equal((await two.reserve(of, 'another print')).kind, 'other');
});

test('a live node that was considered dead can neither release the lost key nor change its answer', async (t) => {
  const { database, clock } = await twoProcesses(t);
  const frozen = new IdempotencyKeys(database, clock, { incarnation: 'node-1/a', isAlive: () => true });
  const next = new IdempotencyKeys(database, clock, { incarnation: 'node-2/a', isAlive: (other) => other !== 'node-1/a' });
  const first = await frozen.reserve(of, 'print');
  assert.ok(first.kind === 'mine');
  assert.deepEqual(await next.reserve(of, 'print'), { ...first, isRepeat: true });
  await frozen.free(of, first.commandId);
  assert.equal((await frozen.reserve(of, 'print')).kind, 'running');
  await next.keep(of, first.commandId, 201, 'answer');
  await frozen.keep(of, first.commandId, 500, 'late');
  assert.deepEqual(await next.reserve(of, 'print'), { kind: 'answered', status: 201, response: 'answer', contents: null });
});

test('a key that was answered during an upload is bound to other contents only if these differ', async (t) => {
  const { clock, one, two } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  assert.ok(first.kind === 'mine');
  assert.equal(await one.bind(of, first.commandId, 'hash'), 'bound');
  clock.advance(15_000);
  await two.reserve(of, 'print');
  await one.keep(of, first.commandId, 201, 'answer');
  assert.equal(await two.bind(of, first.commandId, 'hash'), 'ended');
  assert.equal(await two.bind(of, first.commandId, 'other'), 'other');
});

test('a process gets its own abandoned key again at once', async (t) => {
  const { one } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  assert.deepEqual(await one.reserve(of, 'print'), { ...first, isRepeat: true });
});

test('a key can be released neither by the process that lost it nor after its answer was stored', async (t) => {
  const { clock, one, two } = await twoProcesses(t);
  const first = await one.reserve(of, 'print');
  assert.ok(first.kind === 'mine');
  clock.advance(15_000);
  await two.reserve(of, 'print');
  await one.free(of, first.commandId);
  assert.deepEqual(await two.reserve(of, 'print'), { ...first, isRepeat: true });
  await two.keep(of, first.commandId, 201, 'answer');
  await two.free(of, first.commandId);
  assert.deepEqual(await one.reserve(of, 'print'), { kind: 'answered', status: 201, response: 'answer', contents: null });
});
