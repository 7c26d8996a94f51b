/** How a node finds out how far its clock is off the database's, and when it leaves its own alone. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '../../src/log.ts';
import { DatabaseClock } from '../../src/storage/database-clock.ts';

/** A database that is so far ahead of a machine whose clock is off by `machine.offMs`. */
function open() {
  const machine = { offMs: 0 };
  const base = { aheadMs: 0, delayMs: 0, fails: false };
  const corrections: number[] = [];
  const database = {
    async read() {
      if (base.delayMs > 0) await pause(base.delayMs);
      if (base.fails) throw new Error('away');
      return { rows: [{ now_ms: Date.now() + base.aheadMs }] } as never;
    },
  };
  const wallMs = () => Date.now() + machine.offMs;
  const clock = new DatabaseClock({ database, log: silentLog, wallMs, correct: (byMs) => void corrections.push(byMs) });
  return { machine, base, clock, corrections };
}

test('a clock that agrees with the database is left alone, also when answers are slow', async () => {
  const { base, clock, corrections } = open();
  base.aheadMs = 80;
  await clock.measure();
  base.delayMs = 300;
  await clock.measure();
  assert.deepEqual(corrections, []);
});

test('a clock that is off is corrected, and again when it was set right', async () => {
  const { machine, clock, corrections } = open();
  machine.offMs = 45_000;
  await clock.measure();
  assert.ok(Math.abs(clock.offsetMs + 45_000) < 100, String(clock.offsetMs));
  await clock.measure();
  machine.offMs = 0;
  await clock.measure();
  assert.deepEqual([corrections.length, clock.offsetMs], [2, 0]);
});

test('while the database does not answer the last correction holds', async () => {
  const { machine, base, clock } = open();
  machine.offMs = -30_000;
  await clock.measure();
  const { offsetMs } = clock;
  base.fails = true;
  await assert.rejects(clock.measure());
  assert.equal(clock.offsetMs, offsetMs);
});
