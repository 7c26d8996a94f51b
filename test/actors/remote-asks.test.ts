/** The answer to a caller whose command was tried at several nodes in sequence. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { askOwner } from '../../src/actors/remote-asks.ts';
import { monotonicMs } from '../../src/clock.ts';
import type { Placement, RemoteAsk } from '../../src/cluster/placement.ts';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { outcomeOf } from '../support/runtime.ts';

/** Which tries were marked as repeats, because an earlier one may still arrive. */
let repeats: boolean[] = [];

/** Another node owns the shard, and answers each try with the next of these. */
function answering(answers: (ErrorCode | 'done')[]): Placement {
  const forward = async (_shard: number, { repeat }: RemoteAsk) => {
    repeats.push(repeat);
    const answer = answers.shift()!;
    if (answer !== 'done') throw new AppError(answer, 'on purpose');
    return 'done';
  };
  return { epochOf: () => null, forward, moved: async () => {} } as Partial<Placement> as Placement;
}

function ask(answers: (ErrorCode | 'done')[]): Promise<unknown> {
  const about = { kind: 'probe', id: 'a', name: 'add', input: { n: 1 }, query: false, repeat: false, effectId: null, trace: null };
  const asked: RemoteAsk = { ...about, deadlineMs: monotonicMs() + 1_000, commandId: 'cmd_1' };
  return outcomeOf(
    askOwner(
      answering(answers),
      1,
      asked,
      () => false,
      () => {},
    ),
  );
}

test('a command whose outcome is unknown is not reported as not done when a later try is shed; an answer of its actor counts', async () => {
  assert.deepEqual(await ask(['outcome_unknown', 'overloaded']), { refused: 'outcome_unknown' });
  assert.deepEqual(await ask(['outcome_unknown', 'shard_not_owned', 'mailbox_full']), { refused: 'outcome_unknown' });
  assert.deepEqual(await ask(['outcome_unknown', 'shard_not_owned', 'done']), { reply: 'done' });
  assert.deepEqual(await ask(['outcome_unknown', 'conflict']), { refused: 'conflict' });
  assert.deepEqual(await ask(['shard_not_owned', 'overloaded']), { refused: 'overloaded' });
});

test('every try after one with an unknown outcome is marked as a repeat', async () => {
  for (const [answers, expected] of [
    [
      ['shard_not_owned', 'draining', 'outcome_unknown', 'shard_not_owned', 'conflict'],
      [false, false, false, true, true],
    ],
    [
      ['shard_not_owned', 'done'],
      [false, false],
    ],
  ] as [(ErrorCode | 'done')[], boolean[]][]) {
    repeats = [];
    await ask(answers);
    assert.deepEqual(repeats, expected);
  }
});
