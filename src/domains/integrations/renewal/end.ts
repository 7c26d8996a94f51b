/** Ends access at another server, in the background: four tries at most. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';

const maxTries = 4;
const firstPauseMs = 1_000;
const maxPauseMs = 4_000;

/** Resolves even if it never succeeds. Rejects when aborted. */
export async function untilEnded(
  work: () => Promise<void>,
  { signal, failed }: { signal: AbortSignal; failed(err: unknown, tries: number): void },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (err) {
      signal.throwIfAborted();
      failed(err, tries);
      if (tries === maxTries) return;
      await pause(backoffMs(tries - 1, firstPauseMs, maxPauseMs), null, { signal });
    }
  }
}
