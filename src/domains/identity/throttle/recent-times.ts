/** The times of an event within a window, at most `limit` of them. */
import type { ThrottleRow } from './entity.ts';

type Window = { limit: number; windowMs: number };

/** Seconds until the event may happen again: until it has happened fewer than `limit` times within the window. 0: now. */
export function waitS(times: readonly number[], { limit, windowMs }: Window, nowMs: number): number {
  const decisive = times.at(-limit);
  if (decisive === undefined) return 0;
  return Math.max(0, Math.ceil((decisive + windowMs - nowMs) / 1000));
}

/** The row after one more event. */
export function countedTimes(id: string, times: readonly number[], { limit, windowMs }: Window, nowMs: number): ThrottleRow {
  const recent = [...times.filter((atMs) => nowMs - atMs < windowMs), nowMs];
  return { id, times: recent.slice(-limit), forgetAt: nowMs + windowMs };
}
