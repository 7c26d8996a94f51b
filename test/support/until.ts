/** Waiting for a condition without an event. */

const minPauseMs = 5;
const maxPauseMs = 50;
/** Only against hanging: with many processes on each core, a minute is not enough for all shards of a cluster to move. */
const limitMs = 180_000;
/** Of a second there are 20. */
const countedPauseMs = 50;

/**
 * Resolves when `condition` holds. Evaluates it repeatedly, with a pause of three times the duration of the last evaluation (5 to 50 ms):
 * a condition that queries a database or a node leaves most of the processor time to these. Fails after three minutes. A test whose rule is how
 * soon the condition holds uses `untilWithin`.
 *
 * @param withinMs more for work of low priority, which a busy machine does slowly
 */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition', withinMs = limitMs): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const beganMs = performance.now();
    if (await condition()) return;
    const endedMs = performance.now();
    if (endedMs > deadlineMs) throw new Error(`${what} did not hold within ${withinMs / 1_000} s`);
    const pauseMs = Math.min(Math.max(3 * (endedMs - beganMs), minPauseMs), maxPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Resolves when `condition` holds, and fails after `forMs` of pauses between evaluations: for rules that name a time. Pauses are counted and
 * no clock is read, because a machine whose cores are busy delays what is waited for as much as these pauses. A condition that does the same
 * kind of work as what is waited for is delayed likewise.
 */
export async function untilWithin(forMs: number, condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let pausedMs = 0; !(await condition()); pausedMs += countedPauseMs) {
    if (pausedMs >= forMs) throw new Error(`${what} did not hold within ${forMs} ms of pauses`);
    await new Promise((resolve) => setTimeout(resolve, countedPauseMs));
  }
}
