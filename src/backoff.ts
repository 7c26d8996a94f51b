/** Pauses before retries. */

/**
 * Exponential backoff: `firstMs`, then twice as long after each further failure, at most `maxMs`.
 *
 * @param failures number of earlier failures, from 0
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  // A larger exponent would give infinity, not a larger pause.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
}

/** Exponential backoff from the time since the first try: pauses as long as it has been retried, within bounds. */
export function elapsedBackoffMs(triedForMs: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, triedForMs));
}
