/** Commands that change their actor's row and record one event, answered after the commit, with fsync on. */
import { alternate } from './support/alternate.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const p99LimitMs = 25;

export async function benchCommit(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const ours = new Program('programs/counter-node.ts', { env, nodeOptions: surroundings.profiled('commit') });
  const limit = new Program('limits/batched-upsert.ts', { env });
  try {
    await ours.call('prepare');
    await limit.call('prepare');
    const rows: Row[] = [];
    for (const oneAccount of [false, true]) {
      for (const inFlight of [64, 512]) {
        const name = `${inFlight} in flight, ${oneAccount ? 'one account' : '1,000 accounts'}`;
        const of = (program: Program) => async (ms: number) => {
          const driven = await program.call<Driven>('add', { inFlight, ms, oneAccount });
          return { perSecond: (driven.count * 1_000) / driven.elapsedMs, latenciesMs: driven.latenciesMs };
        };
        const { oursSlices, ...rates } = await alternate(surroundings.seconds, of(ours), of(limit));
        const latencies = Float64Array.from(oursSlices.flatMap((slice) => [...slice.latenciesMs]));
        const figures = { bench: 'commit', noisy: rates.noisy };
        rows.push(makeRow({ ...figures, ...rates, row: `commands, ${name}`, unit: '/s', reach: { atLeast: 0.2 } }));
        const p99 = { ours: percentile(latencies, 0.99), limit: p99LimitMs };
        rows.push(makeRow({ ...figures, ...p99, row: `p99, ${name}`, unit: 'ms', reach: { atMost: 1 } }));
      }
    }
    return rows;
  } finally {
    await Promise.all([ours.end(), limit.end()]);
  }
}
