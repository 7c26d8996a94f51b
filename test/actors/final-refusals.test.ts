/** R8: a refusal is final, also if an earlier try of the command reaches the actor later. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import { isFinalRefusal, recordedRefusal, refusalRecord } from '../../src/actors/recorded-refusal.ts';
import { monotonicMs } from '../../src/clock.ts';
import { AppError, invalidField } from '../../src/errors.ts';
import { effects, probe, probeActor, probeOptions, receiving } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

let node: TestRuntime;
/** Ids of probes that refuse messages. */
const unanswering = new Set<string>();
const receivingBefore = receiving.before;
before(async () => {
  node = await testRuntime([probeActor], probeOptions);
  receiving.before = (input) => {
    if (unanswering.has(String(input))) throw invalidField(['body'], 'It is deaf', 'deaf');
  };
});
after(async () => {
  receiving.before = receivingBefore;
  await node.close();
});

/** A try of a command that another node has sent. */
async function tryOf(commandId: string, name: string, id: string, input: unknown, repeat: boolean): Promise<unknown> {
  const about = { query: false, effectId: null, trace: null, deadlineMs: monotonicMs() + 10_000 };
  return node.actors.answer({ ...about, kind: 'probe', id, name, input, commandId, repeat });
}

const received = async (id: string) => (await node.actors.query(probe, id, 'state', null))?.received ?? [];
const recorded = async (commandId: string) => (await node.sql('select from command_record where id = $1', [commandId])).length === 1;

test('an earlier try that arrives after a repeat was refused gets the same refusal, although the command would now succeed', async () => {
  unanswering.add('a');
  const refused: any = await tryOf('cmd-a', 'receive', 'a', 'a', true).catch((error) => error);
  assert.deepEqual([refused.code, refused.issues[0].type], ['invalid', 'deaf']);
  unanswering.delete('a');
  const late: any = await tryOf('cmd-a', 'receive', 'a', 'a', false).catch((error) => error);
  assert.deepEqual([late.code, late.message, late.issues], [refused.code, refused.message, refused.issues]);
  await node.crashAndRestart();
  assert.deepEqual(await outcomeOf(tryOf('cmd-a', 'receive', 'a', 'a', false)), { refused: 'invalid' });
  assert.deepEqual(await received('a'), []);
});

test('a command that is tried once leaves no record of its refusal', async () => {
  unanswering.add('b');
  assert.deepEqual(await outcomeOf(tryOf('cmd-b', 'receive', 'b', 'b', false)), { refused: 'invalid' });
  assert.equal(await recorded('cmd-b'), false);
  unanswering.delete('b');
  assert.equal(await tryOf('cmd-b', 'receive', 'b', 'b', false), null);
  assert.equal(await tryOf('cmd-b', 'receive', 'b', 'b', true), null, 'a repeat gets the reply of the first');
});

test('if a later turn refuses a repeat, the refusal is final for the repeat and for earlier tries', async () => {
  const later = (repeat: boolean) => outcomeOf(tryOf('cmd-c', 'defer', 'c', { key: 'k', n: 1 }, repeat));
  const first = later(false);
  await until(async () => (await node.actors.query(probe, 'c', 'state', null))?.value === 1, 'the first turn');
  const repeat = later(true);
  await node.actors.ask(probe, 'c', 'answer', { key: 'k', reply: null, refuse: true });
  assert.deepEqual([await first, await repeat, await later(false)], Array(3).fill({ refused: 'conflict' }));
  assert.equal((await node.actors.query(probe, 'c', 'state', null))?.value, 1, 'no further turn');
});

test('the refusal of a request that repeats a command on the same node is final', async () => {
  unanswering.add('d');
  const end = node.actors.repeated.begin(['cmd-d']);
  assert.deepEqual(await outcomeOf(node.actors.ask(probe, 'd', 'receive', 'd', { commandId: 'cmd-d' })), { refused: 'invalid' });
  end();
  unanswering.delete('d');
  assert.deepEqual(await outcomeOf(node.actors.ask(probe, 'd', 'receive', 'd', { commandId: 'cmd-d' })), { refused: 'invalid' });
  assert.deepEqual(await received('d'), []);
});

test('the refusal of an effect that runs again after a crash is final, also for the ask of the dead process under the same id', async (t) => {
  const before = effects.work;
  t.after(() => {
    effects.work = before;
  });
  const runs: string[] = [];
  effects.work = async (_input, { effectId }) => {
    if (runs.push(effectId) === 1) return new Promise(() => {});
    return outcomeOf(node.actors.ask(probe, 'e', 'receive', 'e', { commandId: effectId }));
  };
  unanswering.add('e');
  await node.actors.ask(probe, 'asking', 'begin', { effect: 'work', input: {} });
  await until(() => runs.length === 1, 'the first run');
  await node.crashAndRestart();
  await until(async () => (await received('asking')).length === 1, 'the second run');
  assert.deepEqual(await received('asking'), [{ kind: 'done', value: { refused: 'invalid' } }]);
  unanswering.delete('e');
  assert.deepEqual(await outcomeOf(tryOf(runs[0]!, 'receive', 'e', 'e', false)), { refused: 'invalid' }, 'asked by the first run');
  assert.deepEqual(await received('e'), []);
});

test('refusals that ask the caller to retry, and failures of the service, are not final', () => {
  assert.equal(isFinalRefusal(new AppError('conflict', 'It is just being done', { retryAfterS: 1 })), false);
  for (const code of [
    'overloaded',
    'mailbox_full',
    'rate_limited',
    'internal',
    'reply_too_large',
    'shard_not_owned',
    'outcome_unknown',
  ] as const)
    assert.equal(isFinalRefusal(new AppError(code, 'no')), false, code);
  for (const code of ['invalid', 'conflict', 'not_found', 'forbidden', 'plan_required'] as const)
    assert.equal(isFinalRefusal(new AppError(code, 'no')), true, code);
  const refusal = recordedRefusal(JSON.parse(JSON.stringify(refusalRecord(new AppError('conflict', 'Not now')))));
  assert.deepEqual([refusal?.code, refusal?.message, refusal?.issues], ['conflict', 'Not now', undefined]);
  for (const reply of [null, undefined, 0, '$refused', [], { refused: true }]) assert.equal(recordedRefusal(reply), undefined);
});

type Step = { do: 'try' | 'repeat' | 'open' | 'close'; awaited: boolean };
const step: fc.Arbitrary<Step> = fc.record({ do: fc.constantFrom('try', 'repeat', 'open', 'close'), awaited: fc.boolean() });
let runs = 0;

test("tries, repeats and changes of the state in any order: a result or a repeat's answer is final, and the effect happens at most once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 16 }), async (steps) => {
      const id = `p${++runs}`;
      unanswering.add(id);
      let reported: { outcome: unknown } | null = null;
      const asked: Promise<void>[] = [];
      for (const one of steps) {
        if (one.do === 'open') unanswering.delete(id);
        else if (one.do === 'close') unanswering.add(id);
        else {
          const before = reported;
          const answered = outcomeOf(tryOf(`cmd-${id}`, 'receive', id, id, one.do === 'repeat')).then((outcome) => {
            if (before !== null) assert.deepEqual({ outcome }, before, 'the first outcome');
            if (one.do === 'repeat' || outcome === null) reported ??= { outcome };
          });
          if (one.awaited) await answered;
          else asked.push(answered);
        }
      }
      await Promise.all(asked);
      unanswering.delete(id);
      const before = reported as { outcome: unknown } | null;
      const outcome = await outcomeOf(tryOf(`cmd-${id}`, 'receive', id, id, false));
      assert.deepEqual({ outcome }, before ?? { outcome: null });
      assert.deepEqual(await received(id), outcome === null ? [id] : []);
    }),
    { numRuns: 60 },
  );
});
