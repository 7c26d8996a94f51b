/** When one of the service's own mails that certainly was not sent is retried. */

import { backoffMs } from './backoff.ts';

const maxAttempts = 5;
const firstRetryMs = 15_000;
const maxRetryMs = 600_000;

/** @param attempt number of tries so far. null: no further try. */
export function mailAgainAfterMs(attempt: number): number | null {
  return attempt >= maxAttempts ? null : backoffMs(attempt, firstRetryMs, maxRetryMs);
}
