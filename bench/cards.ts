/** Authorizations by card: card, wallet and ledger in one commit. With fsync on. */
import { alternate } from './support/alternate.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

/** Of both sides; as in the bench of committing. */
const inFlight = 512;
const hotCardPerSecond = 2_000;
const p99LimitMs = 20;
const warmUpMs = 1_000;
/** The pauses of PostgreSQL and of the disk come every half minute; a few seconds have one of them or none. */
const pacedForTimes = 4;

export async function benchCards(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const node = new Program('programs/card-node.ts', { env, nodeOptions: surroundings.profiled('cards') });
  try {
    await node.call('prepare');
    const rows: Row[] = [];
    for (const hot of [false, true]) {
      const name = hot ? 'one hot card' : '1,000 cards';
      const { ours, limit, noisy } = await alternate(
        surroundings.seconds,
        async (ms) => perSecondOf(await node.call<Driven>('authorize', { inFlight, ms, hot })),
        async (ms) => perSecondOf(await node.call<Driven>('add', { inFlight, ms })),
      );
      const figures = { bench: 'cards', noisy };
      const against = hot ? { limit: hotCardPerSecond, reach: { atLeast: 1 } } : { limit, reach: { atLeast: 0.25 } };
      rows.push(makeRow({ ...figures, ...against, row: `authorizations, ${name}`, unit: '/s', ours }));
      const atHalf = (ms: number) => node.call<Driven>('authorizeAtRate', { perSecond: ours / 2, ms, hot });
      await atHalf(warmUpMs);
      const paced = await atHalf(pacedForTimes * surroundings.seconds * 1_000);
      const p99 = { ours: percentile(paced.latenciesMs, 0.99), limit: p99LimitMs, reach: { atMost: 1 } };
      rows.push(makeRow({ ...figures, ...p99, row: `p99 at half of that rate, ${name}`, unit: 'ms' }));
    }
    const { entries, findings, tookMs } = await node.call<{ entries: number; findings: unknown[]; tookMs: number }>('check');
    if (findings.length > 0) throw new Error(`the books are wrong: ${JSON.stringify(findings)}`);
    const check = { row: 'entries that the check of the ledger reads', unit: '/s', ours: (entries * 1_000) / tookMs };
    rows.push(makeRow({ bench: 'cards', noisy: false, ...check, limit: 100_000, reach: { atLeast: 1 } }));
    return rows;
  } finally {
    await node.end();
  }
}

function perSecondOf({ count, elapsedMs }: Driven): { perSecond: number } {
  return { perSecond: (count * 1_000) / elapsedMs };
}
