/**
 * Retries the start of a node while the database refuses it temporarily, so that a node that starts while PostgreSQL or its pooler is
 * replaced need not be restarted by hand. Before each retry everything that the failed start has started is stopped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { monotonicMs } from '../clock.ts';
import type { Log } from '../log.ts';
import { isPassingRefusal } from '../storage/database-errors.ts';

export type StartRetryOptions<T> = {
  start: () => Promise<T>;
  /** Stops the parts that a failed start has left. */
  undo: () => Promise<void>;
  log: Log;
  /** From the first refusal to the last try. Default 20 s. */
  retryForMs?: number;
  /** Pause before the second try; doubled for each further one. Default 250 ms. */
  firstPauseMs?: number;
  /** False when the process must end. */
  isWanted?: () => boolean;
};

/** PgBouncer refuses sessions for 15 s (`server_login_retry`) after it could not reach PostgreSQL, even if PostgreSQL is available sooner. */
const defaultRetryForMs = 20_000;
const defaultFirstPauseMs = 250;
const maxPauseMs = 2_000;

/** Rejects with the error of the last start; at once for an error that is not temporary. */
export async function startWithRetries<T>({
  start,
  undo,
  log,
  retryForMs = defaultRetryForMs,
  firstPauseMs = defaultFirstPauseMs,
  isWanted = () => true,
}: StartRetryOptions<T>): Promise<T> {
  let deadlineMs: number | null = null;
  for (let failures = 0; ; failures++) {
    try {
      return await start();
    } catch (error) {
      if (!isWanted()) throw error;
      await undo();
      const nowMs = monotonicMs();
      if (!isPassingRefusal(error) || nowMs >= (deadlineMs ?? nowMs + retryForMs)) throw error;
      if (deadlineMs === null) {
        deadlineMs = nowMs + retryForMs;
        log.warn({ reason: errorText(error), patience_ms: retryForMs }, 'the database refuses this start for now; trying again');
      }
      await pause(backoffMs(failures, firstPauseMs, maxPauseMs));
      if (!isWanted()) throw error;
    }
  }
}

/** The text of the first cause, which says the most. */
function errorText(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? errorText(cause) : message;
}
