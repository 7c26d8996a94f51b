/** Waiting for a condition without an event. */

const minPauseMs = 5;
const maxPauseMs = 50;

/**
 * Resolves when `condition` holds. Evaluates it repeatedly, with a pause of three times the duration of the last evaluation (5 to 50 ms):
 * a condition that queries a database or a node leaves most of the processor time to these. Fails after a minute. A test whose rule is how
 * soon the condition holds measures that itself.
 */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  for (;;) {
    const beganMs = performance.now();
    if (await condition()) return;
    const endedMs = performance.now();
    if (endedMs > deadlineMs) throw new Error(`${what} did not hold within a minute`);
    const pauseMs = Math.min(Math.max(3 * (endedMs - beganMs), minPauseMs), maxPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
