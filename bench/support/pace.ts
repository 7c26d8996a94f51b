/** Starts operations at a rate, whether or not the earlier ones have ended: latencies count from the moment an operation was due. */
import type { Driven } from './drive.ts';

const tickMs = 1;
/** As many as a node takes without shedding; beyond it the next one is late, and its latency says so. */
const maxInFlight = 256;

export async function pace(operation: (n: number) => Promise<unknown>, perSecond: number, ms: number): Promise<Driven> {
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  let started = 0;
  let failure: unknown;
  const beganMs = performance.now();
  while (performance.now() - beganMs < ms && failure === undefined) {
    const due = Math.floor(((performance.now() - beganMs) * perSecond) / 1_000);
    while (started < due && running.size < maxInFlight) {
      const dueMs = beganMs + (started * 1_000) / perSecond;
      const one: Promise<void> = operation(started++)
        .then(() => void latencies.push(performance.now() - dueMs))
        .catch((error) => void (failure ??= error))
        .finally(() => running.delete(one));
      running.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
  return { count: latencies.length, elapsedMs: performance.now() - beganMs, latenciesMs: Float64Array.from(latencies) };
}
