/** Runs jobs in the calling process, without limits: for programs without other users, such as tests. */
import { Readable } from 'node:stream';
import { Guests } from './guests.ts';
import type { Compute, JobFunction } from './port.ts';

export const inlineCompute: Compute = {
  async run(job, input, { signal = new AbortController().signal, open, onReport }) {
    signal.throwIfAborted();
    const { default: work } = (await import(job.module.href)) as { default: JobFunction<unknown, never> };
    const source = async () => {
      const stream = await open!();
      return stream instanceof Readable ? stream : new Readable().wrap(stream);
    };
    const guests = new Guests(signal);
    const report = async (data: unknown) => onReport?.(data);
    try {
      return await work(input, { open: source, signal, report, openGuest: (options) => guests.open(options) });
    } finally {
      await guests.close();
    }
  },
};
