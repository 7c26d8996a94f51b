/**
 * How a node measures the difference between its clock and the database's, when it does not correct it, and that setting the machine's
 * clock has no effect.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { machineClock, SteadyClock } from '../../src/clock.ts';
import { noLog } from '../../src/log.ts';
import { DatabaseClock } from '../../src/storage/database-clock.ts';

/** A database that is so far ahead of the true time, and a machine whose wall clock is off by `machine.offMs`. */
function open(offMs = 0) {
  const machine = { offMs, nowMs: () => machineClock.nowMs() + machine.offMs };
  const base = { aheadMs: 0, delayMs: 0, fails: false };
  const database = {
    async read() {
      if (base.delayMs > 0) await pause(base.delayMs);
      if (base.fails) throw new Error('away');
      return { rows: [{ now_ms: Date.now() + base.aheadMs }] } as never;
    },
  };
  const clock = new SteadyClock(machine);
  const moves: number[] = [];
  const move = clock.move.bind(clock);
  clock.move = (byMs) => {
    moves.push(byMs);
    move(byMs);
  };
  const isTrue = () => Math.abs(clock.nowMs() - Date.now()) < 150;
  return { machine, base, clock, measured: new DatabaseClock({ database, log: noLog, clock, machine }), moves, isTrue };
}

test('a clock that agrees with the database is not corrected, also when answers are slow', async () => {
  const { base, measured, moves } = open();
  base.aheadMs = 80;
  await measured.measure();
  base.delayMs = 300;
  await measured.measure();
  assert.deepEqual(moves, []);
});

test("a wrong clock of a machine is corrected, and setting it does not change the service's time", async () => {
  const { machine, measured, moves, isTrue } = open(45_000);
  await measured.measure();
  assert.ok(isTrue());
  assert.ok(Math.abs(measured.offsetMs + 45_000) < 100, 'the operator hears of it');
  for (const offMs of [0, 11_000, -3_600_000]) {
    machine.offMs = offMs;
    assert.ok(isTrue(), `before the next query, ${offMs} ms`);
    await measured.measure();
    assert.ok(isTrue());
    assert.ok(Math.abs(measured.offsetMs + offMs) < 100, `${offMs} ms: ${measured.offsetMs}`);
  }
  assert.equal(moves.length, 1);
});

test("if the database's clock is set, the service's clock follows at the next query", async () => {
  const { base, measured, clock } = open();
  base.aheadMs = 3_600_000;
  await measured.measure();
  assert.ok(Math.abs(clock.nowMs() - Date.now() - 3_600_000) < 150);
});

test('while the database does not answer the last correction remains', async () => {
  const { base, machine, measured, isTrue } = open(-30_000);
  await measured.measure();
  base.fails = true;
  machine.offMs = 5_000;
  await assert.rejects(measured.measure());
  assert.ok(isTrue());
});
