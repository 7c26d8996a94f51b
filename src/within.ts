/** Waits for the promise, at most this long; a late result is ignored. */
export async function within(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(0, timeoutMs))));
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Whether the promise settles within this time, in whatever way. */
export async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  await within(promise.then(settle, settle), timeoutMs);
  return isSettled;
}

/**
 * Calls `late` after `ms` in which this process was running; a pause of the process or a late event loop counts as a fraction of it at most.
 * A plain timer is called before the answers that arrived during the pause. Returns what cancels it.
 */
export function whenRunningFor(ms: number, late: () => void): () => void {
  let left = runningParts;
  const next = (): NodeJS.Timeout => setTimeout(() => (--left === 0 ? late() : (timer = next())), ms / runningParts);
  let timer = next();
  return () => clearTimeout(timer);
}

/** Each is a round of the event loop, in which answers are read. */
const runningParts = 4;
