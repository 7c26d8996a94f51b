/** The wall clock of a machine is set while a node works: deadlines and timers use elapsed time. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { monotonicMs, systemClock } from '../../src/clock.ts';
import { probe } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import { outcomeOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;
const commits = /^troupe commit/;

/** A runtime behind a proxy that can hold its commits, and the wall clock of its machine. */
async function start(t: TestContext) {
  const { node, proxy } = await proxiedNode(t);
  const trueNow = Date.now;
  const machine = { offMs: 0 };
  t.mock.method(Date, 'now', () => trueNow() + machine.offMs);
  // Both are in memory, so that no ask waits for its actor.
  for (const id of ['a', 'b']) await node.actors.ask(probe, id, 'add', { n: 1 });
  return { node, proxy, machine };
}

for (const stepMs of [11_000, -11_000, hourMs, -hourMs])
  test(`a step of the wall clock by ${stepMs / 1_000} s ends no ask early or late`, async (t) => {
    const { node, proxy, machine } = await start(t);
    const held = proxy.hold(commits, 'to client');
    const asked = Array.from({ length: 50 }, () => outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 })));
    const short = (id: string) => outcomeOf(node.actors.ask(probe, id, 'add', { n: 1 }, { timeoutMs: 500 }));
    const before = short('b');
    machine.offMs = stepMs;
    const beganMs = monotonicMs();
    assert.deepEqual(await Promise.all([before, short('b')]), [{ refused: 'outcome_unknown' }, { refused: 'outcome_unknown' }]);
    const tookMs = monotonicMs() - beganMs;
    assert.ok(tookMs >= 450 && tookMs < 10_000, `0.5 s took ${Math.round(tookMs)} ms`);
    held.release();
    assert.deepEqual(
      await Promise.all(asked),
      asked.map((_, n) => n + 2),
    );
    await node.actors.ask(probe, 'a', 'touch', null);
  });

for (const stepMs of [hourMs, -hourMs])
  test(`a step of the wall clock by ${stepMs / hourMs} h fires no timer early or late and causes no wrong time`, async (t) => {
    const { node, machine } = await start(t);
    const beganMs = systemClock.nowMs();
    const wake = (name: string, inMs: number) => node.actors.ask(probe, 'a', 'wake', { name, dueMs: beganMs + inMs });
    const received = async () => (await node.actors.query(probe, 'a', 'state', null))?.received;
    await wake('soon', 5_000);
    machine.offMs = stepMs;
    await wake('later', 6_000);
    await wake('much later', 1_800_000);
    await node.runtime.sweepTimers();
    node.runtime.timers.fireDue();
    assert.deepEqual(await received(), []);
    assert.ok(Math.abs(systemClock.nowMs() - beganMs) < 4_900, 'the clock of the service has not jumped');
    await until(async () => (await received())?.length === 2, 'two timers');
    assert.deepEqual(await received(), ['soon', 'later']);
    const lateMs = systemClock.nowMs() - beganMs - 6_000;
    assert.ok(lateMs >= 0 && lateMs < 30_000, `late by ${lateMs} ms`);
    assert.deepEqual(await node.sql('select name from timer'), [{ name: 'much later' }]);
  });
