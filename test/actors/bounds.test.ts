/** Bounds: mailboxes, deadlines, memory, and the answers to callers beyond each (M1, M2, R5). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Passivation } from '../../src/actors/passivation.ts';
import { noLog } from '../../src/log.ts';
import { effects, probe } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import { outcomeOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const commits = /^troupe commit/;

test('an actor accepts as many waiting asks as its mailbox holds; the others get mailbox_full and have no effect', async (t) => {
  const { node, proxy } = await proxiedNode(t, { maxBatchTurns: 2 });
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to client');
  // Two turns in flight, two in the open batch, a hundred in the mailbox.
  const asked = [node.actors.ask(probe, 'a', 'add', { n: 1 })];
  await held.arrived;
  for (let i = 0; i < 119; i++) asked.push(node.actors.ask(probe, 'a', 'add', { n: 1 }));
  const outcomes = Promise.all(asked.map(outcomeOf));
  const elsewhere = node.actors.ask(probe, 'b', 'touch', null);
  held.release();
  const full = (await outcomes).filter((outcome) => typeof outcome === 'object');
  assert.ok(full.length >= 17 && full.length <= 19, `${full.length}`);
  for (const outcome of full) assert.deepEqual(outcome, { refused: 'mailbox_full' });
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1 + 120 - full.length);
  await elsewhere;
});

test('all mailboxes together are bounded; beyond the bound asks get overloaded, while queries are served', async (t) => {
  const { node, proxy } = await proxiedNode(t, { maxBatchTurns: 1, maxWaiting: 10 });
  await Promise.all(['a', 'b', 'c'].map((id) => node.actors.ask(probe, id, 'add', { n: 1 })));
  const held = proxy.hold(commits, 'to client');
  const asked = Array.from({ length: 30 }, (_, i) => outcomeOf(node.actors.ask(probe, 'abc'[i % 3]!, 'add', { n: 1 })));
  await held.arrived;
  assert.equal((await node.actors.query(probe, 'a', 'state', null))?.value, 1);
  held.release();
  const outcomes = await Promise.all(asked);
  const refused = outcomes.filter((outcome) => typeof outcome === 'object');
  assert.ok(refused.length > 0);
  for (const outcome of refused) assert.deepEqual(outcome, { refused: 'overloaded' });
  const values = await node.sql('select sum(value)::int as sum from probe');
  assert.equal(values[0].sum, 3 + 30 - refused.length, 'whatever was refused was not done');
});

test('a deadline that passes in the mailbox means certainly not done; after the turn, an unknown outcome', async (t) => {
  const { node, proxy } = await proxiedNode(t, { maxBatchTurns: 1 });
  await node.actors.ask(probe, 'a', 'add', { n: 1 });
  const held = proxy.hold(commits, 'to client');
  const brief = { timeoutMs: 500 };
  const first = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 10 }, brief));
  await held.arrived;
  const open = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 100 }, brief));
  const waiting = outcomeOf(node.actors.ask(probe, 'a', 'add', { n: 1_000 }, brief));
  const patient = node.actors.ask(probe, 'a', 'add', { n: 10_000 });
  assert.deepEqual(await Promise.all([first, open, waiting]), [
    { refused: 'outcome_unknown' },
    { refused: 'outcome_unknown' },
    { refused: 'overloaded' },
  ]);
  held.release();
  assert.equal(await patient, 10_111, 'the one that was not taken has not been done');
});

test('durable work waits while mailboxes are full and is done when there is room', async (t) => {
  const { node, proxy } = await proxiedNode(t, { maxBatchTurns: 1, maxWaiting: 3, outbox: { sweepIntervalMs: 10 } });
  effects.work = async () => 'done';
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [0] });
  const held = proxy.hold(commits, 'to client');
  const sent = node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [1, 2, 3, 4, 5, 6, 7, 8] });
  await held.arrived;
  held.release();
  await sent;
  const begin = () => outcomeOf(node.actors.ask(probe, 'e', 'begin', { effect: 'work', input: {} }));
  await until(async () => typeof (await begin()) === 'string', 'room for the ask itself');
  // While all mailboxes together are full, queries are refused too.
  const received = async (id: string) => {
    try {
      return (await node.actors.query(probe, id, 'state', null))?.received;
    } catch {
      return undefined;
    }
  };
  await until(async () => (await received('r'))?.length === 9, 'the messages');
  await until(async () => (await received('e'))?.length === 1, 'the outcome');
  assert.deepEqual(await received('r'), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('idle actors leave memory after their idle time, actors without a row earlier, and all of them when memory is short', async (t) => {
  let nowMs = Date.now();
  const { node } = await proxiedNode(t, { clock: { nowMs: () => nowMs } });
  let short = false;
  const passivation = new Passivation(
    node.actors,
    noLog,
    () => short,
    () => nowMs,
  );
  node.runtime.passivation.stop();
  await node.actors.ask(probe, 'real', 'add', { n: 1 });
  await node.actors.query(probe, 'made up', 'state', null);
  assert.equal(passivation.sweep(), 0);
  nowMs += 6_000;
  assert.equal(passivation.sweep(), 1, 'the made-up one');
  assert.equal(node.actors.activationCount, 1);
  short = true;
  assert.equal(passivation.sweep(), 1);
  short = false;
  assert.equal(await node.actors.ask(probe, 'real', 'touch', null), 1);
  assert.equal(passivation.sweep(), 0, 'it was used since the last sweep');
  nowMs += 300_000;
  assert.equal(passivation.sweep(), 1);
  assert.equal(node.actors.activationCount, 0);
});
