/**
 * A subscriber that is 500,000 events behind resumes while 1,000 others are live: how fast it catches up, beside a raw cursor over the same
 * rows; and what the others notice: commit to socket before and meanwhile.
 */
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { isNoisy, median, percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const eventCount = 500_000;
const liveCount = 1_000;
const eventsPerSecond = 1_000;
const sliceCount = 3;
/** Of the one who is behind: beyond the accounts of those who are live. */
const account = liveCount;

export async function benchReplay(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const node = new Program('programs/stream-node.ts', { env, nodeOptions: surroundings.profiled('replay') });
  const cursor = new Program('limits/raw-cursor.ts', { env });
  const live = new Program('programs/receivers.ts');
  const behind = new Program('programs/receivers.ts');
  try {
    const port = await node.call<number>('listen');
    await node.call('fill', { account, count: eventCount });
    await live.call('open', { port, count: liveCount, accounts: liveCount });
    const replayed = () => behind.call<number>('replay', { port, account });
    const read = () => cursor.call<number>('read', { account });
    await read();
    await replayed();
    const perSecond: number[] = [];
    const rawPerSecond: number[] = [];
    for (let i = 0; i < sliceCount; i++) {
      rawPerSecond.push((eventCount * 1_000) / (await read()));
      perSecond.push((eventCount * 1_000) / (await replayed()));
    }
    const ms = surroundings.seconds * 1_000;
    const [quiet, meanwhile]: [number[], number[]] = [[], []];
    let replays = 0;
    for (let i = 0; i < sliceCount; i++) {
      quiet.push(await commitToSocketP99(node, live, ms));
      let over = false;
      const replaying = (async () => {
        for (; !over; replays++) await replayed();
      })();
      meanwhile.push(await commitToSocketP99(node, live, ms));
      over = true;
      await replaying;
    }
    const noisy = [perSecond, rawPerSecond].some(isNoisy);
    return [
      makeRow({
        bench: 'replay',
        row: 'one resumes, 1,000 are live',
        unit: 'events/s',
        ours: median(perSecond),
        limit: median(rawPerSecond),
        reach: { atLeast: 0.4 },
        noisy,
      }),
      makeRow({
        bench: 'replay',
        row: `commit to socket p99 of the others, ${replays} replays meanwhile`,
        unit: 'ms',
        ours: median(meanwhile),
        limit: median(quiet),
        reach: { atMost: 1.5 },
        noisy: [quiet, meanwhile].some(isNoisy),
      }),
    ];
  } finally {
    await Promise.all([node, cursor, live, behind].map((program) => program.end()));
  }
}

async function commitToSocketP99(node: Program, live: Program, ms: number): Promise<number> {
  await live.call('watch');
  const commits = await node.call<Float64Array>('pace', { eventsPerSecond, ms, accounts: liveCount });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { arrivals } = await live.call<{ arrivals: Float64Array }>('arrived');
  const committedAtMs = new Map<string, number>();
  for (let i = 0; i < commits.length; i += 3) committedAtMs.set(`${commits[i]}/${commits[i + 1]}`, commits[i + 2]!);
  const latencies = new Float64Array(arrivals.length / 3);
  for (let i = 0; i < arrivals.length; i += 3)
    latencies[i / 3] = arrivals[i + 2]! - committedAtMs.get(`${arrivals[i]}/${arrivals[i + 1]}`)!;
  if (latencies.length < (eventsPerSecond * ms * 0.8) / 1_000) throw new Error(`only ${latencies.length} deliveries arrived`);
  return percentile(latencies, 0.99);
}
