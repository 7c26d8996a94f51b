/** Waits for limits of services, by a clock and timers of the test. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { LimitGates, type Passage } from '../../../../src/domains/integrations/services/limit-gate.ts';

function gatesOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const gates = new LimitGates(() => nowMs);
  const signal = new AbortController().signal;
  return {
    pass: (withinMs: number) => gates.pass('slack history', nowMs + withinMs, signal),
    /** Lets time pass, and the promises that depend on it. */
    async wait(ms: number) {
      nowMs += ms;
      t.mock.timers.tick(ms);
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
  };
}

test('a limit of one minute is waited for, then one request goes first and the others follow it', async (t) => {
  const { pass, wait } = gatesOf(t);
  ((await pass(120_000)) as Passage).limited(60_000);
  const passed: Passage[] = [];
  for (let i = 0; i < 3; i++) void pass(120_000).then((one) => passed.push(one as Passage));
  await wait(59_999);
  assert.equal(passed.length, 0);
  await wait(1);
  assert.equal(passed.length, 1);
  passed[0]!.passed();
  await wait(0);
  assert.equal(passed.length, 3);
});

test('a limit of years is checked by one request an hour later', async (t) => {
  const { pass, wait } = gatesOf(t);
  ((await pass(120_000)) as Passage).limited(999_999_999_000);
  assert.equal(await pass(120_000), 3_600_000);
  await wait(3_600_000);
  assert.equal(typeof (await pass(120_000)), 'object');
});

test('a limit that ends later than a caller may wait is reported at once', async (t) => {
  const { pass } = gatesOf(t);
  ((await pass(120_000)) as Passage).limited(121_000);
  assert.equal(await pass(120_000), 121_000);
});
