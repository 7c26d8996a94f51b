/**
 * Retries the start of a node while the database refuses it temporarily, so that a node that starts while PostgreSQL or its pooler is
 * replaced need not be restarted by hand. Before each retry everything that the failed start has started is stopped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { monotonicMs } from '../clock.ts';
import type { Log } from '../log.ts';
import { isPassingRefusal } from '../storage/database-errors.ts';

export type PatientStartOptions<T> = {
  start: () => Promise<T>;
  /** Stops the parts that a failed start has left. */
  undo: () => Promise<void>;
  log: Log;
  /** From the first refusal to the last try. Default 20 s. */
  patienceMs?: number;
  /** Pause before the second try; doubled for each further one. Default 250 ms. */
  firstPauseMs?: number;
  /** False when the process must end. */
  isWanted?: () => boolean;
};

/** PgBouncer refuses sessions for 15 s (`server_login_retry`) after it could not reach PostgreSQL, even if PostgreSQL is available sooner. */
const defaultPatienceMs = 20_000;
const defaultFirstPauseMs = 250;
const longestPauseMs = 2_000;

/** Rejects with the error of the last start; at once for an error that is not temporary. */
export async function startPatiently<T>({
  start,
  undo,
  log,
  patienceMs = defaultPatienceMs,
  firstPauseMs = defaultFirstPauseMs,
  isWanted = () => true,
}: PatientStartOptions<T>): Promise<T> {
  let giveUpAtMs: number | null = null;
  for (let failures = 0; ; failures++) {
    try {
      return await start();
    } catch (error) {
      if (!isWanted()) throw error;
      await undo();
      const nowMs = monotonicMs();
      if (!isPassingRefusal(error) || nowMs >= (giveUpAtMs ?? nowMs + patienceMs)) throw error;
      if (giveUpAtMs === null) {
        giveUpAtMs = nowMs + patienceMs;
        log.warn({ reason: wordsOf(error), patience_ms: patienceMs }, 'the database refuses this start for now; trying again');
      }
      await pause(backoffMs(failures, firstPauseMs, longestPauseMs));
      if (!isWanted()) throw error;
    }
  }
}

/** The text of the first cause, which says the most. */
function wordsOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? wordsOf(cause) : message;
}
