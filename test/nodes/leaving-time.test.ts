import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { LeavingTime } from '../../src/node/leaving-time.ts';

const maxLeaveMs = 16_000;

test('a node that leaves has ended 25 seconds after the grace of its drain, however long its hand-over took', () => {
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

test('a node that stops without a drain gives accepted asks their whole deadline', () => {
  assert.equal(new LeavingTime(() => 0).forAnswersMs(), 10_000);
});
