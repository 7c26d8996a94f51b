/** When to try again what an outage may keep from succeeding for long. */

/** As long as it has been tried already, so that the pauses double; within bounds. */
export function growingPauseMs(triedForMs: number, shortestMs: number, longestMs: number): number {
  return Math.min(longestMs, Math.max(shortestMs, triedForMs));
}
