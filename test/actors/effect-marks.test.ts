/** When the start of an effect is marked durably, with a commit that ends as the test says. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Effects, type EffectsParts } from '../../src/actors/effects.ts';
import type { CommitOutcome, CommitUnit, EffectDraft } from '../../src/storage/commit-unit.ts';
import { until } from '../support/until.ts';

const shard = 7;

test('an effect that starts while its shard is sealed is marked once, and the mark decides whether it runs here', async () => {
  for (const [outcome, runs] of [['refused', 0] as const, ['committed', 1] as const]) {
    const { effects, units, ran } = heldEffects();
    effects.start([draft()]);
    const sealed = effects.seal(new Set([shard]));
    assert.deepEqual(
      units.map(({ startedEffects }) => startedEffects),
      [['eff_1']],
      'the seal waits for the mark of the run',
    );
    units[0]!.settle(outcome === 'committed' ? { kind: outcome, seqs: [] } : { kind: outcome });
    await sealed;
    await until(() => effects.size.running === 0, 'the run to end');
    assert.equal(ran(), runs, outcome);
  }
});

test('a mark that was refused is tried again by the next seal', async () => {
  const { effects, units } = heldEffects(true);
  effects.start([draft()]);
  for (const outcome of [{ kind: 'refused' }, { kind: 'committed', seqs: [] }] satisfies CommitOutcome[]) {
    const sealed = effects.seal(new Set([shard]));
    units.at(-1)!.settle(outcome);
    await sealed;
  }
  await effects.seal(new Set([shard]));
  assert.equal(units.length, 2, 'a committed mark is not repeated');
  effects.stop();
});

function draft(): EffectDraft {
  const times = { starts: 0, createdAt: 0 };
  return {
    id: 'eff_1',
    shard,
    kind: 'probe',
    actorId: 'p',
    name: 'act',
    input: null,
    startedBy: null,
    recordedBy: 'me',
    accountId: null,
    ...times,
  };
}

/** Effects of one actor kind; the test ends their commits. @param repeatable the effect runs without a mark, until it is aborted */
function heldEffects(repeatable = false) {
  const units: CommitUnit[] = [];
  let count = 0;
  const run = (_input: unknown, { signal }: { signal: AbortSignal }) => {
    count++;
    if (!repeatable) return Promise.resolve(null);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const definition = { effects: { act: { run, outcome: 'acted', repeatable: () => repeatable, timeoutMs: 60_000 } } };
  const quiet = () => {};
  const parts = {
    system: { kinds: new Map([['probe', { definition }]]), deliver: () => true, repeated: { begin: () => quiet } },
    commit: { add: quiet, addTurn: (unit: CommitUnit) => units.push(unit) },
    database: null,
    placement: { owner: 'me', epochOf: () => 1, isAlive: () => true },
    clock: { nowMs: () => 0 },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    left: { isSupported: () => true, namesIn: () => [] },
  };
  return { effects: new Effects(parts as unknown as EffectsParts), units, ran: () => count };
}
