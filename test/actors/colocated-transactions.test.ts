/** Co-located transactions of actors of one shard: J1 to J4, and what callers see while commits are in flight, refused or lost. */

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { colocatedId, shardOf } from '../../src/cluster/address.ts';
import { commerceIds } from '../../src/domains/commerce/ids.ts';
import { newId, steppedId } from '../../src/ids.ts';
import { probe } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import { outcomeOf, type TestRuntime } from '../support/runtime.ts';

const commits = /^troupe commit/;
const first = { kind: 'probe', id: 'first' };
const beside = (name: string) => colocatedId(`${name} 0000000000000000`, 'probe', first);
const [a, b, c] = [beside('a'), beside('b'), beside('c')];

const receivedOf = async (node: TestRuntime, id: string) => (await node.actors.query(probe, id, 'state', null))?.received ?? [];

test('changes of a co-located transaction are committed in one batch, and each actor sees the changes made so far', async (t) => {
  const { node } = await proxiedNode(t);
  assert.deepEqual(await node.actors.ask(probe, a, 'sendColocated', { to: [b, c, b], input: 1 }), [1, 1, 2]);
  const rows = await node.sql('select id, received, xmin::text from probe order by id');
  assert.deepEqual(
    rows.map(({ id, received }) => [id, received]),
    [
      [a, [1]],
      [b, [1, 1]],
      [c, [1]],
    ].sort(([x], [y]) => (x! < y! ? -1 : 1)),
  );
  assert.equal(new Set(rows.map(({ xmin }) => xmin)).size, 1);
});

test('a transaction waits for a participant that must be loaded, and later asks to its first actor wait behind it', async (t) => {
  const { node } = await proxiedNode(t);
  await node.actors.ask(probe, b, 'receive', 'before');
  await node.actors.ask(probe, a, 'receive', 'before');
  for (const activation of node.actors.kinds.get('probe')!.activations.values()) if (activation.id === b) node.actors.passivate(activation);
  const asked = [
    node.actors.ask(probe, a, 'sendColocated', { to: [b], input: 'joint' }),
    node.actors.ask(probe, a, 'receive', 'after'),
    node.actors.ask(probe, b, 'receive', 'after'),
  ];
  await Promise.all(asked);
  assert.deepEqual(await receivedOf(node, a), ['before', 'joint', 'after']);
  assert.deepEqual((await receivedOf(node, b)).toSorted(), ['after', 'before', 'joint']);
  assert.deepEqual(node.errors, []);
});

test('a co-located transaction with an actor of another shard, or with itself, is a defect of the command and changes nothing', async (t) => {
  const { node } = await proxiedNode(t);
  const elsewhere = Array.from({ length: 10 }, (_, n) => `x${n}`).find((id) => shardOf('probe', id) !== shardOf('probe', a))!;
  for (const to of [elsewhere, a]) {
    assert.deepEqual(await outcomeOf(node.actors.ask(probe, a, 'sendColocated', { to: [b, to], input: 1 })), { refused: 'internal' });
    assert.deepEqual([await receivedOf(node, a), await receivedOf(node, b), await receivedOf(node, elsewhere)], [[], [], []]);
  }
  assert.equal(node.errors.length, 2);
});

test('a refusal based on uncommitted state of another actor is answered when that state is committed', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  await Promise.all([a, b].map((id) => node.actors.ask(probe, id, 'receive', 'before')));
  const held = proxy.hold(commits, 'to client');
  let settled = 0;
  const first = node.actors.ask(probe, b, 'receive', 'first').then(() => ++settled);
  const refused = outcomeOf(node.actors.ask(probe, a, 'sendColocated', { to: [b], input: 'no', how: 'refuse' })).then((outcome) => [
    outcome,
    ++settled,
  ]);
  await held.arrived;
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(settled, 0);
  held.release();
  assert.equal(await first, 1);
  assert.deepEqual(await refused, [{ refused: 'conflict' }, 2]);
  assert.deepEqual(await receivedOf(node, a), ['before']);
});

test('an actor that changed separately from the other in an unsent batch joins it in the next batch', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  await Promise.all([a, b].map((id) => node.actors.ask(probe, id, 'receive', 0)));
  const held = proxy.hold(commits, 'to client');
  const asked: Promise<unknown>[] = [node.actors.ask(probe, c, 'receive', 0)];
  await held.arrived;
  asked.push(node.actors.ask(probe, a, 'receive', 1), node.actors.ask(probe, b, 'receive', 1));
  const joint = node.actors.ask(probe, a, 'sendColocated', { to: [b], input: 2 });
  asked.push(node.actors.ask(probe, a, 'receive', 3));
  held.release();
  await Promise.all(asked);
  assert.deepEqual(await joint, [3]);
  assert.deepEqual(await receivedOf(node, a), [0, 1, 2, 3]);
});

test('a refusal of one part by the database refuses the whole transaction, other turns of its actors remain, and a transaction with a defect does not wait', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  const held = proxy.hold(commits, 'to server');
  await Promise.all([a, b, c].map((id) => node.actors.query(probe, id, 'state', null)));
  const blocker = node.actors.ask(probe, 'elsewhere', 'receive', 0);
  await held.arrived;
  // All of them in one unit, so that each must be tried alone, while others continue to ask.
  const bad = outcomeOf(node.actors.ask(probe, a, 'sendColocated', { to: [b], input: { overflow: true } }));
  const good = Array.from({ length: 10 }, (_, n) => node.actors.ask(probe, n % 2 ? a : c, 'sendColocated', { to: [b], input: n }));
  held.release();
  // New asks arrive all the time, without waiting for earlier answers, so `b` is never idle.
  let settled = false;
  const flood = (async () => {
    const asked: Promise<unknown>[] = [];
    while (!settled) {
      asked.push(outcomeOf(node.actors.ask(probe, b, 'add', { n: 1 })));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(asked);
  })();
  assert.deepEqual(await bad, { refused: 'internal' });
  await Promise.all([blocker, ...good]);
  settled = true;
  await flood;
  const received = (await receivedOf(node, b)) as number[];
  assert.deepEqual(
    received.toSorted(),
    good.map((_, n) => n),
  );
  assert.deepEqual([...(await receivedOf(node, a)), ...(await receivedOf(node, c))].toSorted(), received.toSorted());
});

test('a command id takes effect once in a co-located transaction, whatever connection breaks meanwhile', async (t) => {
  const { node, proxy } = await proxiedNode(t);
  for (let n = 0; n < 10; n++) {
    const ask = () => node.actors.ask(probe, a, 'sendColocated', { to: [b], input: n }, { commandId: `joint ${n}` });
    const held = proxy.hold(commits, n % 2 ? 'to server' : 'to client');
    const asked = ask();
    await held.arrived;
    proxy.cut(commits);
    held.drop();
    assert.deepEqual(await asked, [n + 1]);
    assert.deepEqual(await ask(), [n + 1]);
  }
  assert.deepEqual(await receivedOf(node, a), await receivedOf(node, b));
});

test('idBeside is on the same shard, is always the same for the same id, and differs for ids of one millisecond', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 1, max: 20 }), (accountId, count) => {
      const wallet = { kind: 'wallet', id: accountId };
      const seeds = Array.from({ length: count }, () => newId(commerceIds.card, null, 1_700_000_000_000));
      const ids = seeds.map((seed) => colocatedId(seed, 'card', wallet));
      assert.equal(new Set(ids).size, count);
      for (const [n, id] of ids.entries()) {
        assert.match(id, /^crd_[0-9a-hjkmnp-tv-z]{26}$/);
        assert.equal(shardOf('card', id), shardOf('wallet', accountId));
        assert.equal(colocatedId(seeds[n]!, 'card', wallet), id);
        assert.equal(colocatedId(id, 'card', wallet), id);
      }
    }),
    { numRuns: 50 },
  );
  assert.equal(steppedId('crd_0000000000zzzz000000000000', 1), 'crd_00000000000000000000000000');
});
