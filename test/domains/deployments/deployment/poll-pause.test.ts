import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollPauseMs } from '../../../../src/domains/deployments/deployment/poll-pause.ts';

test('a host is polled within 2 s of the first poll, and then at most 10 s apart', () => {
  for (let sample = 0; sample < 100; sample++) {
    assert.ok(pollPauseMs(0) <= 2_000);
    for (let polls = 1; polls < 100; polls++) assert.ok(pollPauseMs(polls) > 0 && pollPauseMs(polls) <= 10_000);
  }
});
