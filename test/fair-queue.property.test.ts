/** Any sequence of arrivals, ends and departures: F1 to F5 hold after each, judged by a plain list of what waits. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../src/fair-queue.ts';

type Item = { account: string; n: number };

const options = fc.record({
  maxRunning: fc.integer({ min: 1, max: 5 }),
  maxRunningEach: fc.integer({ min: 1, max: 5 }),
  maxWaiting: fc.integer({ min: 1, max: 12 }),
  maxWaitingEach: fc.integer({ min: 1, max: 8 }),
});
const account = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('add' as const), account }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('take' as const), account }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('finish' as const), account }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), account }) },
);

test('for any arrivals and ends, limits hold, no free slot is unused while work waits, and no account is skipped twice', (t) => {
  const seed = Date.now() & 0xffffff;
  t.diagnostic(`seed ${seed}`);
  fc.assert(
    fc.property(options, fc.array(step, { maxLength: 120 }), (bounds, steps) => {
      const queue = new FairQueue<Item>(bounds);
      let waiting: Item[] = [];
      const running: Item[] = [];
      /** How often each account was served while this one could have been. */
      const passedOver = new Map<string, Map<string, number>>();
      const of = (list: Item[], name: string) => list.filter((item) => item.account === name);
      const mayRun = (name: string) => of(waiting, name).length > 0 && of(running, name).length < bounds.maxRunningEach;
      for (const [n, { op, account: name }] of steps.entries()) {
        if (op === 'add') {
          const item = { account: name, n };
          const lengths = ['a', 'b', 'c', 'd'].map((one) => of(waiting, one).length);
          const mine = of(waiting, name).length;
          const rejected = queue.add(name, item);
          if (mine >= bounds.maxWaitingEach) assert.equal(rejected, item);
          else if (waiting.length < bounds.maxWaiting) assert.equal(rejected, null);
          else if (Math.max(...lengths) <= mine + 1) assert.equal(rejected, item);
          else {
            assert.equal(of(waiting, rejected!.account).length, Math.max(...lengths));
            assert.equal(rejected, of(waiting, rejected!.account).at(-1), 'the newest one');
          }
          waiting = [...waiting, item].filter((one) => one !== rejected);
        } else if (op === 'take') {
          const could = ['a', 'b', 'c', 'd'].filter(mayRun);
          const taken = queue.take();
          if (running.length >= bounds.maxRunning || could.length === 0) assert.equal(taken, null);
          else {
            assert.ok(taken !== null, 'a free place is used');
            assert.equal(taken.item, of(waiting, taken.account)[0], 'in order');
            waiting = waiting.filter((one) => one !== taken.item);
            running.push(taken.item);
            for (const other of could) {
              if (other === taken.account) continue;
              const served = passedOver.get(other) ?? new Map<string, number>();
              served.set(taken.account, (served.get(taken.account) ?? 0) + 1);
              assert.ok(served.get(taken.account)! <= 1, `${taken.account} got two places while ${other} could have one`);
              passedOver.set(other, served);
            }
            passedOver.delete(taken.account);
          }
        } else if (op === 'finish') {
          const at = running.findIndex((item) => item.account === name);
          if (at < 0) continue;
          running.splice(at, 1);
          queue.finish(name);
        } else {
          const item = of(waiting, name)[1] ?? of(waiting, name)[0] ?? { account: name, n };
          assert.equal(queue.remove(name, item), waiting.includes(item));
          waiting = waiting.filter((one) => one !== item);
        }
        for (const name of ['a', 'b', 'c', 'd']) {
          if (!mayRun(name)) passedOver.delete(name);
          assert.equal(queue.waitingOf(name), of(waiting, name).length);
          assert.equal(queue.runningOf(name), of(running, name).length);
          assert.ok(queue.runningOf(name) <= bounds.maxRunningEach && queue.waitingOf(name) <= bounds.maxWaitingEach);
        }
        assert.ok(queue.running <= bounds.maxRunning && queue.waiting <= bounds.maxWaiting);
        assert.deepEqual([queue.running, queue.waiting], [running.length, waiting.length]);
      }
      const all = [...waiting].sort((one, other) => one.n - other.n);
      assert.deepEqual(
        queue.clear().sort((one, other) => one.n - other.n),
        all,
      );
      assert.equal(queue.take(), null);
    }),
    { numRuns: 300, seed },
  );
});
