/** Time as an argument. Logic takes a `Clock`; only `systemClock` reads the machine. */

export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** `2026-11-20T09:30:00.000Z`: the one form of a timestamp in answers and events. */
export function isoTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
