/**
 * Webhooks of 100 accounts, each with a receiver of its own: how long after its commit an event is received. One receiver hangs and one
 * answers 500; the others should not feel it. Beside it the same with a hundred healthy ones, on the same node in turns.
 */
import { setTimeout as after } from 'node:timers/promises';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { isNoisy, median, percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const receiverCount = 100;
const sliceCount = 5;
/** Shorter ones have too few in their last hundredth. */
const shortestSliceMs = 2_000;
/** The highest of these that the machine holds is measured. */
const rates = [5_000, 4_000, 3_000, 2_000, 1_000];
/** Beyond it deliveries pile up: the rate is not held. */
const heldP99Ms = 250;
const settleMs = 500;

type Side = { first: number; troubled: number };
type Slice = { p99Ms: number; perSecond: number; missing: number; cpu: number };

export async function benchWebhooks(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const node = new Program('programs/webhook-node.ts', { env, nodeOptions: surroundings.profiled('webhooks') });
  const receivers = new Program('programs/webhook-receivers.ts');
  try {
    await node.call('start');
    const healthy = Array.from({ length: receiverCount }, () => 'well');
    const ports = await receivers.call<number[]>('listen', { manners: [...healthy, 'hangs', 'fails', ...healthy.slice(2)] });
    await node.call('register', { first: 0, ports });
    const [well, troubled] = [
      { first: 0, troubled: 2 },
      { first: receiverCount, troubled: 2 },
    ];
    const sliceMs = Math.max(shortestSliceMs, (surroundings.seconds * 1_000) / sliceCount);
    const measure = (side: Side, eventsPerSecond: number, ms = sliceMs) => slice(node, receivers, side, eventsPerSecond, ms);
    let rate = rates[0]!;
    for (rate of rates) {
      await measure(well, rate, 1_000);
      const tried = await measure(well, rate, 2_000);
      if (tried.p99Ms <= heldP99Ms && tried.missing === 0) break;
    }
    await measure(troubled, rate, 2_000);
    const slices: Record<'ours' | 'limit', Slice[]> = { ours: [], limit: [] };
    for (let i = 0; i < sliceCount; i++) {
      slices.limit.push(await measure(well, rate));
      slices.ours.push(await measure(troubled, rate));
    }
    const p99s = (side: 'ours' | 'limit') => slices[side].map(({ p99Ms }) => p99Ms);
    const of = (side: 'ours' | 'limit', figure: keyof Slice) => median(slices[side].map((one) => one[figure]));
    const missing = [...slices.ours, ...slices.limit].reduce((sum, one) => sum + one.missing, 0);
    if (missing > 0) throw new Error(`${missing} deliveries did not arrive`);
    const at = `${rate.toLocaleString('en-US')} events/s`;
    const noisy = [p99s('ours'), p99s('limit')].some(isNoisy);
    const p99 = { ours: of('ours', 'p99Ms'), limit: of('limit', 'p99Ms') };
    return [
      makeRow({ bench: 'webhooks', row: `commit to receiver p99, ${at}`, unit: 'ms', ...p99, reach: { atMost: 1.1 }, noisy }),
      makeRow({
        bench: 'webhooks',
        row: 'received by those that are well',
        unit: '/s',
        ours: of('ours', 'perSecond'),
        limit: of('limit', 'perSecond'),
        reach: null,
      }),
      makeRow({
        bench: 'webhooks',
        row: "the node's share of a core",
        unit: '',
        ours: of('ours', 'cpu'),
        limit: of('limit', 'cpu'),
        reach: null,
      }),
    ];
  } finally {
    await Promise.all([node.end(), receivers.end()]);
  }
}

/** Of the receivers that are well on the troubled side, and as many on the other. */
async function slice(node: Program, receivers: Program, { first, troubled }: Side, eventsPerSecond: number, ms: number): Promise<Slice> {
  await receivers.call('arrived');
  const cpuBefore = await node.call<number>('cpuMs');
  const beganMs = performance.now();
  const commits = await node.call<Float64Array>('pace', { first, count: receiverCount, eventsPerSecond, ms });
  const tookMs = performance.now() - beganMs;
  const cpu = ((await node.call<number>('cpuMs')) - cpuBefore) / tookMs;
  await after(settleMs);
  const arrivals = await receivers.call<Float64Array>('arrived');
  const receivedAtMs = new Map<string, number>();
  for (let i = 0; i < arrivals.length; i += 3) {
    const key = `${arrivals[i]}/${arrivals[i + 1]}`;
    if (!receivedAtMs.has(key)) receivedAtMs.set(key, arrivals[i + 2]!);
  }
  const latencies: number[] = [];
  let missing = 0;
  for (let i = 0; i < commits.length; i += 3) {
    if (commits[i]! < first + troubled) continue;
    const atMs = receivedAtMs.get(`${commits[i]}/${commits[i + 1]}`);
    if (atMs === undefined) missing++;
    else latencies.push(atMs - commits[i + 2]!);
  }
  return { p99Ms: percentile(latencies, 0.99), perSecond: (latencies.length * 1_000) / tookMs, missing, cpu };
}
