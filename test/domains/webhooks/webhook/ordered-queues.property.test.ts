/** W1 to W3 of `ordered-queues.ts`, with events, failures, reads and crashes in any order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OrderedQueues, type QueueMemory, queueEvents, type Work } from '../../../../src/domains/webhooks/webhook/ordered-queues.ts';
import { retryForMs } from '../../../../src/domains/webhooks/webhook/retry.ts';
import type { FeedEvent } from '../../../../src/edge/stream/event-feed.ts';

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('events' as const), tasks: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 }) }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        which: fc.nat(20),
        how: fc.constantFrom('delivered' as const, 'delivered' as const, 'failed' as const, 'trouble' as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('later' as const), ms: fc.integer({ min: 0, max: 700_000 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('byHand' as const), which: fc.nat(400) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  ),
  { maxLength: 200 },
);

/** Task 0 means events without a task; events of task 4 are not subscribed. */
function eventOf(seq: number, task: number): FeedEvent {
  return {
    id: `evt_${seq}`,
    seq,
    type: task === 4 ? 'plan.changed' : 'task.running',
    taskId: task === 0 ? null : `task_${task}`,
    createdAtMs: 0,
    envelope: 'x'.repeat(100),
  };
}
const isWanted = ({ type }: FeedEvent) => type === 'task.running';

test('despite failures and crashes each event is delivered at least once, events of a task in order, and nothing remains in memory', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const written: FeedEvent[] = [];
      const delivered: number[] = [];
      const memory: QueueMemory = { bytes: 0 };
      let nowMs = 0;
      let queues = new OrderedQueues(0, [], memory);
      let going: Work[] = [];
      const pageOf = (work: Work & { kind: 'read' }) =>
        written
          .filter(({ seq, taskId }) =>
            work.queue.taskId === null ? seq === work.from : taskId === work.queue.taskId && seq >= work.from && seq <= work.to,
          )
          .slice(0, queueEvents);
      const begin = () => {
        const work = queues.hasWork ? queues.next() : null;
        if (work === null) return false;
        const before = going.some(({ queue }) => queue === work.queue);
        assert.ok(!before, 'one thing at a time in a queue');
        going.push(work);
        return true;
      };
      const end = (which: number, how: string) => {
        const [work] = going.splice(which % Math.max(1, going.length), 1);
        if (work === undefined) return;
        if (work.kind === 'read')
          return how === 'trouble' ? queues.keptWaiting(work.queue, nowMs + 1_000) : queues.addEvents(work.queue, pageOf(work), isWanted);
        if (how !== 'delivered') return void queues.failed(work.queue, nowMs, 0);
        const { seq, taskId } = work.event;
        const behind = written.find(
          (other) =>
            other.taskId !== null && other.taskId === taskId && other.seq < seq && isWanted(other) && !delivered.includes(other.seq),
        );
        assert.equal(behind, undefined, `${seq} went before ${behind?.seq}`);
        delivered.push(seq);
        queues.delivered(work.queue);
      };
      const feed = () => {
        for (const event of written.slice(queues.cursor)) {
          if (!queues.hasCapacity) return;
          queues.take(event, isWanted(event));
        }
      };
      const crash = () => {
        const saved = structuredClone(queues.saved());
        const { cursor } = queues;
        queues.drop();
        assert.equal(memory.bytes, 0);
        going = [];
        queues = new OrderedQueues(cursor, saved, memory);
      };
      for (const step of script) {
        if (step.kind === 'events') for (const task of step.tasks) written.push(eventOf(written.length + 1, task));
        else if (step.kind === 'begin') begin();
        else if (step.kind === 'end') end(step.which, step.how);
        else if (step.kind === 'later') queues.wake((nowMs += step.ms));
        else if (step.kind === 'crash') crash();
        else {
          const first = queues.saved()[step.which % Math.max(1, queues.saved().length)];
          // Failed deliveries are sent by hand; deliveries in flight are not changed.
          if (first !== undefined && first.failures > 0 && written[first.seq - 1] !== undefined && isWanted(written[first.seq - 1]!)) {
            const isGoing = going.some(({ queue }) => queue.taskId === first.taskId && (first.taskId !== null || queue.seq === first.seq));
            if (!isGoing) delivered.push(first.seq);
            if (!isGoing) queues.deliveredByHand(first.seq);
          }
        }
        feed();
      }
      for (let left = 10_000; queues.saved().length > 0 || queues.cursor < written.length; left--) {
        assert.ok(left > 0, 'it comes to an end');
        queues.wake((nowMs += 3_600_000));
        while (begin());
        while (going.length > 0) end(0, 'delivered');
        feed();
      }
      for (const event of written) if (isWanted(event)) assert.ok(delivered.includes(event.seq), `${event.seq} was lost`);
      assert.equal(memory.bytes, 0);
    }),
    { numRuns: 300 },
  );
});

test('a queue that fails for the whole retry time reports it', () => {
  const queues = new OrderedQueues(0, []);
  queues.take(eventOf(1, 1), true);
  let nowMs = 0;
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 80);
    const work = queues.next()!;
    if (work.kind === 'read') {
      queues.addEvents(work.queue, [eventOf(1, 1)], isWanted);
      continue;
    }
    const dueAtMs = queues.failed(work.queue, nowMs, 0);
    if (dueAtMs === null) break;
    assert.equal(queues.next(), null);
    queues.wake((nowMs = dueAtMs));
  }
  assert.equal(nowMs, retryForMs);
});
