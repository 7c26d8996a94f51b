/** What a caller is told of a command that was tried at several nodes one after the other. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { askOwner } from '../../src/actors/remote-asks.ts';
import { monotonicMs } from '../../src/clock.ts';
import type { Placement, RemoteAsk } from '../../src/cluster/placement.ts';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { outcomeOf } from '../support/runtime.ts';

/** Which tries said that an earlier one may still be on its way. */
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

test('a command that may have been done is not said to be undone because a later try was shed; what its actor says counts', async () => {
  assert.deepEqual(await ask(['outcome_unknown', 'overloaded']), { refused: 'outcome_unknown' });
  assert.deepEqual(await ask(['outcome_unknown', 'shard_not_owned', 'mailbox_full']), { refused: 'outcome_unknown' });
  assert.deepEqual(await ask(['outcome_unknown', 'shard_not_owned', 'done']), { reply: 'done' });
  assert.deepEqual(await ask(['outcome_unknown', 'conflict']), { refused: 'conflict' });
  assert.deepEqual(await ask(['shard_not_owned', 'overloaded']), { refused: 'overloaded' });
});

test('every try after one whose outcome is unknown says that it is a repeat', async () => {
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
