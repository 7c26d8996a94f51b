/** What an idle, authenticated WebSocket weighs: the memory that 10,000 of them take, each of an account of its own, beside as many of raw uWebSockets.js. */
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';
import type { Weight } from './support/weight.ts';

const socketCount = 10_000;
/** Opened and closed before: what the first ones cost is not theirs. */
const warmUpCount = 2_000;
const mayBeMoreBytes = 8 * 1024;

export async function benchSockets(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const nodeOptions = ['--expose-gc'];
  const ours = await weighEach(
    new Program('programs/stream-node.ts', { env, nodeOptions: [...nodeOptions, ...surroundings.profiled('sockets')] }),
  );
  const raw = await weighEach(new Program('limits/raw-stream.ts', { nodeOptions }));
  return [
    makeRow({
      bench: 'sockets',
      row: 'resident memory of an idle socket, beside raw and 8 KB',
      unit: 'bytes',
      ours: ours.residentBytes,
      limit: raw.residentBytes + mayBeMoreBytes,
      reach: { atMost: 1 },
    }),
    makeRow({
      bench: 'sockets',
      row: 'the same, beside raw',
      unit: 'bytes',
      ours: ours.residentBytes,
      limit: raw.residentBytes,
      reach: null,
    }),
    makeRow({ bench: 'sockets', row: 'of that in the heap', unit: 'bytes', ours: ours.heapBytes, limit: raw.heapBytes, reach: null }),
  ];
}

/** What each socket adds to the server. */
async function weighEach(server: Program): Promise<Weight> {
  const clients = new Program('programs/receivers.ts');
  try {
    const port = await server.call<number>('listen');
    await clients.call('open', { port, count: warmUpCount, accounts: warmUpCount });
    await clients.call('close');
    const before = await server.call<Weight>('weigh');
    await clients.call('open', { port, count: socketCount, accounts: socketCount });
    const after = await server.call<Weight>('weigh');
    const { closed, closeReason } = await clients.call<{ closed: number; closeReason: string }>('mark');
    if (closed > 0) throw new Error(`${closed} sockets were closed: ${closeReason}`);
    return {
      residentBytes: (after.residentBytes - before.residentBytes) / socketCount,
      heapBytes: (after.heapBytes - before.heapBytes) / socketCount,
    };
  } finally {
    await Promise.all([server.end(), clients.end()]);
  }
}
