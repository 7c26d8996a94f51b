/** When a delivery that failed is tried again. */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const firstDelaysMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs];
/** After failing for this long a delivery is not retried, and its webhook is disabled. */
export const retryForMs = 24 * hourMs;
/** A receiver that fails all that time fails at least this often. Fewer failures mean that this service did not run, or that its clock was set. */
const minFailures = 12;

/**
 * The time of the next try: after 5 s, 30 s, 2 min, 10 min, then hourly; the last one 24 hours after the first failure. null: that was the
 * last. Time in which this service did not run does not end the retries.
 *
 * @param failures number of failures, the last one at `nowMs`
 * @param sinceMs time of the first failure
 * @param askedMs the receiver's `Retry-After`, 0 without one; followed up to an hour
 */
export function nextTryMs(failures: number, sinceMs: number, nowMs: number, askedMs = 0): number | null {
  const endMs = sinceMs + retryForMs;
  const nextMs = nowMs + Math.max(firstDelaysMs[failures - 1] ?? hourMs, Math.min(askedMs, hourMs));
  if (nowMs < endMs) return Math.min(nextMs, endMs);
  return failures < minFailures ? nextMs : null;
}
