/** Asks of actors in memory that change nothing, so that nothing is committed: what the mailbox, the turn and the answer cost. */
import { alternate } from './support/alternate.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

export async function benchActors(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const ours = new Program('programs/counter-node.ts', { env, nodeOptions: surroundings.profiled('actors') });
  const limit = new Program('limits/promise-chains.ts');
  try {
    await ours.call('prepare');
    const rows: Row[] = [];
    for (const inFlight of [64, 512]) {
      const of = (program: Program) => async (ms: number) => {
        const { count, elapsedMs } = await program.call<Driven>('touch', { inFlight, ms });
        return { perSecond: (count * 1_000) / elapsedMs };
      };
      const figures = await alternate(surroundings.seconds, of(ours), of(limit));
      rows.push(makeRow({ bench: 'actors', row: `asks, ${inFlight} in flight`, unit: '/s', reach: { atLeast: 0.35 }, ...pick(figures) }));
    }
    return rows;
  } finally {
    await Promise.all([ours.end(), limit.end()]);
  }
}

function pick({ ours, limit, noisy }: { ours: number; limit: number; noisy: boolean }) {
  return { ours, limit, noisy };
}
