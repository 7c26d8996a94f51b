/** Guarantees of the runtime while shards move between nodes. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { TestNode } from '../support/cluster-nodes.ts';
import { probeIdIn, testCluster } from '../support/cluster-nodes.ts';
import { Link } from '../support/link.ts';
import { effects, probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { outcomeOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis };

/** Two nodes, and an actor of each. */
async function twoNodes(t: TestContext) {
  const cluster = await testCluster(t);
  const a = await cluster.join('a');
  const { hostname, port } = new URL(cluster.url);
  /** Between b and PostgreSQL. */
  const link = await Link.to({ host: hostname, port: Number(port) });
  t.after(() => link.close());
  const b = await cluster.join('b', { databaseUrl: link.through(cluster.url) });
  await cluster.settled();
  const onA = probeIdIn((shard) => a.placement.epochOf(shard) !== null);
  const onB = probeIdIn((shard) => b.placement.epochOf(shard) !== null);
  return { cluster, a, b, link, onA, onB };
}

/** Replaces an effect of the probe until the test ends. Each run waits until the test finishes it. */
function heldEffect(t: TestContext, name: 'work' | 'mail') {
  const runs: { effectId: string; finish(value: unknown): void; signal: AbortSignal }[] = [];
  const before = effects[name];
  effects[name] = (_input, { effectId, signal }) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    runs.push({ effectId, finish: resolve, signal });
    return promise;
  };
  t.after(() => {
    effects[name] = before;
    for (const run of runs) run.finish(null);
  });
  return runs;
}

async function received(node: TestNode, id: string): Promise<unknown[]> {
  return (await node.actors.query(probe, id, 'state', null))?.received ?? [];
}

for (const effect of ['work', 'mail'] as const) {
  test(`an effect (${effect}) that runs while its actor moves ends on the node where it started, and runs once`, options, async (t) => {
    const { cluster, a, b, onA } = await twoNodes(t);
    const runs = heldEffect(t, effect);
    await a.actors.ask(probe, onA, 'begin', { effect, input: {} });
    await until(() => runs.length === 1, 'the effect to run');
    await a.placement.leave(10_000);
    await until(() => b.owned().length === 1024, 'b to own everything');
    await b.actors.ask(probe, onA, 'touch', null);
    runs[0]!.finish('result');
    await until(async () => (await received(b, onA)).length === 1, 'the outcome');
    assert.deepEqual(await received(b, onA), [{ kind: 'done', value: 'result' }]);
    assert.equal(runs.length, 1);
    assert.deepEqual(await cluster.sql('select id from effect'), []);
  });
}

test('a repeatable effect of a killed node runs again at the new owner; another one is unknown', options, async (t) => {
  const { cluster, a, b, onA } = await twoNodes(t);
  const work = heldEffect(t, 'work');
  const mail = heldEffect(t, 'mail');
  await a.actors.ask(probe, onA, 'begin', { effect: 'work', input: {} });
  await a.actors.ask(probe, onA, 'begin', { effect: 'mail', input: {} });
  await until(() => work.length === 1 && mail.length === 1, 'both to run');
  await a.kill();
  await until(() => work.length === 2, 'the work to run again');
  const counted = await cluster.sql(`select starts from effect where name = 'work'`);
  assert.deepEqual(counted, [{ starts: 1 }], 'it is counted before it begins (E5)');
  work[1]!.finish('again');
  await until(async () => (await received(b, onA)).length === 2, 'both outcomes');
  const kinds = (await received(b, onA)).map((outcome) => (outcome as { kind: string }).kind).sort();
  assert.deepEqual(kinds, ['done', 'unknown']);
  assert.equal(mail.length, 1);
  assert.equal(work[1]!.effectId, work[0]!.effectId);
  assert.deepEqual(await cluster.sql('select id from effect'), []);
});

test("an effect of a moved actor whose node dies runs again at the actor's new owner", options, async (t) => {
  const { cluster, a, b, onA } = await twoNodes(t);
  const runs = heldEffect(t, 'work');
  await a.actors.ask(probe, onA, 'begin', { effect: 'work', input: {} });
  await until(() => runs.length === 1, 'the effect to run');
  await a.placement.leave(10_000);
  await until(() => b.owned().length === 1024, 'b to own everything');
  assert.deepEqual(await cluster.sql('select starts from effect'), [{ starts: 0 }], 'a move counts nothing (E5)');
  await a.kill();
  await until(() => runs.length === 2, 'it to run again');
  runs[1]!.finish('second');
  await until(async () => (await received(b, onA)).length === 1, 'the outcome');
  assert.deepEqual(await cluster.sql('select id from effect'), []);
});

test('messages reach actors of other nodes in the order in which they were sent, although frames are lost', options, async (t) => {
  const { cluster, a, b, onA, onB } = await twoNodes(t);
  const all: number[] = [];
  for (let round = 0; round < 30; round++) {
    if (round === 10) cluster.links.harm(a.incarnation, b.incarnation, 'cut');
    if (round === 20) cluster.links.heal(a.incarnation, b.incarnation);
    const inputs = [round * 3, round * 3 + 1, round * 3 + 2];
    all.push(...inputs);
    await a.actors.ask(probe, onA, 'send', { to: onB, inputs });
  }
  await until(async () => (await received(b, onB)).length === all.length, 'all messages');
  assert.deepEqual(await received(b, onB), all);
  assert.deepEqual(await cluster.sql('select id from message'), []);
});

test('messages sent while their receiver moves are each consumed once', options, async (t) => {
  const { cluster, a, b, onA, onB } = await twoNodes(t);
  let sent = 0;
  let stop = false;
  const sending = (async () => {
    while (!stop) await a.actors.ask(probe, onA, 'send', { to: onB, inputs: [sent++] });
  })();
  await until(() => sent > 20, 'some to be sent');
  await b.leave();
  const reached = sent;
  await until(() => sent > reached + 20, 'some more to be sent');
  stop = true;
  await sending;
  await until(async () => (await received(a, onB)).length >= sent, 'all messages');
  assert.deepEqual(
    [...(await received(a, onB))].sort((x, y) => Number(x) - Number(y)),
    Array.from({ length: sent }, (_, n) => n),
  );
  assert.deepEqual(await cluster.sql('select id from message'), []);
});

for (const commandId of [undefined, 'command'])
  test(
    `a caller that waits for a later turn is answered after the actor has moved to the caller's node (${commandId ?? 'no'} id)`,
    options,
    async (t) => {
      const { a, b, onB } = await twoNodes(t);
      const waiting = a.actors.ask(probe, onB, 'defer', { key: 'k', n: 1 }, { commandId, timeoutMs: 60_000 });
      await until(async () => (await a.actors.query(probe, onB, 'state', null))?.value === 1, 'the first turn');
      await b.placement.leave(10_000);
      await until(async () => (await a.actors.query(probe, onB, 'state', null))?.value === 2, 'the turn at the new node');
      await a.actors.ask(probe, onB, 'answer', { key: 'k', reply: 'at last' });
      assert.equal(await waiting, 'at last');
    },
  );

test('a caller whose turn is being committed while its actor is lost waits for the later turn at the new owner', options, async (t) => {
  const { cluster, a, b, link, onB } = await twoNodes(t);
  const value = async () => (await a.actors.query(probe, onB, 'state', null))?.value;
  await b.actors.ask(probe, onB, 'add', { n: 10 });
  const heal = link.silence(undefined, ['to dialler']);
  const waiting = b.actors.ask(probe, onB, 'defer', { key: 'k', n: 1 }, { timeoutMs: 60_000 });
  const stored = () => cluster.sql('select value from probe where id = $1', [onB]);
  await until(async () => (await stored())[0].value === 11, 'the commit');
  await until(() => a.owned().length === 1024, 'a to own everything');
  heal();
  await until(async () => (await value()) === 12, 'the turn at the new owner');
  await a.actors.ask(probe, onB, 'answer', { key: 'k', reply: 'at last' });
  assert.equal(await waiting, 'at last');
});

test('a try that the earlier owner forwards after the new owner refused the caller is refused too', options, async (t) => {
  const { cluster, a, b, onB } = await twoNodes(t);
  const value = async () => (await a.actors.query(probe, onB, 'state', null))?.value;
  const waiting = outcomeOf(a.actors.ask(probe, onB, 'defer', { key: 'k', n: 1 }, { commandId: 'command', timeoutMs: 60_000 }));
  await until(async () => (await value()) === 1, 'the first turn');
  cluster.links.harm(a.incarnation, b.incarnation, 'cut');
  void b.placement.leave(10_000);
  await until(async () => (await value()) === 2, 'the turn at the new owner');
  assert.equal(b.actors.pending.size, 1, 'the earlier owner still has the first try, and queries for the new owner');
  await a.actors.ask(probe, onB, 'answer', { key: 'k', reply: null, refuse: true });
  assert.deepEqual(await waiting, { refused: 'conflict' });
  cluster.links.heal(a.incarnation, b.incarnation);
  await until(async () => b.actors.pending.size === 0 || (await value()) !== 2, 'the first try to be answered');
  assert.equal(await value(), 2);
});

test('timers of a dead node fire at the new owner, once', options, async (t) => {
  const { cluster, a, b, onA } = await twoNodes(t);
  await a.actors.ask(probe, onA, 'wake', { name: 'soon', dueMs: Date.now() + 300 });
  await a.kill();
  await until(async () => (await received(b, onA)).length > 0, 'the timer to fire');
  await cluster.settled();
  assert.deepEqual(await received(b, onA), ['soon']);
  assert.deepEqual(await cluster.sql('select name from timer'), []);
});

test('a command with an id that is asked on every node at once, while its actor moves, takes effect once', options, async (t) => {
  const { cluster, a, b, onB } = await twoNodes(t);
  const asked: Promise<number>[] = [];
  const leaving = b.placement.leave(10_000);
  for (let n = 0; n < 50; n++) {
    for (const node of [a, b]) asked.push(node.actors.ask(probe, onB, 'add', { n: 1 }, { commandId: `command-${n}`, timeoutMs: 60_000 }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await leaving;
  const replies = await Promise.all(asked);
  for (let n = 0; n < 50; n++) assert.equal(replies[2 * n], replies[2 * n + 1]);
  assert.deepEqual(await cluster.sql('select value from probe where id = $1', [onB]), [{ value: 50 }]);
});
