/**
 * How admitted requests fare when far more is asked than can be done: commands and lists offered at the rate that is just kept up with, and
 * at five times that; and commands of many accounts beside those of one that floods its event counter from several nodes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { testRedis } from '../test/support/redis.ts';
import type { Offer, Offered } from './programs/flooder.ts';
import { splitCpus } from './support/cpus.ts';
import { Customer } from './support/customer.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Reach, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const maxConnections = 9_000;
const proberConnections = 1_000;
const times = 5;
/** More than can be done on any machine this runs on, but not so much that refusing is all the work. */
const tooMuch = { commands: 10_000, lists: 1_500 } as const;
/** The part of a load whose latency is measured. */
const probed = 0.1;
/** What comes in the first moment is a burst, which waits in line: the steady state after it is measured. */
const burstMs = 1_000;
const nodes = 3;
const hotInFlight = 64;
const inFlight = 8;

type Fared = {
  /** Done. */
  perSecond: number;
  refusedShare: number;
  /** Of those let in, as the prober saw it, and as the flood itself did. */
  p99Ms: number;
  newcomersP99Ms: number;
};
type Contended = { hot: Driven; others: Driven };

export async function benchOverload(surroundings: Surroundings): Promise<Row[]> {
  return [...(await requests(surroundings)), ...(await hotAccount(surroundings))];
}

async function requests(surroundings: Surroundings): Promise<Row[]> {
  const cpus = splitCpus();
  const service = await Service.start({
    dataDir: await surroundings.emptyFolder('overload'),
    nodeOptions: surroundings.profiled('overload'),
    cpus: cpus.service,
  });
  const [flooder, prober] = [1, 2].map(() => new Program('programs/flooder.ts', { cpus: cpus.clients })) as [Program, Program];
  try {
    const customer = await Customer.register(service.url, 'overload@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    // Lists stand in line by account: what is let in is measured beside the account that floods.
    const other = await Customer.register(service.url, 'beside@example.com');
    const others = `Bearer ${await other.apiKey()}`;
    for (const one of [customer, other]) for (let i = 0; i < 100; i++) await one.post('/v1/workspaces', { name: `there ${i}` });
    const rows: Row[] = [];
    // Lists first: commands make their table longer.
    for (const what of ['lists', 'commands'] as const) {
      const offer = async (perSecond: number): Promise<Fared> => {
        const ms = surroundings.seconds * 1_000;
        const offered = { url: service.url, authorization, what };
        const flooded = flooder.call<Offered>('offer', {
          ...offered,
          perSecond: perSecond * (1 - probed),
          ms: burstMs + ms,
          maxConnections,
          initialConnections: 0,
        } satisfies Offer);
        await pause(burstMs);
        const connections = { maxConnections: proberConnections, initialConnections: proberConnections };
        const theirs = await prober.call<Offered>('offer', {
          ...offered,
          authorization: others,
          perSecond: perSecond * probed,
          ms,
          ...connections,
        } satisfies Offer);
        const all = [await flooded, theirs];
        const failed = all.reduce((sum, one) => sum + one.failed, 0);
        if (failed > 0) throw new Error(`${failed} requests were neither done nor refused`);
        const refused = all.reduce((sum, one) => sum + one.refused, 0);
        const admitted = all.reduce((sum, one) => sum + one.admitted, 0);
        return {
          perSecond: (all[0]!.admitted * 1_000) / (burstMs + ms) + (theirs.admitted * 1_000) / ms,
          refusedShare: refused / (refused + admitted),
          p99Ms: theirs.p99Ms,
          newcomersP99Ms: all[0]!.p99Ms,
        };
      };
      await offer(tooMuch[what]);
      // What is done of too much is what can be done.
      const { perSecond: most } = await offer(tooMuch[what]);
      const kept = await offer(0.8 * most);
      const over = await offer(times * most);
      const about = { bench: 'overload', noisy: kept.refusedShare > 0.01 };
      const row = (name: string, unit: string, of: (fared: Fared) => number, reach: Reach | null): void =>
        void rows.push(makeRow({ ...about, row: name, unit, ours: of(over), limit: of(kept), reach }));
      row(`${what} done, ${times} times too many`, '/s', ({ perSecond }) => perSecond, { atLeast: 0.5 });
      row(`p99 of ${what} done, ${times} times too many`, 'ms', ({ p99Ms }) => p99Ms, { atMost: 3 });
      row(`p99 of ${what}, first second, new connections`, 'ms', ({ newcomersP99Ms }) => newcomersP99Ms, null);
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), flooder.end(), prober.end()]);
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
