/** Turns and their visible results: R1 to R4, G2, G3. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { probe, probeActor, probeOptions, receiving } from '../support/probe-actor.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

let node: TestRuntime;
before(async () => {
  node = await testRuntime([probeActor], probeOptions);
});
after(() => node.close());

test('a command changes its row, numbers its events and is answered', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => node.actors.ask(probe, 'a1', 'add', { n: 1, account: 'one' })));
  assert.deepEqual(
    replies,
    Array.from({ length: 50 }, (_, i) => i + 1),
  );
  assert.equal((await node.actors.query(probe, 'a1', 'state', null))?.value, 50);
  const events = await node.sql(`select seq::int, data->>'value' as value from event where account_id = 'one' order by seq`);
  assert.deepEqual(
    events,
    Array.from({ length: 50 }, (_, i) => ({ seq: i + 1, value: String(i + 1) })),
  );
});

for (const how of ['refuse', 'throw', 'mutate', 'async', 'other id', 'nothing'] as const) {
  test(`a command that fails (${how}) leaves no trace: no state, event, message, effect, timer or row`, async () => {
    const id = `failing ${how}`;
    await node.actors.ask(probe, id, 'add', { n: 7, account: 'failing' });
    const before = await everything();
    const others = [node.actors.ask(probe, id, 'add', { n: 0, account: 'failing' }), node.actors.ask(probe, 'n', 'touch', null)];
    const failed = outcomeOf(node.actors.ask(probe, id, 'addAndFail', { n: 1, how }));
    const next = node.actors.ask(probe, id, 'touch', null);
    assert.deepEqual(await failed, { refused: how === 'refuse' ? 'conflict' : 'internal' });
    assert.equal(await next, 7);
    await Promise.all(others);
    assert.deepEqual(await everything(), { ...before, events: Number(before.events) + 1 });
  });
}

async function everything() {
  const [counts] = await node.sql(
    `select (select count(*)::int from event) as events, (select count(*)::int from message) as messages,
     (select count(*)::int from effect) as effects, (select count(*)::int from timer) as timers, (select count(*)::int from probe_note) as notes,
     (select sum(value)::int from probe where id like 'failing%') as sum`,
  );
  return counts;
}

test('an unknown command, an unknown query and a query that throws are answered and affect no other ask', async () => {
  await node.actors.ask(probe, 'u', 'add', { n: 1 });
  const { actors } = node;
  assert.deepEqual(await outcomeOf(actors.ask(probe, 'u', 'nonsense' as never, {} as never)), { refused: 'internal' });
  assert.deepEqual(await outcomeOf(Promise.resolve().then(() => actors.query(probe, 'u', 'nonsense' as never, {} as never))), {
    refused: 'internal',
  });
  for (const id of ['u', 'u-not-loaded']) {
    const ask = (how: 'refuse' | 'throw') => outcomeOf((async () => actors.query(probe, id, 'fail', { how }))());
    assert.deepEqual(await ask('throw'), { refused: 'internal' });
    assert.deepEqual(await ask('refuse'), { refused: 'not_found' });
  }
  assert.equal(await actors.ask(probe, 'u', 'touch', null), 1);
});

for (const id of ['nul\0id', 'surrogate\ud800', '']) {
  test(`an id that the database cannot store (${JSON.stringify(id)}) is not found, and other ids of the same load are found`, async () => {
    await node.sql(`insert into probe values ('neighbour ' || $1, 3, null, null, '[]', '', '{}')`, [String(id.length)]);
    const [bad, asked, good] = await Promise.all([
      outcomeOf((async () => node.actors.query(probe, id, 'state', null))()),
      outcomeOf(node.actors.ask(probe, id, 'add', { n: 1 })),
      node.actors.query(probe, `neighbour ${id.length}`, 'state', null),
    ]);
    assert.deepEqual(bad, { refused: 'not_found' });
    assert.deepEqual(asked, { refused: 'not_found' });
    assert.equal(good?.value, 3);
  });
}

test('a caller left waiting is answered by a later turn, after that turn is committed', async () => {
  const first = node.actors.ask(probe, 'd', 'defer', { key: 'k', n: 1 });
  const second = node.actors.ask(probe, 'd', 'defer', { key: 'k', n: 1 });
  await node.actors.ask(probe, 'd', 'add', { n: 0 });
  await node.actors.ask(probe, 'd', 'answer', { key: 'k', reply: { accepted: true } });
  assert.deepEqual(await Promise.all([first, second]), [{ accepted: true }, { accepted: true }]);
  const refused = outcomeOf(node.actors.ask(probe, 'd', 'defer', { key: 'r', n: 1 }));
  await node.actors.ask(probe, 'd', 'answer', { key: 'r', reply: null, refuse: true });
  assert.deepEqual(await refused, { refused: 'conflict' });
  assert.equal((await node.actors.query(probe, 'd', 'state', null))?.value, 3);
});

test("an answer committed in the same batch as the waiting turn is not recorded as that turn's own reply", async () => {
  const waiting = node.actors.ask(probe, 'same', 'defer', { key: 'k', n: 1 });
  const answering = node.actors.ask(probe, 'same', 'answer', { key: 'k', reply: 42 });
  assert.deepEqual(await Promise.all([waiting, answering]), [42, null]);
});

test('no later command overtakes an unchanged answer that waits for the confirmation of ownership, even if its actor is passivated', async () => {
  for (let n = 0; n < 10; n++) {
    const id = `unconfirmed ${n}`;
    await node.actors.ask(probe, id, 'add', { n: 6 });
    // Twice as long as a confirmation holds in this test.
    await pause(100);
    const unchanged = outcomeOf(node.actors.ask(probe, id, 'expect', { value: 6 }));
    for (const activation of node.actors.kinds.get('probe')!.activations.values()) node.actors.passivate(activation);
    const later = node.actors.ask(probe, id, 'add', { n: 6 });
    assert.deepEqual([await unchanged, await later], [6, 12]);
  }
});

test('while the turns of one tick take long, the database already commits the first of them', async () => {
  const ids = ['long 1', 'long 2', 'long 3'];
  await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'touch', null)));
  const isSent: boolean[] = [];
  receiving.before = () => {
    isSent.push(node.runtime.commit.sendingSinceMs !== null);
    for (const endMs = performance.now() + 5; performance.now() < endMs; );
  };
  await Promise.all(ids.map((id) => node.actors.ask(probe, id, 'receive', null))).finally(() => (receiving.before = () => {}));
  // The first turn is in the batch from its end on.
  assert.deepEqual(isSent, [false, false, true]);
});

test('an idle activation leaves memory and is loaded again with the same state', async () => {
  await node.actors.ask(probe, 'sleeper', 'put', { text: 'kept', data: { deep: [1, null, 'x'] }, ratio: 0.25 });
  const kind = node.actors.kinds.get('probe')!;
  const before = kind.activations.get('sleeper')!;
  const running = node.actors.ask(probe, 'sleeper', 'add', { n: 1 });
  assert.equal(node.actors.passivate(before), false, 'not while something is uncommitted');
  await running;
  await until(() => node.actors.passivate(before), 'passivation');
  assert.equal(kind.activations.has('sleeper'), false);
  const state = (await node.actors.query(probe, 'sleeper', 'state', null))!;
  assert.deepEqual(
    { ...state },
    { id: 'sleeper', value: 1, name: null, ratio: 0.25, received: [], text: 'kept', data: { deep: [1, null, 'x'] }, accountId: null },
  );
});
