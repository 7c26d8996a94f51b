/** Repeats work of this service's own parts, such as the database, while they do not answer. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes } from '../../../errors.ts';

/** Only `signal` ends it: the deadline of the whole deployment. `work` may be repeated. */
export async function patiently<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
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
