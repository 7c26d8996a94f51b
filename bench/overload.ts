/**
 * How admitted requests fare when far more is asked than can be done: commands and lists offered at the rate that is just kept up with, and
 * at five times that; and commands of many accounts beside those of one that floods its event counter from several nodes.
 */
import { testRedis } from '../test/support/redis.ts';
import { Customer } from './support/customer.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const maxConnections = 10_000;
const times = 5;
const warmUpMs = 5_000;
const nodes = 3;
const hotInFlight = 64;
const inFlight = 8;

type Offered = { admittedPerSecond: number; p99Ms: number; refused: number; failed: number };
type Contended = { hot: Driven; others: Driven };

export async function benchOverload(surroundings: Surroundings): Promise<Row[]> {
  return [...(await requests(surroundings)), ...(await hotAccount(surroundings))];
}

async function requests(surroundings: Surroundings): Promise<Row[]> {
  const service = await Service.start({
    dataDir: await surroundings.emptyFolder('overload'),
    nodeOptions: surroundings.profiled('overload'),
  });
  const client = new Program('programs/flooder.ts');
  try {
    const customer = await Customer.register(service.url, 'overload@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    for (let i = 0; i < 100; i++) await customer.post('/v1/workspaces', { name: `there ${i}` });
    const rows: Row[] = [];
    for (const what of ['commands', 'lists']) {
      const offer = (perSecond: number, ms: number) =>
        client.call<Offered>('offer', { url: service.url, authorization, what, perSecond, ms, maxConnections });
      const ms = surroundings.seconds * 1_000;
      // What is done of too much is what can be done.
      const tooMuch = what === 'commands' ? 6_000 : 600;
      await offer(tooMuch, warmUpMs);
      const { admittedPerSecond: most } = await offer(tooMuch, ms);
      const kept = await offer(0.8 * most, ms);
      const over = await offer(times * most, ms);
      if (kept.failed + over.failed > 0) throw new Error(`${kept.failed + over.failed} requests were neither done nor refused`);
      const about = { bench: 'overload', noisy: kept.refused > 0 };
      const rates = { ours: over.admittedPerSecond, limit: kept.admittedPerSecond };
      const p99s = { ours: over.p99Ms, limit: kept.p99Ms };
      rows.push(makeRow({ ...about, ...rates, row: `${what} done, ${times} times too many`, unit: '/s', reach: { atLeast: 0.5 } }));
      rows.push(makeRow({ ...about, ...p99s, row: `p99 of ${what} done, ${times} times too many`, unit: 'ms', reach: { atMost: 3 } }));
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), client.end()]);
  }
}

/** The same events of one account come from one node, and from all: only then its counter is contended for. */
async function hotAccount(surroundings: Surroundings): Promise<Row[]> {
  const closing: (() => unknown)[] = [];
  const redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase(), BENCH_REDIS_URL: redis.url, BENCH_ROLES: 'edge,actors' };
  const programs: Program[] = [];
  try {
    for (let i = 0; i < nodes; i++) {
      programs.push(new Program('programs/counter-node.ts', { env }));
      await programs[i]!.call('prepare');
    }
    await Promise.all(programs.map((program) => program.call('ownShare', nodes)));
    const contend = async (hot: number[], ms: number) => {
      const driven = await Promise.all(
        programs.map((program, i) => program.call<Contended>('contend', { hotInFlight: hot[i], inFlight, ms })),
      );
      return driven.map(({ others }) => percentile(others.latenciesMs, 0.99));
    };
    const [everywhere, first] = [programs.map(() => hotInFlight), programs.map((_, i) => (i === 0 ? nodes * hotInFlight : 0))];
    await contend(everywhere, 2_000);
    const ms = surroundings.seconds * 1_000;
    // Those beside the flood itself are not measured by a node that has none.
    const limit = (await contend(first, ms))[0]!;
    const ours = Math.max(...(await contend(everywhere, ms)));
    const row = `p99 of others, one account on ${nodes} nodes, on 1`;
    return [makeRow({ bench: 'overload', row, unit: 'ms', ours, limit, reach: { atMost: 2 } })];
  } finally {
    await Promise.all(programs.map((program) => program.end()));
    for (const close of closing) await close();
  }
}
