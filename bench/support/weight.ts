/** The memory of a program that was started with `--expose-gc`: resident memory, and live objects in its heap. */
import { setTimeout as after } from 'node:timers/promises';

export type Weight = { residentBytes: number; heapBytes: number };

/** After collections, with a moment between for what is freed in the background and what ends by itself. */
export async function weighed(): Promise<Weight> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc!();
    await after(300);
  }
  globalThis.gc!();
  const { rss: residentBytes, heapUsed, external } = process.memoryUsage();
  return { residentBytes, heapBytes: heapUsed + external };
}
