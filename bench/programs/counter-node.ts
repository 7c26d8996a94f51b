/**
 * A node as the service makes it, with the bench's actor on it, asked from within. For the benches of asking, committing and memory; with
 * BENCH_REDIS_URL it is a node of a cluster, that owns actors or is an edge alone as BENCH_ROLES says.
 */
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { Runtime } from '../../src/actors/runtime.ts';
import { systemClock } from '../../src/clock.ts';
import { shardCount, shardOf } from '../../src/cluster/address.ts';
import { createCluster } from '../../src/cluster/cluster.ts';
import type { Role } from '../../src/cluster/member.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { createLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { CounterEntity, counter, counterActor, createCounterTable } from '../support/counter.ts';
import { drive } from '../support/drive.ts';
import { serveCalls } from '../support/program.ts';

type Load = { inFlight: number; ms: number };

const ids = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
const url = process.env.BENCH_DATABASE_URL!;
const log = createLog('warn');
const database = new Database(url, { schema: { entities: [CounterEntity] } });
const cluster = process.env.BENCH_REDIS_URL === undefined ? null : await joinLater(process.env.BENCH_REDIS_URL);
const runtime = new Runtime({ database, placement: cluster?.node ?? new SingleNode(url, 'bench', log), log });
const { actors } = runtime;
cluster?.transport.serve((ask, _from, gone) => actors.answer(ask, gone));

serveCalls({
  async prepare() {
    await database.migrate();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(createCounterTable);
    await client.end();
    runtime.register([counterActor]);
    await runtime.start();
  },

  touch: ({ inFlight, ms }: Load) => drive((n) => actors.ask(counter, ids[n % ids.length]!, 'touch', null), inFlight, ms, false),

  add({ inFlight, ms, oneAccount }: Load & { oneAccount: boolean }) {
    const inputs = ids.map((id) => ({ accountId: oneAccount ? 'acct_all' : `acct_${id}` }));
    return drive((n) => actors.ask(counter, ids[n % ids.length]!, 'add', inputs[n % ids.length]!), inFlight, ms, true);
  },

  /** Resolves when this node has about its share of the shards, of so many nodes. */
  async ownShare(nodes: number) {
    const { fence } = cluster!.node;
    const owned = () => Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => fence.epochOf(shard) !== null).length;
    while (Math.abs((owned() * nodes) / shardCount - 1) > 0.2) await after(20);
  },

  /** Commands on this node's own actors: some all for one account, and others each for one of its own, whose latencies are kept. */
  async contend({ hotInFlight, inFlight, ms }: Load & { hotInFlight: number }) {
    const { fence } = cluster!.node;
    const own = Array.from({ length: 4_000 }, (_, i) => `c${i}`).filter((id) => fence.epochOf(shardOf(counter.kind, id)) !== null);
    const [forHot, forOthers] = [own.filter((_, i) => i % 2 === 0), own.filter((_, i) => i % 2 === 1)];
    const hotInput = { accountId: 'acct_hot' };
    const hot = drive((n) => actors.ask(counter, forHot[n % forHot.length]!, 'add', hotInput), hotInFlight, ms, false);
    const add = (id: string) => actors.ask(counter, id, 'add', { accountId: `acct_${id}` });
    const others = await drive((n) => add(forOthers[n % forOthers.length]!), inFlight, ms, true);
    return { hot: await hot, others };
  },

  /** Brings actors into memory whose rows are there, and says what the heap has grown by. */
  async activate(wanted: string[]) {
    const before = heapBytes();
    const together = 1_000;
    for (let i = 0; i < wanted.length; i += together)
      await Promise.all(wanted.slice(i, i + together).map((id) => actors.query(counter, id, 'value', null)));
    return { grownBytes: heapBytes() - before, held: actors.activationCount };
  },
});

async function joinLater(redisUrl: string) {
  const roles = process.env.BENCH_ROLES!.split(',') as Role[];
  const secretKey = 'a bench has no secrets, and this is long enough';
  const at = { host: '127.0.0.1', port: 0, announce: null, tls: null };
  // A cluster's identity stands in its database.
  await database.migrate();
  return createCluster({ databaseUrl: url, redisUrl, secretKey, name: `bench-${process.pid}`, roles, ...at, log, clock: systemClock });
}

function heapBytes(): number {
  for (let i = 0; i < 3; i++) globalThis.gc!();
  return process.memoryUsage().heapUsed;
}
