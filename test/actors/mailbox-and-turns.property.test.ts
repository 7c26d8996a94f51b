/**
 * Random interleavings of commands and faults, compared with a sequential model: R1 to R6, C1 to C4, O1, O2, J1 to J4. A failing case
 * prints its seed and its shortest form; FAST_CHECK_SEED repeats it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { colocatedId, shardOf } from '../../src/cluster/address.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** All actors except `c` are on one shard. */
const actor = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('add' as const), actor, n: fc.integer({ min: 1, max: 9 }), account: fc.constantFrom('x', 'y') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('once' as const), actor, command: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expect' as const), actor, right: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fail' as const), actor, how: fc.constantFrom('refuse' as const, 'throw' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('bad' as const), actor }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('query' as const), actor }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), actor, to: actor, count: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('sendColocated' as const),
      among: fc.constantFrom(['a', 'b'], ['b', 'a'], ['a', 'b', 'd'], ['d', 'a']),
      goes: fc.constantFrom('well' as const, 'well' as const, 'well' as const, 'refuse' as const, 'throw' as const, 'bad' as const),
      once: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('defer' as const), actor }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('timer' as const), actor }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('turn the loop' as const), times: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('passivate' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('steal' as const), actor }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The expected state of one actor. */
type Model = {
  value: number;
  acknowledged: number;
  received: Map<string, number[]>;
  timers: string[];
  once: Map<number, number>;
  colocated: number[];
};

let runs = 0;

async function play(node: TestRuntime, proxy: TcpProxy, steps: Step[]): Promise<void> {
  const run = `r${++runs}`;
  const ids = new Map<string, string>();
  for (const name of ['a', 'b', 'c', 'd']) {
    const seed = `${run} ${name} ${'0'.repeat(16)}`;
    ids.set(name, name === 'c' ? seed : colocatedId(seed, 'probe', { kind: 'probe', id: `${run} first` }));
  }
  const id = (name: string) => ids.get(name)!;
  const account = (name: string) => `${run} ${name}`;
  const models = new Map<string, Model>();
  const model = (name: string): Model => {
    const known = models.get(name) ?? { value: 0, acknowledged: 0, received: new Map(), timers: [], once: new Map(), colocated: [] };
    models.set(name, known);
    return known;
  };
  const checks: Promise<void>[] = [];
  const collect = (checked: Promise<void>) => {
    checked.catch(() => {});
    checks.push(checked);
  };
  const check = (answer: Promise<unknown>, expected: unknown, onAnswer: () => void = () => {}) =>
    collect(
      outcomeOf(answer).then((outcome) => {
        assert.deepEqual(outcome, expected);
        onAnswer();
      }),
    );
  const events = { x: [] as string[], y: [] as string[] };
  let unique = 0;
  const options = () => ({ deadlineMs: Date.now() + 30_000 });

  for (const step of steps) {
    const { actors } = node;
    if (step.do === 'add') {
      const state = model(step.actor);
      const sum = (state.value += step.n);
      events[step.account as 'x' | 'y'].push(`${id(step.actor)}=${sum}`);
      const input = { n: step.n, account: account(step.account) };
      check(
        actors.ask(probe, id(step.actor), 'add', input, options()),
        sum,
        () => (state.acknowledged = Math.max(state.acknowledged, sum)),
      );
    } else if (step.do === 'once') {
      // Looked up before its turn, so it may be overtaken: it adds nothing to the sum, but must be consumed once.
      const state = model(step.actor);
      const commandId = `${run} ${step.actor} ${step.command}`;
      state.once.set(step.command, 1);
      check(actors.ask(probe, id(step.actor), 'receive', { once: step.command }, { ...options(), commandId }), null);
    } else if (step.do === 'expect') {
      const { value } = model(step.actor);
      const expected = step.right ? value : value + 1;
      check(actors.ask(probe, id(step.actor), 'expect', { value: expected }, options()), step.right ? value : { refused: 'conflict' });
    } else if (step.do === 'fail') {
      check(actors.ask(probe, id(step.actor), 'addAndFail', { n: 1, how: step.how }, options()), {
        refused: step.how === 'refuse' ? 'conflict' : 'internal',
      });
    } else if (step.do === 'bad') {
      check(actors.ask(probe, id(step.actor), 'put', { value: 2_000_000 }, options()), { refused: 'internal' });
    } else if (step.do === 'query') {
      const state = model(step.actor);
      const { acknowledged, value } = state;
      const answer = actors.query(probe, id(step.actor), 'state', null);
      const readCounter = (seen: number) =>
        assert.ok(seen >= acknowledged && seen <= model(step.actor).value, `${acknowledged} <= ${seen} <= ${value}`);
      if (answer instanceof Promise) collect(answer.then((found) => readCounter(found?.value ?? 0)));
      else readCounter(answer?.value ?? 0);
    } else if (step.do === 'send') {
      const inputs = Array.from({ length: step.count }, () => ({ from: step.actor, number: ++unique }));
      const { received } = model(step.to);
      received.set(step.actor, [...(received.get(step.actor) ?? []), ...inputs.map(({ number }) => number)]);
      check(actors.ask(probe, id(step.actor), 'send', { to: id(step.to), inputs }, options()), null);
    } else if (step.do === 'sendColocated') {
      const { among, goes } = step;
      const [asked, ...others] = among.map(id) as [string, ...string[]];
      const input = { colocated: ++unique, ...(goes === 'bad' && { overflow: true }) };
      const commandId = step.once ? `${run} colocated ${unique}` : undefined;
      const asking = outcomeOf(
        actors.ask(
          probe,
          asked,
          'sendColocated',
          { to: others, input, ...(goes === 'refuse' || goes === 'throw' ? { how: goes } : {}) },
          { ...options(), commandId },
        ),
      );
      if (goes === 'well') for (const name of among) model(name).colocated.push(unique);
      const expected = goes === 'well' ? 'array' : goes === 'refuse' ? 'conflict' : 'internal';
      collect(asking.then((answer: any) => assert.equal(Array.isArray(answer) ? 'array' : answer.refused, expected)));
    } else if (step.do === 'defer') {
      const key = `k${++unique}`;
      check(actors.ask(probe, id(step.actor), 'defer', { key, n: 0 }, options()), { key });
      check(actors.ask(probe, id(step.actor), 'answer', { key, reply: { key } }, options()), null);
    } else if (step.do === 'timer') {
      const name = `t${++unique}`;
      model(step.actor).timers.push(name);
      check(actors.ask(probe, id(step.actor), 'wake', { name, dueMs: Date.now() }, options()), null);
    } else if (step.do === 'turn the loop') {
      for (let i = 0; i < step.times; i++) await new Promise((resolve) => setImmediate(resolve));
    } else if (step.do === 'passivate') {
      for (const activation of actors.kinds.get('probe')!.activations.values()) actors.passivate(activation);
    } else if (step.do === 'cut') proxy.cut(/^troupe commit/);
    else if (step.do === 'steal') {
      // While a shard is not owned, asks wait and may overtake each other: each is answered once, in any order.
      await Promise.all(checks);
      const state = model(step.actor);
      await node.sql(`update shard set epoch = epoch + 1, owner = 'thief' where shard = $1`, [shardOf('probe', id(step.actor))]);
      const asked = Array.from({ length: 6 }, () => actors.ask(probe, id(step.actor), 'add', { n: 1, account: account('x') }, options()));
      const sums = asked.map(() => ++state.value);
      events.x.push(...sums.map((sum) => `${id(step.actor)}=${sum}`));
      check(
        Promise.all(asked).then((replies) => replies.sort((a, b) => a - b)),
        sums,
      );
      await Promise.all(checks);
    } else await node.restart();
  }
  await Promise.all(checks);

  const receivedOf = async (name: string) =>
    (await node.actors.query(probe, id(name), 'state', null))?.received as (
      | { from: string; number: number }
      | { once: number }
      | { colocated: number }
      | string
    )[];
  for (const [name, { value, received, timers, once, colocated }] of models) {
    const total = [...received.values()].flat().length + timers.length + once.size + colocated.length;
    await until(async () => ((await receivedOf(name)) ?? []).length >= total, `${name} to receive ${total}`);
    const all = (await receivedOf(name)) ?? [];
    assert.equal(all.length, total, 'nothing twice');
    for (const [from, numbers] of received)
      assert.deepEqual(
        all.flatMap((input) => (typeof input === 'object' && 'from' in input && input.from === from ? [input.number] : [])),
        numbers,
      );
    const colocatedNumbers = all.flatMap((input) => (typeof input === 'object' && 'colocated' in input ? [input.colocated] : []));
    assert.deepEqual(colocatedNumbers.sort(), colocated.sort(), 'each of them, or none');
    assert.deepEqual(all.filter((input) => typeof input === 'string').sort(), [...timers].sort());
    const [row] = await node.sql('select value, received from probe where id = $1', [id(name)]);
    assert.equal(row?.value ?? 0, value);
    assert.deepEqual(row?.received ?? [], all);
  }
  for (const name of ['x', 'y'] as const) {
    const rows = await node.sql('select seq::int, id, data from event where account_id = $1 order by seq', [account(name)]);
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, i) => i + 1),
      'no gap',
    );
    assert.deepEqual(rows.map(({ data }) => `${data.id}=${data.value}`).sort(), [...events[name]].sort());
    const published = node.events.filter(({ accountId }) => accountId === account(name)).map(({ seq, id }) => ({ seq, id }));
    assert.deepEqual(
      published,
      rows.map(({ seq, id }) => ({ seq, id })),
      'published once, in order, under the true numbers',
    );
  }
  const [left] = await node.sql(
    'select (select count(*)::int from message) as messages, (select count(*)::int from timer) as timers, (select count(*)::int from dead_letter) as dead, (select count(*)::int from probe_note) as notes',
  );
  assert.deepEqual(left, { messages: 0, timers: 0, dead: 0, notes: 0 });
}

/** Batches are sent when the loop turns, or already between two turns of one tick. */
const batches = [
  { maxBatchTurns: 1 },
  { maxBatchTurns: 2, earlyAfterMs: 0 },
  { maxBatchTurns: 5 },
  { maxBatchTurns: 2_000 },
  { maxBatchTurns: 2_000, earlyAfterMs: 0 },
];
for (const batch of batches) {
  test(`after any sequence of commands and faults, actors have the state of the model: ${JSON.stringify(batch)}`, async (t) => {
    let proxy!: TcpProxy;
    const via = async (url: string) => {
      proxy = await TcpProxy.before(url);
      return proxy.url;
    };
    const node = await testRuntime([probeActor], { ...probeOptions, ...batch, via, outbox: { sweepIntervalMs: 20 } });
    t.after(async () => {
      await node.close();
      await proxy.close();
    });
    const seed = Number(process.env.FAST_CHECK_SEED ?? Date.now() % 2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const steps = fc.array(step, { minLength: 5, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, (list) => play(node, proxy, list)),
      { seed, numRuns: Number(process.env.FAST_CHECK_RUNS ?? 25), endOnFailure: true, includeErrorInReport: true },
    );
  });
}
