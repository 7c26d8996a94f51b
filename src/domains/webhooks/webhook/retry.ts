/** When a delivery that failed is tried again. */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const firstDelaysMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs];
/** A delivery that fails for so long is given up, and its webhook is disabled. */
export const patienceMs = 24 * hourMs;

/**
 * When to try again: after 5 s, 30 s, 2 min, 10 min, then hourly; the last time 24 hours after the first failure. null: that was the last.
 *
 * @param failures how often it has failed, the last one at `nowMs`
 * @param sinceMs when it failed first
 * @param askedMs how long the receiver asked to wait (`Retry-After`), 0 where it did not; obeyed up to an hour
 */
export function nextTryMs(failures: number, sinceMs: number, nowMs: number, askedMs = 0): number | null {
  const endMs = sinceMs + patienceMs;
  if (nowMs >= endMs) return null;
  const delayMs = Math.max(firstDelaysMs[failures - 1] ?? hourMs, Math.min(askedMs, hourMs));
  return Math.min(nowMs + delayMs, endMs);
}
