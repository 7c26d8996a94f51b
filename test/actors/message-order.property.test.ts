/**
 * Despite moves, failures, and late, lost or duplicate frames, each actor gets the messages of each sender once, in the sender's order.
 * Two to four nodes of one process; a failing case prints its seed, SEED repeats it.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { type TestCluster, type TestNode, testCluster } from '../support/cluster-nodes.ts';
import { probe, receiving } from '../support/probe-actor.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { withoutRedis } from '../support/redis.ts';

const senders = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7'];
const receivers = ['r0', 'r1', 'r2', 'r3', 'r4'];
const steps = 40;
const hangMs = 60_000;

test("each actor takes each sender's messages once and in order, despite moves, deaths, refusals, and late, lost or duplicate frames", {
  skip: withoutRedis,
}, async (t) => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const random = randomFrom(seed);
  const outbox = { maxInFlight: 60, sweepIntervalMs: 30 };
  const cluster = await testCluster(t, { leaseMs: 1_000, renewEveryMs: 100, runtime: { outbox, maxBatchTurns: 20, earlyAfterMs: 0 } });
  const world = { cluster, random, withFaults: true, refusals: 0.2 };
  receiving.before = () => {
    if (random.next() < world.refusals) throw new TypeError('cannot receive it yet');
  };
  t.after(() => (receiving.before = () => {}));

  for (const name of ['a', 'b']) weather(await cluster.join(name), world);
  await cluster.settled();
  const sentCounts = new Map<string, number>();
  const sending = new Map(senders.map((sender) => [sender, Promise.resolve()]));
  let joined = 0;
  for (let step = 0; step < steps; step++) {
    for (let n = random.between(1, 12); n > 0; n--) {
      const [sender, to, count] = [random.pick(senders), random.pick(receivers), random.between(1, 4)];
      sending.set(
        sender,
        sending.get(sender)!.then(() => sendMessages(world, sentCounts, sender, to, count)),
      );
    }
    const what = random.next();
    if (what < 0.1 && cluster.nodes.length < 4) weather(await cluster.join(`n${joined++}`), world);
    else if (what < 0.2 && cluster.nodes.length > 2) await random.pick(cluster.nodes).leave();
    else if (what < 0.25 && cluster.nodes.length > 2) await random.pick(cluster.nodes).kill();
    else if (what < 0.35) cut(world);
    else await new Promise((resolve) => setTimeout(resolve, random.between(0, 30)));
  }
  await Promise.all(sending.values());
  world.withFaults = false;
  world.refusals = 0;
  const untilMs = Date.now() + hangMs;
  while ((await cluster.sql('select count(*)::int as n from message'))[0].n > 0 && Date.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const dead = new Set((await cluster.sql('select actor_id, input from dead_letter')).map(({ actor_id, input }) => `${actor_id} ${input}`));
  for (const to of receivers) {
    // The database shows a commit a little before its node knows of it.
    await cluster.nodes[0]!.actors.ask(probe, to, 'touch', null);
    const received = ((await cluster.nodes[0]!.actors.query(probe, to, 'state', null))?.received ?? []) as [string, number][];
    for (const sender of senders) {
      const of = received.filter(([from]) => from === sender).map(([, n]) => n);
      const all = Array.from({ length: sentCounts.get(`${sender} ${to}`) ?? 0 }, (_, n) => n).filter(
        (n) => !dead.has(`${to} ${[sender, n]}`),
      );
      assert.deepEqual(of, all, `messages from ${sender} to ${to} (SEED=${seed})`);
    }
  }
  t.diagnostic(`${[...sentCounts.values()].reduce((sum, n) => sum + n, 0)} messages, ${dead.size} of them dead letters`);
});

type World = { cluster: TestCluster; random: Random; withFaults: boolean; refusals: number };

/** Repeated with its id until it has certainly been sent. */
async function sendMessages(world: World, sentCounts: Map<string, number>, sender: string, to: string, count: number): Promise<void> {
  const { cluster, random } = world;
  const pair = `${sender} ${to}`;
  const from = sentCounts.get(pair) ?? 0;
  const inputs = Array.from({ length: count }, (_, i) => [sender, from + i]);
  const commandId = `send ${pair} ${from}`;
  for (let done = false; !done; ) {
    const at = random.pick(cluster.nodes);
    done = await at.actors.ask(probe, sender, 'send', { to, inputs }, { commandId, deadlineMs: Date.now() + 3_000 }).then(
      () => true,
      () => false,
    );
  }
  sentCounts.set(pair, from + count);
}

/** Notifications of messages to other nodes are late, lost or duplicated. */
function weather({ peers }: TestNode, world: World): void {
  const { random } = world;
  const notifyPeer = peers.notify.bind(peers);
  peers.notify = (to, kind, payload) => {
    const fate = world.withFaults && kind === 'messages' ? random.next() : 1;
    if (fate < 0.1) return true;
    if (fate < 0.4) setTimeout(() => notifyPeer(to, kind, payload), random.between(0, 200)).unref();
    if (fate < 0.3) return true;
    return notifyPeer(to, kind, payload);
  };
}

/** A link between two nodes breaks, for a moment. */
function cut({ cluster, random }: World): void {
  const [one, other] = [random.pick(cluster.nodes).incarnation, random.pick(cluster.nodes).incarnation];
  if (one === other) return;
  cluster.links.harm(one, other, 'cut');
  setTimeout(() => cluster.links.heal(one, other), random.between(10, 300)).unref();
}
