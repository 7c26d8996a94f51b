/** Messages of one sender to one actor are consumed in the sender's order (O2, O3, H1, H2, R7). */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { newEnvelope } from '../../src/actors/envelope.ts';
import { InFlightMessages } from '../../src/actors/in-flight-messages.ts';
import { shardOf } from '../../src/cluster/address.ts';
import { type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { probe, probeActor, probeOptions, receiving } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

async function start(t: TestContext, options: object = {}): Promise<TestRuntime> {
  const node = await testRuntime([probeActor], { ...probeOptions, ...options });
  t.after(() => node.close());
  return node;
}

/** Makes the probe throw when it receives an input, as many times as `times` says for that input. */
function refuse(t: TestContext, times: Map<unknown, number>): void {
  receiving.before = (input) => {
    const left = times.get(input) ?? 0;
    if (left === 0) return;
    times.set(input, left - 1);
    throw new TypeError('cannot receive it yet');
  };
  t.after(() => (receiving.before = () => {}));
}

const received = async (node: Pick<TestRuntime, 'actors'>, id: string): Promise<unknown[]> =>
  (await node.actors.query(probe, id, 'state', null))?.received ?? [];

/** Resolves after the node has processed the commits of this actor that are visible in the database. */
const confirmed = (node: TestRuntime, id: string) => node.actors.ask(probe, id, 'touch', null);

/** Inserts the rows that a node leaves if it is killed right after its commits. */
async function insert(node: TestRuntime, rows: { id: string; sender: string | null; to: string; input: unknown }[]): Promise<void> {
  for (const { id, sender, to, input } of rows) {
    await node.sql(
      `insert into message (id, shard, kind, actor_id, command, input, created_at, sender) values ($1, $2, 'probe', $3, 'receive', $4, now(), $5)`,
      [id, shardOf('probe', to), to, JSON.stringify(input), sender],
    );
  }
}

for (const way of ['in one turn', 'in two turns'])
  test(`a message that is refused and tried again is not overtaken by the next one (sent ${way})`, async (t) => {
    const node = await start(t);
    refuse(t, new Map([[1, 2]]));
    const [first, ...later] = way === 'in one turn' ? [[1, 2, 3]] : [[1], [2], [3]];
    // Both are sent at once, so that the other message arrives within the first retry pause of 0.1 s.
    await Promise.all([
      node.actors.ask(probe, 's', 'send', { to: 'r', inputs: first! }),
      node.actors.ask(probe, 'other', 'send', { to: 'r', inputs: ['other'] }),
    ]);
    for (const inputs of later) await node.actors.ask(probe, 's', 'send', { to: 'r', inputs });
    await until(async () => (await received(node, 'r')).length === 4, 'all messages');
    assert.deepEqual(await received(node, 'r'), ['other', 1, 2, 3], 'and no other sender waits for it');
  });

test('after a message becomes a dead letter, later messages continue', async (t) => {
  const node = await start(t);
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['throw', 1] });
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [2] });
  await until(async () => (await received(node, 'r')).length === 2, 'those after it');
  assert.deepEqual(await received(node, 'r'), [1, 2]);
  assert.deepEqual(await node.sql('select input from dead_letter'), [{ input: 'throw' }]);
});

test('thousands of messages behind a refused one are consumed in order', async (t) => {
  const node = await start(t);
  refuse(t, new Map([[0, 1]]));
  const inputs = Array.from({ length: 3_000 }, (_, n) => n);
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs });
  // An ask before this point could find a full mailbox.
  await until(async () => (await node.sql('select count(*)::int as n from message'))[0].n === 0, 'all messages');
  await confirmed(node, 'r');
  assert.deepEqual(await received(node, 'r'), inputs);
});

test('messages that wait for a full mailbox are not overtaken', async (t) => {
  const node = await start(t, { maxWaiting: 2, maxBatchTurns: 2, outbox: { sweepIntervalMs: 5 } });
  const inputs: number[] = [];
  for (let input = 0; input < 40; input++) {
    const isSent = await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [input] }).then(
      () => true,
      () => false,
    );
    if (isSent) inputs.push(input);
  }
  assert.ok(inputs.length > 0);
  await until(async () => (await received(node, 'r')).length === inputs.length, 'all messages');
  assert.deepEqual(await received(node, 'r'), inputs);
});

test('ids from a fast clock do not change the order; messages of older versions are read in commit order', async (t) => {
  const node = await start(t);
  await node.runtime.stop(0);
  const sender = 'probe/s';
  await insert(node, [
    { id: 'msg_3', sender, to: 'r', input: 'first' },
    { id: 'msg_2', sender, to: 'r', input: 'second' },
    { id: 'msg_1', sender, to: 'r', input: 'third' },
    { id: 'msg_9', sender: null, to: 'q', input: 'first' },
    { id: 'msg_8', sender: null, to: 'q', input: 'second' },
  ]);
  await node.crashAndRestart();
  await until(async () => (await received(node, 'r')).length === 3 && (await received(node, 'q')).length === 2, 'all messages');
  assert.deepEqual(await received(node, 'r'), ['first', 'second', 'third']);
  assert.deepEqual(await received(node, 'q'), ['first', 'second']);
  assert.deepEqual(await node.sql('select id from message'), []);
});

test('a sender that was loaded again does not overtake its messages in the database', async (t) => {
  const node = await start(t);
  // The insert notifies no node, as if the frame were late.
  await insert(node, [{ id: 'msg_z', sender: 'probe/s', to: 'r', input: 'before' }]);
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: ['after', 'last'] });
  await until(async () => (await received(node, 'r')).length === 3, 'all messages');
  assert.deepEqual(await received(node, 'r'), ['before', 'after', 'last']);
});

test("more than a page of messages from many senders are consumed in each sender's order, also those committed meanwhile", async (t) => {
  const node = await start(t);
  await node.runtime.stop(0);
  await node.sql(
    `insert into message (id, shard, kind, actor_id, command, input, created_at, sender)
     select 'msg_' || (9999 - n), $1, 'probe', 'r', 'receive', to_json(array[n % 50, n]), now(), 'probe/s' || n % 50 from generate_series(1, 2500) n`,
    [shardOf('probe', 'r')],
  );
  await node.crashAndRestart();
  for (let s = 0; s < 50; s++) await node.actors.ask(probe, `s${s}`, 'send', { to: 'r', inputs: [[s, 3_000]] });
  await until(async () => (await node.sql('select count(*)::int as n from message'))[0].n === 0, 'all messages');
  await confirmed(node, 'r');
  assert.equal((await received(node, 'r')).length, 2_550);
  const last = new Map<number, number>();
  for (const [s, n] of (await received(node, 'r')) as [number, number][]) {
    assert.ok(n > (last.get(s) ?? 0), `sender ${s}: ${n} after ${last.get(s)}`);
    last.set(s, n);
  }
});

test('a sender that has moved does not overtake late messages of its old node', { skip: withoutRedis }, async (t) => {
  const cluster = await testCluster(t);
  const a = await cluster.join('a');
  const b = await cluster.join('b');
  await cluster.settled();
  const ids = Array.from({ length: 300 }, (_, n) => `p${n}`);
  const senders = ids.filter((id) => a.placement.epochOf(shardOf('probe', id)) !== null).slice(0, 40);
  const late = holdMessages(a);
  const isAtB = (id: string) => b.placement.epochOf(shardOf('probe', id)) !== null;
  const receivers = ids.filter(isAtB);
  for (const [i, id] of senders.entries()) await a.actors.ask(probe, id, 'send', { to: receivers[i]!, inputs: ['first'] });
  const c = await cluster.join('c');
  await cluster.settled();
  const moved = senders.flatMap((id, i) => {
    const to = receivers[i]!;
    return c.placement.epochOf(shardOf('probe', id)) !== null && isAtB(to) ? [{ id, to }] : [];
  });
  assert.ok(moved.length > 0);
  for (const { id, to } of moved) await c.actors.ask(probe, id, 'send', { to, inputs: ['second'] });
  for (const { to } of moved) await until(async () => (await received(b, to)).length === 2, 'both messages');
  late();
  for (const { to } of moved) assert.deepEqual(await received(b, to), ['first', 'second']);
});

/** Delays notifications of messages to other nodes. Returns the function that releases them. */
function holdMessages(node: TestNode): () => void {
  const { peers } = node;
  const notifyPeer = peers.notify.bind(peers);
  const held: (() => void)[] = [];
  peers.notify = (to, kind, payload) => {
    if (kind !== 'messages') return notifyPeer(to, kind, payload);
    held.push(() => notifyPeer(to, kind, payload));
    return true;
  };
  return () => {
    peers.notify = notifyPeer;
    for (const one of held) one();
  };
}

test('the record of a consumed message is dropped with its shard: after the database lost commits it is consumed again', () => {
  const inFlight = new InFlightMessages();
  const message = { id: 'msg_1', shard: 7, kind: 'probe', actorId: 'r', command: 'receive', input: 1, createdAt: 0, sender: 'probe/s' };
  inFlight.add(message, newEnvelope('receive', 1, Infinity, null));
  inFlight.done('msg_1');
  inFlight.lost(new Set([8]));
  assert.ok(inFlight.has('msg_1'));
  inFlight.lost(new Set([7]));
  assert.ok(!inFlight.has('msg_1'));
});

test('messages whose commit waits for a lock of another session arrive in order, and those to other actors continue', async (t) => {
  const node = await start(t);
  await node.actors.ask(probe, 'r', 'add', { n: 1 });
  const otherClient = new pg.Client({ connectionString: node.url });
  await otherClient.connect();
  await otherClient.query(`begin; select from probe where id = 'r' for update`);
  for (let n = 0; n < 20; n++) {
    await node.actors.ask(probe, `s${n % 2}`, 'send', { to: 'r', inputs: [n] });
    await node.actors.ask(probe, `s${n % 2}`, 'send', { to: 'q', inputs: [n] });
  }
  await until(async () => (await received(node, 'q')).length === 20, 'the messages to another actor');
  assert.deepEqual(await received(node, 'r'), []);
  await otherClient.query('rollback');
  await otherClient.end();
  await until(async () => (await received(node, 'r')).length === 20, 'the rest');
  for (const id of ['q', 'r'])
    for (const parity of [0, 1]) {
      const of = ((await received(node, id)) as number[]).filter((n) => n % 2 === parity);
      assert.deepEqual(
        of,
        [...of].sort((a, b) => a - b),
      );
    }
});
