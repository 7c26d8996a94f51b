/**
 * H1 on several nodes: despite faults of notifications, links, nodes and clients, every client sees each event of its account once, in order, up to the newest. A failing case prints its seed; FAST_CHECK_SEED repeats it.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Database } from '../../../src/storage/database.ts';
import { testDatabase } from '../../support/database.ts';
import { EdgeCluster, type EdgeNode } from '../../support/edge-node.ts';
import type { Fate } from '../../support/linked-peers.ts';
import type { StreamClient } from '../../support/stream-client.ts';

type Action =
  | { do: 'commit'; node: number; account: number; count: number; publishes: boolean }
  | { do: 'weather'; from: number; to: number; fate: Fate }
  | { do: 'cut' | 'heal'; one: number; other: number }
  | { do: 'join'; edge: number; account: number; fromStart: boolean }
  | { do: 'move'; client: number; edge: number }
  | { do: 'kill'; node: number }
  | { do: 'wait'; ms: number };

const nodeCount = 3;
/** A run that takes this long hangs: a subscriber permanently misses an event. */
const hangMs = 30_000;
const node = fc.nat(nodeCount - 1);
const account = fc.nat(1);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      node,
      account,
      count: fc.integer({ min: 1, max: 5 }),
      publishes: fc.boolean(),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      node,
      account,
      count: fc.integer({ min: 1, max: 5 }),
      publishes: fc.constant(true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('weather' as const),
      from: node,
      to: node,
      fate: fc.constantFrom<Fate[]>('lost', 'refused', 'held', 0, 0, 5, 20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'heal' as const), one: node, other: node }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('join' as const), edge: node, account, fromStart: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), client: fc.nat(9), edge: node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), node }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(8) }) },
);

/** One client over all its connections. */
type Client = { accountId: string; last: number; edge: EdgeNode; stream: StreamClient; taken: number };

class World {
  readonly clients: Client[] = [];
  private readonly weather = new Map<string, Fate>();
  private readonly commits = new Map<EdgeNode, Promise<void>>();
  private readonly cluster: EdgeCluster;
  private readonly database: Database;
  private readonly run: number;

  constructor(cluster: EdgeCluster, database: Database, run: number) {
    this.cluster = cluster;
    this.database = database;
    this.run = run;
    cluster.network.fate = ({ from, to }) => this.weather.get(`${from} ${to}`) ?? 0;
  }

  async play(one: Action): Promise<void> {
    const { nodes, network } = this.cluster;
    switch (one.do) {
      case 'commit':
        return this.commit(nodes[one.node]!, one);
      case 'weather':
        return void this.weather.set(`${nodes[one.from]!.incarnation} ${nodes[one.to]!.incarnation}`, one.fate);
      case 'cut':
      case 'heal':
        return one.one === one.other ? undefined : network[one.do](nodes[one.one]!.incarnation, nodes[one.other]!.incarnation);
      case 'join':
        return this.join(one);
      case 'move':
        return this.move(this.clients[one.client], nodes[one.edge]!);
      case 'kill':
        return this.kill(nodes[one.node]!);
      case 'wait':
        return void (await new Promise((resolve) => setTimeout(resolve, one.ms)));
    }
  }

  /** All links work again: no subscriber may miss an event for longer than the polling interval. */
  async end(): Promise<void> {
    const { nodes, network } = this.cluster;
    this.weather.clear();
    network.release();
    for (const one of nodes) for (const other of nodes) if (one !== other) network.heal(one.incarnation, other.incarnation);
    await Promise.all(this.commits.values());
    const hang = setTimeout(() => this.clients.forEach(({ stream }) => stream.vanish()), hangMs);
    for (const client of this.clients) {
      const newest = await this.newest(client.accountId);
      await client.stream.until(() => {
        this.take(client);
        return client.last >= newest;
      });
      assert.equal(client.last, newest);
      client.stream.vanish();
    }
    clearTimeout(hang);
  }

  private accountId(account: number): string {
    return `acct_${this.run}_${account}`;
  }

  /** A node's commits follow one another; those of several nodes do not. */
  private commit(by: EdgeNode, { account, count, publishes }: Action & { do: 'commit' }): void {
    const before = this.commits.get(by) ?? Promise.resolve();
    const committed = before.then(() => by.commit(this.accountId(account), count));
    this.commits.set(
      by,
      committed.then((events) => (publishes ? by.publish(events) : undefined)),
    );
  }

  private async join({ edge, account, fromStart }: Action & { do: 'join' }): Promise<void> {
    if (this.clients.length >= 10) return;
    const accountId = this.accountId(account);
    const at = this.cluster.nodes[edge]!;
    const stream = await at.subscribe(accountId, fromStart ? 0 : undefined);
    this.clients.push({ accountId, last: fromStart ? 0 : stream.messages[0].seq, edge: at, stream, taken: 0 });
  }

  private async move(client: Client | undefined, edge: EdgeNode): Promise<void> {
    if (client === undefined) return;
    client.stream.vanish();
    this.take(client);
    client.edge = edge;
    client.stream = await edge.subscribe(client.accountId, client.last);
    assert.equal(client.stream.messages[0].resumed, true);
    client.taken = 0;
  }

  private async kill(victim: EdgeNode): Promise<void> {
    await this.cluster.kill(victim);
    const successor = await this.cluster.add();
    for (const client of this.clients) if (client.edge === victim) await this.move(client, successor);
  }

  private take(client: Client): void {
    const { events } = client.stream;
    for (; client.taken < events.length; client.taken++) {
      const { prev, event } = events[client.taken];
      assert.equal(prev, client.last);
      assert.equal(event.seq, client.last + 1);
      client.last = event.seq;
    }
  }

  private async newest(accountId: string): Promise<number> {
    const { rows } = await this.database.read({
      text: 'select last_seq as seq from event_counter where account_id = $1',
      values: [accountId],
    });
    return rows[0]?.seq ?? 0;
  }
}

const runs = Number(process.env.FAST_CHECK_RUNS ?? 25);
test(`${runs} random runs of three nodes lose, repeat and reorder no event`, { timeout: 300_000 }, async (t: TestContext) => {
  const seed = Number(process.env.FAST_CHECK_SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const kept = await testDatabase();
  const database = new Database(kept.url);
  let run = 0;
  const property = fc.asyncProperty(fc.array(action, { minLength: 40, maxLength: 120, size: 'max' }), async (actions) => {
    const cluster = new EdgeCluster({ database, pollEveryMs: 100 });
    try {
      for (let n = 0; n < nodeCount; n++) await cluster.add();
      const world = new World(cluster, database, run++);
      for (const one of actions) await world.play(one);
      await world.end();
    } finally {
      await cluster.close();
    }
  });
  try {
    await fc.assert(property, { seed, numRuns: runs, endOnFailure: true, includeErrorInReport: true });
  } finally {
    await database.close();
    await kept.close();
  }
});
