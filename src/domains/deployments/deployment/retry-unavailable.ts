/** Retries work while parts of this service, such as the database, are unavailable. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes } from '../../../errors.ts';

/** Retries until `signal` is aborted, which has the deadline of the whole deployment. `work` must be safe to repeat. */
export async function retryUnavailable<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || errorCodes[error.code].retry === 'never') throw error;
    }
    await pause(backoffMs(failures, 100, 5_000), null, { signal });
  }
}
