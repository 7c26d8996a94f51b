/**
 * The parent's side of code that is run over batches of numbers: one process for each guest, ended with its first failure. Its time by the wall clock is
 * limited by the job that opened it.
 */
import { AppError } from '../../errors.ts';
import { type Guest, GuestFailed, type GuestOptions } from './port.ts';
import { startSandboxProcess } from './process.ts';
import type { FromBatches, ToBatches } from './protocol.ts';

/** What the child says; a batch with its numbers. */
type ChildMessage = Exclude<FromBatches, { op: 'batched' }> | (Extract<FromBatches, { op: 'batched' }> & { numbers: Float64Array });

export async function openGuest({ signal, ...options }: GuestOptions): Promise<Guest> {
  signal.throwIfAborted();
  const cpuS = Math.ceil(options.cpuMs / 1_000) + 3;
  const program = { file: 'batch-child.ts' as const, memoryBytes: options.memoryBytes, cpuS };
  const process = startSandboxProcess<FromBatches, ToBatches>('/', program);
  const onAbort = () => void process.kill();
  signal.addEventListener('abort', onAbort, { once: true });
  void process.gone.then(() => signal.removeEventListener('abort', onAbort));

  /** Answers come in the order of what was asked; after a failure every later question fails alike. */
  let before: Promise<unknown> = Promise.resolve();
  const answer = <Op extends FromBatches['op']>(op: Op): Promise<Extract<ChildMessage, { op: Op }>> => {
    const mine = before.then(async () => {
      const line = await process.next();
      signal.throwIfAborted();
      if (line?.op === 'batched' && op === 'batched') {
        const numbers = new Float64Array(options.outputs);
        // More or less than was agreed on is no answer.
        if (line.bytes === numbers.byteLength && (await process.bytes(new Uint8Array(numbers.buffer))))
          return { ...line, numbers } as unknown as Extract<ChildMessage, { op: Op }>;
      } else if (line?.op === op) return line as unknown as Extract<ChildMessage, { op: Op }>;
      void process.kill();
      if (line?.op === 'failed') throw new GuestFailed(line.message, line.reason, line.step);
      throw new GuestFailed(crashed, 'crash', 0);
    });
    before = mine;
    mine.catch(() => {});
    return mine;
  };

  try {
    await process.ready.catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new AppError('unavailable', 'The sandbox cannot run code now', { cause });
    });
    process.send({ op: 'open', ...options });
    await answer('opened');
  } catch (error) {
    await process.kill();
    throw error;
  }
  return {
    async run({ count, numbers }) {
      const { buffer, byteOffset, byteLength } = numbers;
      process.send({ op: 'batch', count, bytes: byteLength }, new Uint8Array(buffer, byteOffset, byteLength));
      const line = await answer('batched');
      return line.numbers;
    },
    close: () => process.kill(),
  };
}

const crashed = 'the code needed more memory or processor time than it may use';
