/** Runs jobs in the calling process, without limits: for programs without other users, such as tests. */
import { Readable } from 'node:stream';
import type { Compute, JobFunction } from './port.ts';

export const inlineCompute: Compute = {
  async run(job, input, { signal, open }) {
    signal?.throwIfAborted();
    const { default: work } = (await import(job.module.href)) as { default: JobFunction<unknown, never> };
    const source = async () => {
      const stream = await open!();
      return stream instanceof Readable ? stream : new Readable().wrap(stream);
    };
    return work(input, { open: source, signal: signal ?? new AbortController().signal });
  },
};
