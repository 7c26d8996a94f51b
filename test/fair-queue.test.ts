import assert from 'node:assert/strict';
import test from 'node:test';
import { FairGate } from '../src/fair-queue.ts';

const full = { code: 'overloaded', message: 'Too many', retryAfterS: 2 };

test('a waiting account gets the next free slot, although many requests of another account came before', async () => {
  const gate = new FairGate({ maxRunning: 2, maxRunningEach: 1, full: 'Too many' });
  const order: string[] = [];
  const passes: Promise<void>[] = [];
  const pass = (account: string, name: string) =>
    passes.push(
      gate.pass(account, async () => {
        order.push(name);
        await new Promise((resolve) => setImmediate(resolve));
      }),
    );
  for (let i = 0; i < 5; i++) pass('busy', `busy ${i}`);
  pass('quiet', 'quiet 0');
  await Promise.all(passes);
  assert.equal(order.indexOf('quiet 0'), 1, 'at once, in the place that one account cannot have');
  assert.deepEqual(
    order.filter((name) => name.startsWith('busy')),
    ['busy 0', 'busy 1', 'busy 2', 'busy 3', 'busy 4'],
  );
  assert.deepEqual(gate.size, { running: 0, waiting: 0 });
});

test('a request that waits too long, finds the queue full or is aborted is refused, and leaves no slot taken', async () => {
  const gate = new FairGate({ maxRunning: 1, maxWaiting: 2, maxWaitMs: 20, full: 'Too many' });
  const leave = await gate.enter('a');
  const aborted = new AbortController();
  const waiting = [gate.enter('a'), gate.enter('a', aborted.signal)];
  const outcomes = Promise.allSettled(waiting);
  await assert.rejects(gate.enter('a'), full);
  aborted.abort(new Error('no longer wanted'));
  const [late, gone] = await outcomes;
  assert.equal(late?.status === 'rejected' && late.reason.code, 'overloaded');
  assert.equal(gone?.status === 'rejected' && gone.reason.message, 'no longer wanted');
  await assert.rejects(gate.enter('a', aborted.signal), /no longer wanted/);
  assert.equal(gate.rejected, 2);
  const next = gate.enter('b');
  leave();
  leave();
  (await next)();
  assert.deepEqual(gate.size, { running: 0, waiting: 0 });
});

test('if the queue is full, the account with the most waiting requests loses one for another account', async () => {
  const gate = new FairGate({ maxRunning: 1, maxWaiting: 3, full: 'Too many' });
  const leave = await gate.enter('busy');
  const busy = [1, 2, 3].map(() => gate.pass('busy', async () => 'busy'));
  const outcomes = Promise.allSettled(busy);
  const quiet = gate.pass('quiet', async () => 'quiet');
  leave();
  assert.equal(await quiet, 'quiet');
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
});

test('failing work frees its slot', async () => {
  const gate = new FairGate({ maxRunning: 1, full: 'Too many' });
  await assert.rejects(
    gate.pass('a', async () => {
      throw new Error('failed');
    }),
    /failed/,
  );
  assert.equal(await gate.pass('a', async () => 1), 1);
});
