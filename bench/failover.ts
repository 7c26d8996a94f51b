/** A node of three is killed, frozen, and cut off from PostgreSQL alone, under load: how long until each of its actors has answered at another node. */
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '../src/cluster/address.ts';
import { clusterTimings } from '../src/cluster/cluster-timings.ts';
import { ClusterProcesses } from '../test/support/cluster-processes.ts';
import type { NodeProcess } from '../test/support/node-process.ts';
import { SteadyQueries, untilAnswered } from '../test/support/probes.ts';
import { Caller } from '../test/support/service.ts';
import { makeRow, type Row } from './support/row.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const workspaceCount = 300;
const names = ['node-1', 'node-2', 'node-3'];
const pollMs = 50;
/** Let every stream, view and cache come to rest, and the load be what it was. */
const restMs = 500;

type Harm = {
  what: string;
  limitMs: number;
  /** How long the harmed node rightly answers; asked only then, and counted. */
  answersForMs?: number;
  harm(node: NodeProcess, cluster: ClusterProcesses): Promise<void>;
  heal(node: NodeProcess): Promise<void>;
};

const harms: Harm[] = [
  { what: 'kill -9', limitMs: 1_000, harm: (node) => node.kill(), heal: (node) => node.start() },
  { what: 'SIGSTOP', limitMs: 5_000, harm: async (node) => node.freeze(), heal: async (node) => node.thaw() },
];

/** Only here PostgreSQL is reached by a way of each node's own, which costs every commit. */
let reachAgain = () => {};
const withoutDatabase: Harm = {
  what: 'PostgreSQL out of reach',
  limitMs: 5_000,
  answersForMs: clusterTimings.readLeaseMs,
  harm: async (node, cluster) => {
    reachAgain = cluster.withoutPostgres(node, 'silence');
  },
  heal: async () => reachAgain(),
};

export async function benchFailover(surroundings: Surroundings): Promise<Row[]> {
  return [...(await benchHarms(surroundings, harms, false)), ...(await benchHarms(surroundings, [withoutDatabase], true))];
}

async function benchHarms(surroundings: Surroundings, some: readonly Harm[], databaseLinks: boolean): Promise<Row[]> {
  const cluster = await ClusterProcesses.start({
    nodes: 3,
    redis: true,
    postgres: { url: await surroundings.emptyDatabase() },
    links: false,
    databaseLinks,
  });
  try {
    const caller = await Caller.register(cluster.nodes[0]!);
    const ids: string[] = [];
    for (let n = 0; n < workspaceCount; n++) ids.push((await caller.json('POST', '/v1/workspaces', { name: `w${n}` })).id);
    const rows: Row[] = [];
    for (const harm of some) rows.push(...(await measure(cluster, caller, ids, harm, surroundings.times)));
    return rows;
  } finally {
    await cluster.close();
  }
}

async function measure(cluster: ClusterProcesses, caller: Caller, ids: readonly string[], harm: Harm, times: number): Promise<Row[]> {
  const everyActor: number[] = [];
  const allOfThem: number[] = [];
  for (let n = 0; n < times; n++) {
    await untilShared(cluster);
    const victim = cluster.nodes[n % cluster.nodes.length]!;
    const others = cluster.nodes.filter((node) => node !== victim);
    const shards = new Set((await cluster.owners()).get(victim.name));
    const owned = ids.filter((id) => shards.has(shardOf('workspace', id))).map((id) => `/v1/workspaces/${id}`);
    const load = new SteadyQueries(
      caller,
      () => others,
      ids.map((id) => `/v1/workspaces/${id}`),
      { pauseMs: 0 },
    );
    await pause(restMs);
    const harmed = harm.harm(victim, cluster);
    const { answersForMs = 0 } = harm;
    await pause(answersForMs);
    const answeredMs = (await untilAnswered(caller, others, owned)).map((ms) => ms + answersForMs);
    await harmed;
    await load.stop();
    everyActor.push(...answeredMs);
    allOfThem.push(Math.max(...answeredMs));
    await harm.heal(victim);
    await cluster.untilReady();
  }
  const row = (what: string, ours: number, isLimit: boolean) =>
    makeRow({
      bench: 'failover',
      row: `${harm.what}, ${times} times: ${what}`,
      unit: 'ms',
      ours,
      limit: harm.limitMs,
      reach: isLimit ? { atMost: 1 } : null,
    });
  return [
    row('an actor, p50', percentile(everyActor, 0.5), false),
    row('an actor, p99', percentile(everyActor, 0.99), true),
    row('the last actor, p50', percentile(allOfThem, 0.5), false),
    row('the last actor, p99', percentile(allOfThem, 0.99), true),
  ];
}

/** Every node owns a part, and nothing moves any more. */
async function untilShared(cluster: ClusterProcesses): Promise<void> {
  let before = '';
  for (;;) {
    const owners = await cluster.owners();
    const now = names.map((name) => owners.get(name)?.length ?? 0).join();
    if (now === before && names.every((name) => owners.has(name))) return;
    before = now;
    await pause(restMs + pollMs);
  }
}
