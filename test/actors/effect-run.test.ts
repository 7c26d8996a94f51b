/** The outcome of one run of an effect: a non-repeatable effect has failed only if it reports this itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { runEffect } from '../../src/actors/effect-run.ts';
import { AppError } from '../../src/errors.ts';
import { noLog } from '../../src/log.ts';
import type { EffectDraft } from '../../src/storage/commit-unit.ts';

const effect = { id: 'eff_1', kind: 'probe', actorId: 'a', name: 'mail', input: {} } as EffectDraft;
const never = () => new Promise(() => {});
const failed = (message: string) => ({ kind: 'failed', message });
const unknown = { kind: 'unknown' };

type Run = (signal: AbortSignal) => Promise<unknown>;
const circular: { self?: unknown } = {};
circular.self = circular;

const ends: { why: string; run: Run; repeatable: unknown; once: unknown }[] = [
  {
    why: 'it says that nothing was done',
    run: refusing('unavailable', 'Not sent'),
    repeatable: failed('Not sent'),
    once: failed('Not sent'),
  },
  { why: 'it says that nobody knows', run: refusing('outcome_unknown', 'No answer'), repeatable: unknown, once: unknown },
  { why: 'its time is up', run: never, repeatable: failed('No answer within 0.02 seconds'), once: unknown },
  {
    why: 'its time is up and it ends with its signal',
    run: (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    repeatable: failed('No answer within 0.02 seconds'),
    once: unknown,
  },
  { why: 'it fails unexpectedly', run: async () => JSON.parse('{'), repeatable: failed('It failed unexpectedly'), once: unknown },
  { why: 'what it answers cannot be kept', run: async () => circular, repeatable: failed('It failed unexpectedly'), once: unknown },
  { why: 'it asks an actor of a node that stops', run: refusing('draining', 'Stopping'), repeatable: null, once: unknown },
];

for (const { why, run, repeatable, once } of ends) {
  test(`an effect that must not be repeated has the outcome unknown unless it reports another itself: ${why}`, async () => {
    assert.deepEqual([await outcomeOf(run, true), await outcomeOf(run, false)], [repeatable, once]);
  });
}

for (const [why, reason, repeatable] of [
  ['cancelled', new AppError('conflict', 'Cancelled'), failed('Cancelled')],
  ['stopped with its node', new AppError('draining', 'The node stops'), null],
] as const) {
  test(`an effect that must not be repeated and is ${why} has the outcome unknown`, async () => {
    assert.deepEqual([await outcomeOf(never, true, reason), await outcomeOf(never, false, reason)], [repeatable, unknown]);
  });
}

function refusing(code: 'unavailable' | 'outcome_unknown' | 'draining', message: string): Run {
  return async () => {
    throw new AppError(code, message);
  };
}

function outcomeOf(run: Run, repeatable: boolean, aborted: AppError | null = null): Promise<unknown> {
  const controller = new AbortController();
  const timeoutMs = aborted === null ? 20 : 10_000;
  const definition = {
    run: (_input: unknown, { signal }: { signal: AbortSignal }) => run(signal),
    repeatable: () => repeatable,
    timeoutMs,
    outcome: '',
  };
  const outcome = runEffect(effect, definition, controller, { log: noLog, repeatable, isRepeat: false, releaseSlot() {} });
  if (aborted !== null) controller.abort(aborted);
  return outcome;
}
