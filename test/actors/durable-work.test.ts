/** Messages, effects, timers and command ids: each takes effect once, through crashes, restarts and lost answers (G4, G6, E1-E3, T1, O1, O2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { EarlyWork } from '../../src/actors/early-work.ts';
import { newEnvelope } from '../../src/actors/envelope.ts';
import { NotYet } from '../../src/actors/not-yet.ts';
import { monotonicMs } from '../../src/clock.ts';
import { noLog } from '../../src/log.ts';
import { effects, probe, probeActor, probeOptions, receiving } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import type { Scope } from '../support/scope.ts';
import { until } from '../support/until.ts';

async function start(t: Scope, options: object = {}): Promise<TestRuntime> {
  const node = await testRuntime([probeActor], { ...probeOptions, ...options });
  t.after(() => node.close());
  return node;
}

const received = async (node: TestRuntime, id: string) => (await node.actors.query(probe, id, 'state', null))?.received ?? [];
const count = async (node: TestRuntime, table: string) => (await node.sql(`select count(*)::int as n from ${table}`))[0].n;

test('messages of one actor to another arrive once, in order, whatever their contents', async (t) => {
  const node = await start(t);
  const inputs: unknown[] = [
    null,
    '',
    'nul\0',
    '\x1d\x1e',
    '\ud800',
    '"\\\'{},NULL',
    '\u{1f600}',
    { a: [null, { '\0': 1 }] },
    0,
    false,
    [],
  ];
  for (let i = 0; i < 30; i++) void node.actors.ask(probe, 'sender', 'send', { to: 'receiver', inputs: [i, i + 0.5] });
  await node.actors.ask(probe, 'sender', 'send', { to: 'receiver', inputs });
  await until(async () => (await received(node, 'receiver')).length === 60 + inputs.length, 'all messages');
  assert.deepEqual(await received(node, 'receiver'), [...Array.from({ length: 60 }, (_, i) => i / 2), ...inputs]);
  assert.equal(await count(node, 'message'), 0);
  await node.restart();
  assert.deepEqual(await received(node, 'receiver'), [...Array.from({ length: 60 }, (_, i) => i / 2), ...inputs]);
});

test('messages survive crashes: each is consumed once and in order', async (t) => {
  const node = await start(t, { maxBatchTurns: 3 });
  for (let round = 0; round < 4; round++) {
    const asks = Array.from({ length: 25 }, (_, i) => node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [round * 25 + i] }));
    // During the work: some asks are committed and some messages delivered, others are not.
    await asks[8 + round];
    for (const ask of asks) void ask.catch(() => {});
    await node.crashAndRestart();
  }
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['end'] });
  await until(async () => (await received(node, 'r')).includes('end'), 'the last message');
  const numbers = (await received(node, 'r')).slice(0, -1) as number[];
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
    'once, in order',
  );
  for (let round = 0; round < 4; round++)
    for (let i = 0; i <= 8 + round; i++) assert.ok(numbers.includes(round * 25 + i), 'none that was acknowledged is missing');
});

test('messages for full mailboxes wait in the database and keep their order', async (t) => {
  const node = await start(t, { outbox: { maxInFlight: 3, sweepIntervalMs: 10 } });
  const inputs = Array.from({ length: 40 }, (_, i) => i);
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: inputs.slice(0, 20) });
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: inputs.slice(20) });
  await until(async () => (await received(node, 'r')).length === 40, 'all messages');
  assert.deepEqual(await received(node, 'r'), inputs);
});

for (const poison of ['throw', 'overflow']) {
  test(`a message that fails repeatedly (${poison}) becomes a dead letter and delays no other; a refused message is consumed`, async (t) => {
    const node = await start(t);
    await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [1, poison, 2, 'refuse', 3] });
    await until(async () => (await received(node, 'r')).length === 3, 'its neighbours');
    assert.deepEqual(await received(node, 'r'), [1, 2, 3]);
    await until(async () => (await count(node, 'dead_letter')) === 1, 'the dead letter');
    const [letter] = await node.sql('select kind, actor_id, command, input from dead_letter');
    assert.deepEqual(letter, { kind: 'probe', actor_id: 'r', command: 'receive', input: poison });
    assert.equal(await count(node, 'message'), 0);
    assert.equal(await node.actors.ask(probe, 'r', 'add', { n: 1 }), 1);
  });
}

/** While this is true, messages to the probe arrive too early. */
function tooEarly(t: Scope, isEarly: (input: unknown) => boolean): void {
  receiving.before = (input) => {
    if (isEarly(input)) throw new NotYet('What it needs has not come');
  };
  t.after(() => (receiving.before = () => {}));
}

test('a message that arrives before its dependency is retried until the dependency arrives and does not become a dead letter', async (t) => {
  const node = await start(t);
  let isThere = false;
  tooEarly(t, (input) => input === 'early' && !isThere);
  const { earlyWork } = node.runtime.actors.completion;
  const tries = () => earlyWork.tries.read()[0]?.value ?? 0;
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['early', 'behind it'] });
  await node.actors.ask(probe, 'other', 'send', { to: 'r', inputs: ['of another'] });
  await until(async () => tries() >= 5 && (await received(node, 'r')).length > 0, 'more tries than a message with a fault has');
  assert.deepEqual(await received(node, 'r'), ['of another']);
  assert.deepEqual(earlyWork.tries.read(), [{ labels: { kind: 'probe', command: 'receive' }, value: tries() }]);
  assert.equal(earlyWork.size.count, 1);
  assert.deepEqual(await outcomeOf(node.actors.ask(probe, 'r', 'receive', 'early')), { refused: 'unavailable' });
  isThere = true;
  await until(async () => (await received(node, 'r')).length === 3, 'the message');
  assert.deepEqual(await received(node, 'r'), ['of another', 'early', 'behind it']);
  assert.deepEqual([await count(node, 'dead_letter'), await count(node, 'message'), earlyWork.size.count, node.errors], [0, 0, 0, []]);
});

test('a message whose dependency does not arrive within ten minutes becomes a dead letter, and later messages continue', async (t) => {
  const node = await start(t);
  let nowMs = 0;
  const early = new EarlyWork(noLog, () => nowMs);
  Object.assign(node.runtime.actors.completion, { earlyWork: early });
  tooEarly(t, (input) => input === 'early');
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['early', 'behind it'] });
  await until(() => early.size.count === 1, 'the first try');
  nowMs = 599_000;
  assert.equal(early.size.oldestS, 599);
  nowMs = 600_000;
  await until(async () => (await received(node, 'r')).length === 1, 'the one behind it');
  const letters = await node.sql('select command, input, attempts, error from dead_letter');
  assert.deepEqual(letters, [{ command: 'receive', input: 'early', attempts: 2, error: 'NotYet: What it needs has not come' }]);
  assert.equal(early.size.count, 0);
});

test('messages that arrive too early are retried with pauses from 0.1 to 30 s', () => {
  let nowMs = 0;
  const early = new EarlyWork(noLog, () => nowMs);
  const envelope = newEnvelope('receive', null, Infinity, null);
  const pauses: number[] = [];
  for (;;) {
    const pauseMs = early.pauseMs(envelope, new NotYet('early'), { kind: 'probe', id: 'r', command: 'receive' });
    if (pauseMs === null) break;
    pauses.push(pauseMs);
    nowMs += pauseMs;
  }
  assert.deepEqual(pauses.slice(0, 6), [100, 100, 200, 400, 800, 1_600]);
  assert.equal(Math.max(...pauses), 30_000);
  assert.ok(nowMs >= 600_000 && nowMs < 630_000);
  assert.equal(envelope.failures, pauses.length + 1);
});

/** Makes PostgreSQL refuse the rows of `table` that `condition` names, with an SQLSTATE, until the returned function is called. */
async function refuseRows(node: TestRuntime, table: string, condition: string, sqlState: string): Promise<() => Promise<unknown>> {
  const name = `refuse_${table}_${sqlState.toLowerCase()}`;
  await node.sql(`create function ${name}() returns trigger language plpgsql as
    $$ begin raise exception 'refused on purpose' using errcode = '${sqlState}'; end $$`);
  await node.sql(`create trigger ${name} before insert or update on ${table} for each row when (${condition}) execute function ${name}()`);
  return () => node.sql(`drop function ${name} cascade`);
}

test("a message that PostgreSQL refuses without the message's fault is consumed after the fault and does not become a dead letter", async (t) => {
  const node = await start(t);
  // The error of a failing disk.
  const heal = await refuseRows(node, 'probe', `new.id = 'r'`, '58030');
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [1] });
  await node.actors.ask(probe, 's', 'send', { to: 'well', inputs: [1] });
  await until(async () => (await received(node, 'well')).length === 1, 'the neighbour of the one that is refused');
  const { refusedWork } = node.runtime.actors.completion;
  const tries = () => refusedWork.retries.read()[0]?.value ?? 0;
  await until(() => tries() >= 3, 'as many tries as a message with a fault has');
  assert.deepEqual(refusedWork.retries.read(), [{ labels: { source: 'message', code: '58030' }, value: tries() }]);
  assert.equal(refusedWork.size.count, 1);
  assert.ok(refusedWork.size.oldestS > 0.5);
  await heal();
  await until(async () => (await received(node, 'r')).length === 1, 'the message');
  assert.deepEqual([await count(node, 'dead_letter'), await count(node, 'message'), refusedWork.size.count], [0, 0, 0]);
});

test('an outcome that another node delivers repeatedly while PostgreSQL refuses it is held once', async (t) => {
  const node = await start(t);
  effects.mail = () => new Promise(() => {});
  const effectId = await node.actors.ask(probe, 'a', 'begin', { effect: 'mail', input: {} });
  const heal = await refuseRows(node, 'probe', 'true', '58030');
  const input = { effectId, outcome: { kind: 'done', value: 'sent' }, tookMs: 1 };
  const from = { query: false, repeat: false, deadlineMs: monotonicMs() + 10_000, commandId: null, effectId, trace: null };
  const bring = () => node.actors.answer({ kind: 'probe', id: 'a', name: 'ended', input, ...from });
  const brought = [bring(), bring()];
  const { refusedWork } = node.runtime.actors.completion;
  await until(() => refusedWork.size.count > 0, 'the refusal');
  brought.push(bring());
  await until(() => (refusedWork.retries.read()[0]?.value ?? 0) >= 3, 'some tries');
  assert.equal(refusedWork.size.count, 1);
  await heal();
  assert.deepEqual(await Promise.all(brought), [null, null, null]);
  assert.deepEqual([await received(node, 'a'), await count(node, 'effect')], [[input.outcome], 0]);
});

test('if the dead letter of some work is refused, the dead letter is retried with growing pauses, and the command does not run again', async (t) => {
  const node = await start(t);
  const heal = await refuseRows(node, 'dead_letter', 'true', '23514');
  effects.work = async () => 'poison';
  await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['throw'] });
  const { refusedWork } = node.runtime.actors.completion;
  const tries = () => refusedWork.retries.read().map(({ labels, value }) => [labels!.source, labels!.code, value]);
  await until(() => refusedWork.size.oldestS > 2, 'two seconds of refusals');
  // After 0, 0.25, 0.5, 1 and 2 s.
  for (const [, code, value] of tries()) assert.ok(code === '23514' && (value as number) >= 3 && (value as number) <= 5, `${tries()}`);
  assert.equal(tries().length, 2);
  await heal();
  await until(async () => (await count(node, 'dead_letter')) === 2, 'both letters');
  assert.deepEqual([await count(node, 'effect'), await count(node, 'message')], [0, 0]);
  const thrown = node.errors.filter(({ message }) => message.startsWith('a command threw'));
  assert.equal(thrown.length, 6);
});

test('a command with an id takes effect once: asked concurrently, repeatedly, after a restart and after a crash', async (t) => {
  const node = await start(t);
  const ask = () => node.actors.ask(probe, 'a', 'add', { n: 1 }, { commandId: 'once' });
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
  await node.actors.ask(probe, 'a', 'add', { n: 10 });
  assert.equal(await ask(), 1);
  await node.restart();
  assert.equal(await ask(), 1);
  await node.crashAndRestart();
  assert.equal(await ask(), 1);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 11);
  assert.equal(await count(node, 'event'), 2);
});

test('a refusal of a command with an id is not recorded: a repeat runs again', async (t) => {
  const node = await start(t);
  const ask = () => outcomeOf(node.actors.ask(probe, 'a', 'expect', { value: 5 }, { commandId: 'later' }));
  assert.deepEqual(await ask(), { refused: 'conflict' });
  await node.actors.ask(probe, 'a', 'add', { n: 5 });
  assert.equal(await ask(), 5);
});

test('a command with an id whose caller has stopped waiting takes effect once, and its repeat gets the first reply', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(/^troupe commit/, 'to client');
  const ask = (timeoutMs?: number) => node.actors.ask(probe, 'a', 'add', { n: 1 }, { commandId: 'c', timeoutMs });
  assert.deepEqual(await outcomeOf(ask(3_000)), { refused: 'outcome_unknown' });
  // Its commit is still in flight: the repeat must not take effect as well.
  const repeat = ask();
  held.release();
  assert.equal(await repeat, 2);
  const lost = proxy.hold(/^troupe commit/, 'to client');
  const other = node.actors.ask(probe, 'b', 'add', { n: 3 }, { commandId: 'd' });
  await lost.arrived;
  lost.drop();
  proxy.cut(/^troupe commit/);
  assert.equal(await other, 3);
  assert.equal(await node.actors.ask(probe, 'b', 'add', { n: 3 }, { commandId: 'd' }), 3);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 2);
  assert.equal(await count(node, 'event'), 3);
});

test('a repeat waits for the commit of the first try and gets its reply, not a refusal caused by the first', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  await node.actors.ask(probe, 'warm', 'add', { n: 1 });
  const held = proxy.hold(/^troupe commit/, 'to server');
  const ask = (id: string, timeoutMs?: number) =>
    outcomeOf(node.actors.ask(probe, id, 'create', { n: 7 }, { commandId: `create ${id}`, timeoutMs }));
  const defer = (timeoutMs?: number) =>
    outcomeOf(node.actors.ask(probe, 'warm', 'defer', { key: 'k', n: 1 }, { commandId: 'deferred', timeoutMs }));
  assert.deepEqual(await Promise.all([ask('a', 3_000), ask('b', 3_000)]), [{ refused: 'outcome_unknown' }, { refused: 'outcome_unknown' }]);
  assert.deepEqual(await ask('a', 100), { refused: 'outcome_unknown' }, 'a repeat that waits in vain does not know either');
  const repeats = [ask('a'), ask('a'), ask('b')];
  held.release();
  assert.deepEqual(await Promise.all(repeats), [7, 7, 7]);

  // The same with a deferred reply: the repeat waits for the commit of the turn that replies.
  const first = defer(3_000);
  await until(async () => (await node.actors.query(probe, 'warm', 'state', null))?.value === 2, 'the deferring turn');
  const answering = proxy.hold(/^troupe commit/, 'to server');
  const answered = node.actors.ask(probe, 'warm', 'answer', { key: 'k', reply: 'late' });
  assert.deepEqual(await first, { refused: 'outcome_unknown' });
  const repeat = defer();
  answering.release();
  assert.deepEqual([await answered, await repeat], [null, 'late']);
  assert.equal((await node.actors.query(probe, 'warm', 'state', null))?.value, 2);
});

test('a repeat that waits for a commit that fails runs itself', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(/^troupe commit/, 'to server');
  const refused = outcomeOf(node.actors.ask(probe, 'a', 'put', { value: 2_000_000 }));
  await held.arrived;
  const ask = (timeoutMs?: number) => outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1 }, { commandId: 'c', timeoutMs }));
  assert.deepEqual(await ask(2_000), { refused: 'outcome_unknown' });
  const repeat = ask();
  // The first try was based on a turn that the database now refuses, so the first try has no effect.
  held.release();
  assert.deepEqual([await refused, await repeat], [{ refused: 'internal' }, 2]);
  assert.deepEqual(await node.sql(`select value from probe where id = 'a'`), [{ value: 2 }]);
});

test('a deferred reply is kept with its command id', async (t) => {
  const node = await start(t);
  const ask = () => node.actors.ask(probe, 'a', 'defer', { key: 'k', n: 1 }, { commandId: 'c' });
  const first = ask();
  const second = ask();
  await node.actors.ask(probe, 'a', 'add', { n: 0 });
  await until(async () => (await node.actors.query(probe, 'a', 'state', null))?.value === 1, 'the deferring turn');
  await node.actors.ask(probe, 'a', 'answer', { key: 'k', reply: { text: 'late' } });
  assert.deepEqual(await Promise.all([first, second]), [{ text: 'late' }, { text: 'late' }]);
  await node.restart();
  assert.deepEqual(await ask(), { text: 'late' });
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1);
});

test('a deferred caller is still answered after the answering commit fails, and its own turn is not repeated', async (t) => {
  const node = await start(t);
  const waiting = node.actors.ask(probe, 'a', 'defer', { key: 'k', n: 1 });
  await until(async () => (await node.actors.query(probe, 'a', 'state', null))?.value === 1, 'the deferring turn');
  const answered = node.actors.ask(probe, 'a', 'answer', { key: 'k', reply: 'first try' });
  const bad = outcomeOf(node.actors.ask(probe, 'a', 'put', { value: 2_000_000 }));
  assert.deepEqual([await waiting, await answered, await bad], ['first try', null, { refused: 'internal' }]);
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1);
});

test('an effect ends with its outcome: done, refused, failed unexpectedly, unknown, or not storable', async (t) => {
  const node = await start(t);
  const { AppError } = await import('../../src/errors.ts');
  effects.work = async ({ how }) => {
    if (how === 'refuse') throw new AppError('unavailable', 'Closed on Sundays');
    if (how === 'throw') throw new TypeError('secret internals');
    if (how === 'unknown') throw new AppError('outcome_unknown', 'Nobody knows');
    if (how === 'circular') {
      const value: any = {};
      value.self = value;
      return value;
    }
    return { how };
  };
  const inputs = ['done', 'refuse', 'throw', 'unknown', 'circular'];
  for (const how of inputs) {
    await node.actors.ask(probe, how, 'begin', { effect: 'work', input: { how } });
    await until(async () => (await received(node, how)).length === 1, how);
  }
  assert.deepEqual((await Promise.all(inputs.map((how) => received(node, how)))).flat(), [
    { kind: 'done', value: { how: 'done' } },
    { kind: 'failed', message: 'Closed on Sundays' },
    { kind: 'failed', message: 'It failed unexpectedly' },
    { kind: 'unknown' },
    { kind: 'failed', message: 'It failed unexpectedly' },
  ]);
  await until(async () => (await count(node, 'effect')) === 0, 'no effect left');
});

test('an effect that asks an actor while its node stops does not fail: it runs again at the next node', async (t) => {
  const node = await start(t);
  let runs = 0;
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  effects.work = async () => {
    if (++runs > 1) return 'again';
    await gate;
    return node.actors.ask(probe, 'b', 'add', { n: 1 });
  };
  await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  await until(() => runs === 1, 'the first run');
  await node.actors.ask(probe, 'c', 'add', { n: 1 });
  // Keeps the node from stopping at once: its actor is in memory, so its turn begins now.
  const waiting = outcomeOf(node.actors.ask(probe, 'c', 'defer', { key: 'k', n: 1 }, { timeoutMs: 500 }));
  const restarting = node.restart();
  open();
  await restarting;
  await until(async () => (await received(node, 'a')).length === 1, 'the second run');
  assert.deepEqual([await received(node, 'a'), await waiting], [[{ kind: 'done', value: 'again' }], { refused: 'outcome_unknown' }]);
});

test('after a crash a repeatable effect runs again under the same id; another one is unknown; a finished one is not run', async (t) => {
  const node = await start(t);
  const runs: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  effects.work = async ({ name }, { effectId }) => {
    runs.push(`${name} ${effectId}`);
    if (name === 'slow') await gate;
    return name;
  };
  effects.mail = async ({ name }, { effectId }) => {
    runs.push(`${name} ${effectId}`);
    await gate;
    return name;
  };
  const quick = await node.actors.ask(probe, 'quick', 'begin', { effect: 'work', input: { name: 'quick' } });
  await until(async () => (await received(node, 'quick')).length === 1, 'the quick one');
  const slow = await node.actors.ask(probe, 'slow', 'begin', { effect: 'work', input: { name: 'slow' } });
  const mail = await node.actors.ask(probe, 'mail', 'begin', { effect: 'mail', input: { name: 'mail' } });
  await until(() => runs.length === 3, 'both to begin');
  await node.crashAndRestart();
  await until(async () => (await received(node, 'mail')).length === 1, 'the unknown outcome');
  open();
  await until(async () => (await received(node, 'slow')).length === 1, 'the second run');
  assert.deepEqual(runs.sort(), [`mail ${mail}`, `quick ${quick}`, `slow ${slow}`, `slow ${slow}`].sort());
  assert.deepEqual(await received(node, 'mail'), [{ kind: 'unknown' }]);
  assert.deepEqual(await received(node, 'slow'), [{ kind: 'done', value: 'slow' }]);
});

test('a cancelled effect is aborted and its outcome is dropped, even if it ended at the same moment', async (t) => {
  const node = await start(t);
  let aborted = 0;
  let finish: (value: unknown) => void = () => {};
  effects.work = async (_input, { signal }) => {
    signal.addEventListener('abort', () => aborted++);
    return new Promise((resolve) => (finish = resolve));
  };
  const effectId = await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  await until(() => node.runtime.effects.size.running === 1, 'the effect');
  const ended = node.actors.ask(probe, 'a', 'end', { effectId });
  finish('too late');
  await ended;
  await until(() => node.runtime.effects.size.running === 0, 'its place');
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  assert.deepEqual(await received(node, 'a'), []);
  assert.equal(await count(node, 'effect'), 0);
  assert.ok(aborted <= 1);
});

test('more effects than the limit in memory all run once each, a few at a time', async (t) => {
  const node = await start(t, { maxEffectsInFlight: 8, effectLaneLimits: { maxRunning: 3 } });
  const runs: number[] = [];
  let most = 0;
  let now = 0;
  effects.work = async ({ i }) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    runs.push(i);
    return i;
  };
  await Promise.all(Array.from({ length: 120 }, (_, i) => node.actors.ask(probe, `e${i % 7}`, 'begin', { effect: 'work', input: { i } })));
  await until(async () => (await count(node, 'effect')) === 0, 'all effects');
  assert.deepEqual(
    runs.sort((a, b) => a - b),
    Array.from({ length: 120 }, (_, i) => i),
  );
  assert.ok(most <= 3);
});

test('an outcome that its actor cannot process becomes a dead letter, and the effect ends', async (t) => {
  const node = await start(t);
  effects.work = async () => 'poison';
  await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  await until(async () => (await count(node, 'dead_letter')) === 1, 'the dead letter');
  assert.equal(await count(node, 'effect'), 0);
  assert.deepEqual(await received(node, 'a'), []);
});

test('timers fire once when due: moved ones at their new time, cleared ones never, overdue ones after a restart', async (t) => {
  const node = await start(t);
  const wake = (name: string, dueMs: number | null, again?: number) => node.actors.ask(probe, 'a', 'wake', { name, dueMs, again });
  const nowMs = Date.now();
  await wake('far', nowMs + 3_600_000);
  await wake('moved', nowMs + 3_600_000);
  await wake('moved', nowMs + 30);
  await wake('now', nowMs);
  await wake('periodic', nowMs, 3);
  // Timers fire in the order of their times: after `last`, `cleared` would have fired.
  const clearedMs = Date.now() + 2_000;
  await wake('cleared', clearedMs);
  await wake('cleared', null);
  await wake('last', clearedMs + 1);
  await until(async () => (await received(node, 'a')).length === 7, 'the timers');
  assert.deepEqual([...(await received(node, 'a'))].sort(), ['last', 'moved', 'now', 'periodic', 'periodic', 'periodic', 'periodic']);
  assert.deepEqual(await node.sql('select name from timer'), [{ name: 'far' }]);
  await node.restart();
  await node.sql(`update timer set due_at = now() - interval '1 day'`);
  await node.crashAndRestart();
  await until(async () => (await received(node, 'a')).includes('far'), 'the overdue one');
  assert.equal((await received(node, 'a')).length, 8);
  assert.equal(await count(node, 'timer'), 0);
});

test('a timer moved by a turn that fails still fires', async (t) => {
  const node = await start(t);
  const nowMs = Date.now();
  await node.actors.ask(probe, 'a', 'wake', { name: 't', dueMs: nowMs + 50 });
  // The turn that moves the timer fails with its whole commit unit while the timer fires.
  do {
    const moved = outcomeOf(node.actors.ask(probe, 'a', 'wake', { name: 't2', dueMs: null }));
    const bad = outcomeOf(node.actors.ask(probe, 'a', 'put', { value: 2_000_000 }));
    await Promise.all([moved, bad]);
  } while ((await received(node, 'a')).length === 0);
  assert.deepEqual(await received(node, 'a'), ['t']);
  assert.equal(await count(node, 'timer'), 0);
});

test('a clock step forward fires timers that are then due; a step back fires no timer twice', async (t) => {
  let offsetMs = 0;
  const node = await start(t, { clock: { nowMs: () => Date.now() + offsetMs } });
  await node.actors.ask(probe, 'a', 'wake', { name: 'soon', dueMs: Date.now() + 40_000 });
  await node.actors.ask(probe, 'a', 'wake', { name: 'beyond', dueMs: Date.now() + 90_000 });
  offsetMs = 50_000;
  node.runtime.timers.fireDue();
  await until(async () => (await received(node, 'a')).length === 1, 'the first');
  offsetMs = 0;
  node.runtime.timers.fireDue();
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  assert.deepEqual(await received(node, 'a'), ['soon']);
  assert.deepEqual(await node.sql('select name from timer'), [{ name: 'beyond' }]);
});
