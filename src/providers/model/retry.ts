/** The pause before the next try of a model turn. */

import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../backoff.ts';
import { retryAfterMs as headerMs } from '../../retry-after.ts';

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemSleep: Sleep = async (ms, signal) => {
  await delay(ms, undefined, { signal });
};

const baseMs = 500;
const capMs = 30_000;
/** The longest Retry-After of an endpoint that is followed. */
const retryAfterCapMs = 60_000;

/**
 * Exponential back-off with full jitter: anything between 0 and 0.5 s, 1 s, 2 s … 30 s. An endpoint's Retry-After (at most 60 s) is
 * followed, plus a little jitter, so that clients do not retry at the same instant.
 *
 * @param failedTries number of failed tries so far, from 1
 * @param random a number in [0, 1)
 */
export function retryPauseMs(failedTries: number, retryAfterMs: number | undefined, random: () => number): number {
  const jitterMs = Math.round(random() * backoffMs(failedTries - 1, baseMs, capMs));
  if (retryAfterMs === undefined) return jitterMs;
  return Math.min(retryAfterMs, retryAfterCapMs) + Math.min(jitterMs, baseMs);
}

/** Reads `Retry-After` (seconds or an HTTP date) or `retry-after-ms`. Undefined where absent or invalid. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const inMs = headers.get('retry-after-ms');
  if (inMs !== null && /^\d{1,9}$/.test(inMs)) return Number(inMs);
  return headerMs(headers.get('retry-after') ?? undefined, nowMs) ?? undefined;
}
