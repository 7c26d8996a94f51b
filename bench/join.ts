/** A fourth node joins three that are under load: what those who ask notice of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { ClusterProcesses } from '../test/support/cluster-processes.ts';
import { SteadyQueries } from '../test/support/probes.ts';
import { Caller } from '../test/support/service.ts';
import { makeRow, type Row } from './support/row.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const workspaceCount = 300;
const loops = 16;
const firstLookMs = 10;
const restMs = 250;

export async function benchJoin(surroundings: Surroundings): Promise<Row[]> {
  const cluster = await ClusterProcesses.start({
    nodes: 3,
    redis: true,
    postgres: { url: await surroundings.emptyDatabase() },
    links: false,
  });
  try {
    const caller = await Caller.register(cluster.nodes[0]!);
    const paths: string[] = [];
    for (let n = 0; n < workspaceCount; n++)
      paths.push(`/v1/workspaces/${(await caller.json('POST', '/v1/workspaces', { name: `w${n}` })).id}`);
    const three = cluster.nodes.slice(0, 3);
    const measured = async (during: () => Promise<unknown>) => {
      const queries = new SteadyQueries(caller, () => three, paths, { loops, pauseMs: 0 });
      await during();
      await queries.stop();
      return queries;
    };
    await measured(() => pause(surroundings.seconds * 1_000));
    const before = await measured(() => pause(surroundings.seconds * 1_000));
    // A process that starts takes one of this machine's cores for seconds, moves or no moves: what is measured begins with the first move.
    const fourth = await cluster.prepare();
    const starting = fourth.start();
    await until(async () => (await cluster.ownerOfShards()).includes(fourth.name), firstLookMs);
    const during = await measured(() => untilRest(cluster));
    await starting;
    const failed = before.failures.length + during.failures.length;
    const p99 = { ours: percentile(during.latenciesMs, 0.99), limit: percentile(before.latenciesMs, 0.99) };
    return [
      makeRow({
        bench: 'join',
        row: 'requests failed',
        unit: 'requests',
        ours: failed,
        limit: before.latenciesMs.length + during.latenciesMs.length,
        reach: { atMost: 0 },
      }),
      makeRow({ bench: 'join', row: 'p99 while shards move, beside before', unit: 'ms', ...p99, reach: { atMost: 3 } }),
    ];
  } finally {
    await cluster.close();
  }
}

/** No shard has moved for a while. */
async function untilRest(cluster: ClusterProcesses): Promise<void> {
  let before = '';
  await until(async () => {
    const now = (await cluster.ownerOfShards()).join();
    const rests = now === before;
    before = now;
    return rests;
  }, restMs);
}

async function until(holds: () => Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await holds())) await pause(everyMs);
}
