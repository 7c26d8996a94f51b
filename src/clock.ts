/**
 * Time as an argument. Logic takes a `Clock`; only `systemClock` reads the machine. Nodes share one database, and the clocks of their machines may
 * differ: the wall clock of a process is the machine's, corrected by what `storage/database-clock.ts` finds it to differ from the database's.
 */

export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
}

let offsetMs = 0;

export const systemClock: Clock = { nowMs: () => Date.now() + offsetMs };

/** From now on `systemClock` is ahead of the machine's clock by so many whole milliseconds. */
export function correctSystemClock(byMs: number): void {
  offsetMs = Math.round(byMs);
}

/** `2026-11-20T09:30:00.000Z`: the one form of a timestamp in answers and events. */
export function isoTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
