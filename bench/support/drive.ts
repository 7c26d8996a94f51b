/** Keeps a number of operations in flight for a time: the same loop for ours and for the limits. */

export type Driven = {
  count: number;
  elapsedMs: number;
  /** Of single operations; empty unless asked for. */
  latenciesMs: Float64Array;
};

/** Operations that end in microtasks would keep timers and sockets waiting for ever. */
const operationsPerTurn = 512;

/**
 * @param operation started with the numbers 0, 1, 2 …; one that fails ends the measurement
 * @param timed whether the latency of each is kept
 */
export async function drive(operation: (n: number) => Promise<unknown>, inFlight: number, ms: number, timed: boolean): Promise<Driven> {
  const latencies: number[] = [];
  let started = 0;
  let count = 0;
  let over = false;
  const beganMs = performance.now();
  const loop = async (): Promise<void> => {
    for (let own = 1; !over; own++) {
      if (timed) {
        const sentMs = performance.now();
        await operation(started++);
        latencies.push(performance.now() - sentMs);
      } else await operation(started++);
      count++;
      if (own % operationsPerTurn === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        over ||= performance.now() - beganMs >= ms;
      }
    }
  };
  const timer = setTimeout(() => (over = true), ms);
  await Promise.all(Array.from({ length: inFlight }, loop));
  clearTimeout(timer);
  return { count, elapsedMs: performance.now() - beganMs, latenciesMs: Float64Array.from(latencies) };
}
