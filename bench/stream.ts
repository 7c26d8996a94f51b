/**
 * Committed events to 1,000 sockets: of one account, where each event goes to all of them, and of 1,000 accounts, where each goes to one.
 * Saturated: as fast as they arrive. Paced: how long after its commit an event reaches its socket.
 */
import { setTimeout as after } from 'node:timers/promises';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { isNoisy, median, percentile } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const socketCount = 1_000;
const sliceCount = 3;
const startUpMs = 500;
const drainMs = 500;
const p99LimitMs = 10;

type Mark = { atMs: number; frames: number; payloadBytes: number; closed: number; closeReason: string; cpuMs: number };
type Side = { sender: Program; receivers: Program; port: number };
type Slice = { perSecond: number; committedPerSecond: number; payloadBytes: number; receiverCpu: number };

export async function benchStream(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const ours = await openSide(new Program('programs/stream-node.ts', { env, nodeOptions: surroundings.profiled('stream') }));
  const limit = await openSide(new Program('limits/raw-stream.ts'));
  try {
    const rows: Row[] = [];
    for (const accounts of [1, socketCount]) rows.push(...(await benchAccounts(ours, limit, accounts, surroundings.seconds)));
    return rows;
  } finally {
    await Promise.all([ours, limit].flatMap(({ sender, receivers }) => [sender.end(), receivers.end()]));
  }
}

async function benchAccounts(ours: Side, limit: Side, accounts: number, seconds: number): Promise<Row[]> {
  const sliceMs = (seconds * 1_000) / sliceCount;
  const name = accounts === 1 ? 'one account' : '1,000 accounts';
  const receiversEach = socketCount / accounts;
  const inFlight = accounts === 1 ? 64 : 512;
  const unobserved = accounts === 1 ? null : await commitsWithoutListeners(ours, { inFlight, accounts, receiversEach: 0 }, sliceMs);
  for (const side of [ours, limit]) await side.receivers.call('open', { port: side.port, count: socketCount, accounts });
  const begin = { inFlight, accounts, receiversEach };
  const warm = await saturate(ours, begin, sliceMs);
  const raw = { payloadBytes: Math.round(warm.payloadBytes), toAll: accounts === 1 };
  await saturate(limit, raw, sliceMs);
  const slices: Slice[] = [];
  const rawSlices: Slice[] = [];
  for (let i = 0; i < sliceCount; i++) {
    rawSlices.push(await saturate(limit, raw, sliceMs));
    slices.push(await saturate(ours, begin, sliceMs));
  }
  const rate = median(slices.map(({ perSecond }) => perSecond));
  const rawRate = median(rawSlices.map(({ perSecond }) => perSecond));
  const commitRate = median(slices.map(({ committedPerSecond }) => committedPerSecond));
  const noisy = [slices, rawSlices].some((side) => isNoisy(side.map(({ perSecond }) => perSecond)));
  const figures = { bench: 'stream', noisy };
  const rows = [
    makeRow({
      ...figures,
      row: `deliveries, ${name}`,
      unit: '/s',
      ours: rate,
      limit: Math.min(rawRate, commitRate * receiversEach),
      reach: { atLeast: 0.8 },
    }),
    makeRow({ ...figures, row: `deliveries beside raw uWS, ${name}`, unit: '/s', ours: rate, limit: rawRate, reach: null }),
    makeRow({
      ...figures,
      row: `receivers' share of a core, raw beside, ${name}`,
      unit: '',
      ours: median(slices.map(({ receiverCpu }) => receiverCpu)),
      limit: median(rawSlices.map(({ receiverCpu }) => receiverCpu)),
      reach: null,
    }),
  ];
  if (unobserved !== null)
    rows.push(
      makeRow({ ...figures, row: `commits, without listeners, ${name}`, unit: '/s', ours: commitRate, limit: unobserved, reach: null }),
    );
  // Where each event goes to a thousand sockets, a thousand events a second are saturation: that row is for information, at fewer.
  const eventsPerSecond = accounts === 1 ? 100 : 1_000;
  const p99 = await paced(ours, { eventsPerSecond, ms: seconds * 1_000, accounts }, eventsPerSecond * seconds * receiversEach * 0.9);
  rows.push(
    makeRow({
      bench: 'stream',
      row: `commit to socket p99, ${eventsPerSecond.toLocaleString('en-US')} events/s, ${name}`,
      unit: 'ms',
      ours: p99,
      limit: p99LimitMs,
      reach: accounts === 1 ? null : { atMost: 1 },
    }),
  );
  for (const side of [ours, limit]) await side.receivers.call('close');
  return rows;
}

async function openSide(sender: Program): Promise<Side> {
  const receivers = new Program('programs/receivers.ts');
  receivers.onNotice = ({ frames }: { frames: number }) => void sender.call('progress', frames - framesBefore.get(sender)!);
  framesBefore.set(sender, 0);
  return { sender, receivers, port: await sender.call<number>('listen') };
}

/** What had arrived from a sender before its present measurement began. */
const framesBefore = new Map<Program, number>();

async function saturate({ sender, receivers }: Side, begin: object, ms: number): Promise<Slice> {
  framesBefore.set(sender, (await receivers.call<Mark>('mark')).frames);
  await sender.call('begin', begin);
  await after(startUpMs);
  const mark = async () => ({ here: await receivers.call<Mark>('mark'), there: await committedBy(sender) });
  const from = await mark();
  await after(ms);
  const to = await mark();
  await sender.call('stop');
  await after(drainMs);
  if (to.here.closed > 0) throw new Error(`${to.here.closed} sockets were closed while events were sent: ${to.here.closeReason}`);
  const elapsedMs = to.here.atMs - from.here.atMs;
  const frames = to.here.frames - from.here.frames;
  return {
    perSecond: (frames * 1_000) / elapsedMs,
    committedPerSecond: ((to.there.committed - from.there.committed) * 1_000) / (to.there.atMs - from.there.atMs),
    payloadBytes: (to.here.payloadBytes - from.here.payloadBytes) / frames,
    receiverCpu: (to.here.cpuMs - from.here.cpuMs) / elapsedMs,
  };
}

/** How many events the same load commits when no socket is open. */
async function commitsWithoutListeners({ sender }: Side, begin: object, ms: number): Promise<number> {
  await sender.call('begin', begin);
  await after(startUpMs);
  const from = await committedBy(sender);
  await after(ms);
  const to = await committedBy(sender);
  await sender.call('stop');
  return ((to.committed - from.committed) * 1_000) / (to.atMs - from.atMs);
}

/** The raw sender commits nothing. */
async function committedBy(sender: Program): Promise<{ atMs: number; committed: number }> {
  return sender.call<{ atMs: number; committed: number }>('mark');
}

/** The 99th percentile of the time from a commit to each of its sockets. */
async function paced({ sender, receivers }: Side, pace: object, atLeast: number): Promise<number> {
  await receivers.call('watch');
  const commits = await sender.call<Float64Array>('pace', pace);
  await after(drainMs);
  const { arrivals, unread } = await receivers.call<{ arrivals: Float64Array; unread: number }>('arrived');
  const committedAtMs = new Map<string, number>();
  for (let i = 0; i < commits.length; i += 3) committedAtMs.set(`${commits[i]}/${commits[i + 1]}`, commits[i + 2]!);
  const latencies = new Float64Array(arrivals.length / 3);
  for (let i = 0; i < arrivals.length; i += 3)
    latencies[i / 3] = arrivals[i + 2]! - committedAtMs.get(`${arrivals[i]}/${arrivals[i + 1]}`)!;
  if (latencies.length + unread < atLeast) throw new Error(`only ${latencies.length} of ${atLeast} deliveries arrived`);
  return percentile(latencies, 0.99);
}
