/** E6: effects of one account delay those of another by one effect at most. Counted in effects, not in time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { type TestRuntime, type TestRuntimeOptions, testRuntime } from '../support/runtime.ts';
import type { Scope } from '../support/scope.ts';
import { until } from '../support/until.ts';

async function start(t: Scope, options: TestRuntimeOptions) {
  const node = await testRuntime([probeActor], { ...probeOptions, ...options });
  t.after(() => node.close());
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  effects.work = effects.mail = ({ name }) => {
    begun.push(name);
    return new Promise<null>((resolve) => ends.push(() => resolve(null)));
  };
  const begin = (account: string, count = 1, effect: 'work' | 'mail' = 'work') =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        node.actors.ask(probe, `${account} ${i % 50}`, 'begin', { effect, input: { name: account }, account }),
      ),
    );
  return { node, begun, ends, begin };
}

const laneOf = ({ runtime }: TestRuntime, wanted: string) => runtime.effects.laneSizes.find(({ lane }) => lane === wanted);

test('an account with hundreds of slow effects leaves slots for other accounts, and mails do not wait for these effects', async (t) => {
  const { node, begun, ends, begin } = await start(t, { effectLaneLimits: { maxRunning: 6, maxRunningEach: 4 } });
  await begin('busy', 270);
  await until(() => begun.length === 4, 'as many as one account may run');
  assert.deepEqual(laneOf(node, 'tool'), { lane: 'tool', running: 4, waiting: 266 });
  await begin('quiet', 3);
  await until(() => begun.length === 6, 'those of the quiet account');
  await begin('busy', 1, 'mail');
  await until(() => begun.length === 7, 'the mail');
  assert.deepEqual(begun.slice(4), ['quiet', 'quiet', 'busy']);
  // The quiet account gets the next free slot, whichever account freed it.
  ends[0]!();
  await until(() => begun.length === 8, 'the next one');
  assert.equal(begun[7], 'quiet');
});

test('effects of one account beyond its share of memory wait in the database without delaying others; all of them run', async (t) => {
  const { node, begun, ends, begin } = await start(t, { maxEffectsInFlight: 16, effectLaneLimits: { maxRunning: 8, maxRunningEach: 6 } });
  await begin('busy', 60);
  await until(() => begun.length === 4, 'a quarter of what memory holds');
  for (const account of ['one', 'two']) await begin(account, 2);
  await until(() => begun.length === 8, 'those of the other accounts');
  assert.deepEqual(begun.slice(4), ['one', 'one', 'two', 'two']);
  effects.work = async ({ name }) => void begun.push(name);
  for (const end of ends) end();
  await until(async () => (await node.sql('select id from effect limit 1')).length === 0, 'all effects');
  assert.equal(begun.filter((name) => name === 'busy').length, 60);
});

test('an effect that has released its slot lets the next one run while it waits, and its outcome is delivered', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, effectLaneLimits: { maxRunning: 1 } });
  t.after(() => node.close());
  const begun: string[] = [];
  const end = Promise.withResolvers<null>();
  effects.work = ({ name }, { releaseSlot }) => {
    begun.push(name);
    if (name !== 'waits') return Promise.resolve(null);
    releaseSlot();
    releaseSlot();
    return end.promise;
  };
  const begin = (name: string) => node.actors.ask(probe, name, 'begin', { effect: 'work', input: { name }, account: 'one' });
  await begin('waits');
  await begin('next');
  await until(async () => (await node.sql('select id from effect')).length === 1, 'the next one has ended');
  assert.deepEqual(begun, ['waits', 'next']);
  assert.deepEqual(laneOf(node, 'tool'), { lane: 'tool', running: 0, waiting: 0 });
  end.resolve(null);
  await until(async () => (await node.sql('select id from effect')).length === 0, 'the outcome of the one that waited');
});
