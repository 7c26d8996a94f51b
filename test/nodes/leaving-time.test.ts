import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { LeavingTime } from '../../src/node/leaving-time.ts';

const maxLeaveMs = 16_000;

test('a leaving node ends within 25 seconds after the grace period of its drain, even if its handoff takes longer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: maxLeaveMs }), (leftMs) => {
      let nowMs = 5_000;
      const time = new LeavingTime(() => nowMs);
      time.begin();
      nowMs += leftMs;
      const answersMs = time.forAnswersMs();
      assert.ok(answersMs >= 1_000 && answersMs <= 10_000, `${answersMs} ms for answers`);
      assert.ok(leftMs + answersMs + LeavingTime.closingMs <= 25_000);
    }),
  );
});

test('a node that stops without a drain waits for accepted asks until their deadlines', () => {
  assert.equal(new LeavingTime(() => 0).forAnswersMs(), 10_000);
});
