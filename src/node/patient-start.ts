/**
 * Begins the start of a node again while the database refuses it for a moment, so that a node which starts while PostgreSQL or its pooler is
 * replaced need not be started again by hand. Wherever in the start the refusal comes: all that was started is stopped first.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { monotonicMs } from '../clock.ts';
import type { Log } from '../log.ts';
import { isPassingRefusal } from '../storage/database-errors.ts';

export type PatientStartOptions<T> = {
  start: () => Promise<T>;
  /** Stops what a failed start has left. */
  undo: () => Promise<void>;
  log: Log;
  /** From the first refusal to the last try. Default 20 s. */
  patienceMs?: number;
  /** Before the second try; doubles from then on. Default 250 ms. */
  firstPauseMs?: number;
  /** False once the process is to end. */
  isWanted?: () => boolean;
};

/** PgBouncer refuses sessions for 15 s (`server_login_retry`) after it did not reach PostgreSQL, also where PostgreSQL is back at once. */
const defaultPatienceMs = 20_000;
const defaultFirstPauseMs = 250;
const longestPauseMs = 2_000;

/** Rejects with what the last start failed with; at once where that does not pass by itself. */
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

/** Of what began it: what stands around it says less. */
function wordsOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? wordsOf(cause) : message;
}
