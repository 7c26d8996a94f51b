/** What it costs to ask a node that owns none of the actors: the benches of http and commit against an edge alone, and against the owner. */
import { ClusterProcesses } from '../test/support/cluster-processes.ts';
import { testRedis } from '../test/support/redis.ts';
import { alternate } from './support/alternate.ts';
import { Customer } from './support/customer.ts';
import type { Driven } from './support/drive.ts';
import { httpLoad } from './support/http-load.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

const connections = 64;
const reach = { atLeast: 0.6 };

export async function benchCluster(surroundings: Surroundings): Promise<Row[]> {
  return [...(await http(surroundings)), ...(await commits(surroundings))];
}

async function http(surroundings: Surroundings): Promise<Row[]> {
  const cluster = await ClusterProcesses.start({
    nodes: 1,
    redis: true,
    postgres: { url: await surroundings.emptyDatabase() },
    links: false,
  });
  try {
    const owner = cluster.nodes[0]!;
    const edge = await cluster.add({ ROLES: 'edge' });
    await edge.untilReady();
    const customer = await Customer.register(owner.url, 'cluster@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    const task = await customer.finishedTask(await customer.workspaceWithTable('cluster'));
    const of = (url: string) => (ms: number) => httpLoad({ url: `${url}/v1/tasks/${task.id}`, authorization, connections }, ms);
    const figures = await alternate(Math.max(5, surroundings.seconds), of(edge.url), of(owner.url));
    return [makeRow({ bench: 'cluster', row: `a task, ${connections} connections, from an edge`, unit: '/s', reach, ...figures })];
  } finally {
    await cluster.close();
  }
}

async function commits(surroundings: Surroundings): Promise<Row[]> {
  const closing: (() => unknown)[] = [];
  const redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
  const shared = { BENCH_DATABASE_URL: await surroundings.emptyDatabase(), BENCH_REDIS_URL: redis.url };
  const owner = new Program('programs/counter-node.ts', { env: { ...shared, BENCH_ROLES: 'edge,actors' } });
  let edge: Program | null = null;
  try {
    await owner.call('prepare');
    edge = new Program('programs/counter-node.ts', {
      env: { ...shared, BENCH_ROLES: 'edge' },
      nodeOptions: surroundings.profiled('cluster-edge'),
    });
    await edge.call('prepare');
    const rows: Row[] = [];
    for (const inFlight of [64, 512]) {
      const of = (program: Program) => async (ms: number) => {
        const { count, elapsedMs } = await program.call<Driven>('add', { inFlight, ms, oneAccount: false });
        return { perSecond: (count * 1_000) / elapsedMs };
      };
      const figures = await alternate(surroundings.seconds, of(edge), of(owner));
      rows.push(makeRow({ bench: 'cluster', row: `commands from an edge, ${inFlight} in flight`, unit: '/s', reach, ...figures }));
    }
    return rows;
  } finally {
    await Promise.all([owner.end(), edge?.end()]);
    for (const close of closing) await close();
  }
}
