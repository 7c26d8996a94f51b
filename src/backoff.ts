/** How long to wait before something that failed is tried again. */

/**
 * Exponential backoff: `firstMs`, then twice as long after each further failure, at most `maxMs`.
 *
 * @param failures how often it has failed before the failure that is waited for, from 0
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  // Beyond this a larger exponent would give infinity, and no larger pause.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
}

/** Exponential backoff where only the time since the first try is known: as long again as it has been tried, within bounds. */
export function elapsedBackoffMs(triedForMs: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, triedForMs));
}
