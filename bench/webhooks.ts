/**
 * Webhooks of 100 accounts, each with a receiver of its own: how long after its commit an event is received. One receiver hangs and one
 * answers 500; the others should not feel it. Beside it the same with a hundred healthy ones, on the same node in turns.
 */
import { setTimeout as after } from 'node:timers/promises';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { isNoisy, median, middleMean, percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const receiverCount = 100;
/**
 * The last hundredth is pauses, above all of the collector (a full collection every 4 s or so), which fall now into a slice of this side, now into one of
 * that. So there are many short slices, in an order drawn by lot: one in turns would beat with the collector.
 */
const sliceMs = 2_000;
const fewestSlices = 40;
/** The highest of these that the machine holds is measured. */
const rates = [5_000, 4_000, 3_000, 2_000, 1_000];
/** Beyond it deliveries pile up: the rate is not held. */
const heldP99Ms = 250;
/** Two of a hundred receivers are left out of every count. */
const heldShare = 0.95 * 0.98;
const settleMs = 500;
/** Connections that the last slice of this side left may be closed by now: the first deliveries of a slice do not count. */
const leadInMs = 300;

type Side = { first: number; troubled: number };
type Slice = { latenciesMs: number[]; perSecond: number; missing: number; cpu: number };

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
    const sliceCount = Math.max(fewestSlices, Math.ceil((2 * surroundings.seconds * 1_000) / sliceMs));
    const measure = (side: Side, eventsPerSecond: number, ms = sliceMs) => slice(node, receivers, side, eventsPerSecond, ms);
    let rate = rates[0]!;
    for (rate of rates) {
      await measure(well, rate / 5, 1_000);
      await measure(well, rate, 1_000);
      const tried = await measure(well, rate, 2_000);
      const isWhole = tried.missing === 0 && tried.perSecond > heldShare * rate;
      if (isWhole && p99Of(tried) <= heldP99Ms) break;
    }
    await measure(troubled, rate, 2_000);
    const slices: Record<'ours' | 'limit', Slice[]> = { ours: [], limit: [] };
    for (let i = 0; i < sliceCount; i++) {
      for (const side of Math.random() < 0.5 ? (['limit', 'ours'] as const) : (['ours', 'limit'] as const))
        slices[side].push(await measure(side === 'ours' ? troubled : well, rate));
    }
    const of = (side: 'ours' | 'limit', figure: 'perSecond' | 'cpu') => median(slices[side].map((one) => one[figure]));
    const missing = [...slices.ours, ...slices.limit].reduce((sum, one) => sum + one.missing, 0);
    if (missing > 0) throw new Error(`${missing} deliveries did not arrive`);
    const at = `${rate.toLocaleString('en-US')} events/s`;
    const p99s = (side: Slice[]) => middleMean(side.map(p99Of));
    const halves = (side: Slice[]) => [side.slice(0, sliceCount / 2), side.slice(sliceCount / 2)].map(p99s);
    const noisy = [slices.ours, slices.limit].some((side) => isNoisy(halves(side)));
    const p99 = { ours: p99s(slices.ours), limit: p99s(slices.limit) };
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

function p99Of({ latenciesMs }: Slice): number {
  return percentile(latenciesMs, 0.99);
}

/** Of the receivers that are well on the troubled side, and as many on the other. */
async function slice(node: Program, receivers: Program, { first, troubled }: Side, eventsPerSecond: number, ms: number): Promise<Slice> {
  await receivers.call('arrived');
  const cpuBefore = await node.call<number>('cpuMs');
  const beganMs = performance.now();
  const commits = await node.call<Float64Array>('pace', { first, count: receiverCount, eventsPerSecond, ms: leadInMs + ms });
  const tookMs = performance.now() - beganMs;
  const cpu = ((await node.call<number>('cpuMs')) - cpuBefore) / tookMs;
  await after(settleMs);
  const arrivals = await receivers.call<Float64Array>('arrived');
  const receivedAtMs = new Map<string, number>();
  for (let i = 0; i < arrivals.length; i += 3) {
    const key = `${arrivals[i]}/${arrivals[i + 1]}`;
    if (!receivedAtMs.has(key)) receivedAtMs.set(key, arrivals[i + 2]!);
  }
  const latenciesMs: number[] = [];
  let missing = 0;
  for (let i = 0; i < commits.length; i += 3) {
    if (commits[i]! < first + troubled || commits[i + 2]! < commits[2]! + leadInMs) continue;
    const atMs = receivedAtMs.get(`${commits[i]}/${commits[i + 1]}`);
    if (atMs === undefined) missing++;
    else latenciesMs.push(atMs - commits[i + 2]!);
  }
  return { latenciesMs, perSecond: (latenciesMs.length * 1_000) / (tookMs - leadInMs), missing, cpu };
}
