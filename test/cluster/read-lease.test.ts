/** How long committed state is shown without a query of the database (L1, L2). The test controls the clocks. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ReadLease } from '../../src/cluster/read-lease.ts';
import { outcomeOf } from '../support/runtime.ts';

test('L1 the lease begins with the start of the check, and ends by the clock that is further ahead', async () => {
  for (const clock of ['wall', 'monotonic'] as const) {
    const { lease, now, answer } = leaseWithClocks();
    const first = lease.confirmation();
    assert.ok(first !== null, 'nothing was confirmed yet');
    await answer(100);
    await first;
    assert.equal(lease.confirmation(), null);
    now[clock] += 199;
    assert.equal(lease.confirmation(), null);
    now[clock] += 1;
    assert.notEqual(lease.confirmation(), null, `300 ms after the check began, by the ${clock} clock`);
    await answer();
  }
});

test('L1 a wall clock that was set back ends the lease', async () => {
  const { lease, now, answer } = leaseWithClocks();
  const first = lease.confirmation();
  await answer();
  await first;
  now.wall -= 1;
  assert.notEqual(lease.confirmation(), null);
  await answer();
});

test('L1 a machine that was stopped with both its clocks shows old state at most until the lease ends, and queries the database before that', async () => {
  const { lease, now, answer, begun } = leaseWithClocks();
  const first = lease.confirmation();
  await answer();
  await first;
  const run = (ms: number) => {
    now.wall += ms;
    now.monotonic += ms;
  };
  run(149);
  // Here the machine is stopped for hours, and neither clock advances.
  assert.equal(lease.confirmation(), null);
  run(1);
  assert.equal(lease.confirmation(), null);
  assert.equal(begun(), 2, 'the answer to this takes the shards from it');
  run(150);
  assert.notEqual(lease.confirmation(), null, 'without an answer it shows nothing more');
  await answer();
});

test('all queries of one tick share one check, and a lease in use is renewed before it ends', async () => {
  const { lease, now, answer, begun } = leaseWithClocks();
  const asked = [lease.confirmation(), lease.confirmation(), lease.confirmation()];
  await answer();
  await Promise.all(asked);
  assert.equal(begun(), 1);
  now.wall += 149;
  assert.equal(lease.confirmation(), null);
  assert.equal(begun(), 1);
  now.wall += 1;
  assert.equal(lease.confirmation(), null);
  assert.equal(begun(), 2, 'in the background');
  await answer();
  now.wall += 299;
  assert.equal(lease.confirmation(), null, 'the new lease');
});

test('L2 a check that took too long to renew the lease answers only queries that arrived before it began', async () => {
  const { lease, answer, begun } = leaseWithClocks();
  const before = lease.confirmation();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(begun(), 1);
  let answered = false;
  const during = lease.confirmation()!.then(() => (answered = true));
  await answer(400);
  await before;
  assert.equal(answered, false);
  await answer();
  await during;
  assert.equal(begun(), 2);
});

test('if the database does not answer, queries fail as unavailable', async () => {
  const { lease } = leaseWithClocks(1);
  assert.deepEqual(await outcomeOf(Promise.all([lease.confirmation(), lease.confirmation()])), { refused: 'unavailable' });
});

test('if the database refuses the check, queries fail as unavailable; the next query starts another check', async () => {
  const { lease, fail, answer } = leaseWithClocks();
  const refused = outcomeOf(lease.confirmation()!);
  await fail();
  assert.deepEqual(await refused, { refused: 'unavailable' });
  const next = lease.confirmation();
  await answer();
  await next;
});

function leaseWithClocks(waitMs = 10_000) {
  const now = { wall: 1_000_000, monotonic: 5_000 };
  const checks: PromiseWithResolvers<void>[] = [];
  let begun = 0;
  const lease = new ReadLease({
    check: () => {
      begun++;
      const check = Promise.withResolvers<void>();
      checks.push(check);
      return check.promise;
    },
    clock: { nowMs: () => now.wall },
    monotonicMs: () => now.monotonic,
    leaseMs: 300,
    renewAfterMs: 150,
    waitMs,
  });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const underWay = async () => {
    while (checks.length === 0) await tick();
    return checks.shift()!;
  };
  return {
    lease,
    now,
    begun: () => begun,
    async answer(afterMs = 0) {
      const check = await underWay();
      now.wall += afterMs;
      now.monotonic += afterMs;
      check.resolve();
      await tick();
    },
    async fail() {
      (await underWay()).reject(new Error('refused on purpose'));
      await tick();
    },
  };
}
