/** Ending access at another server, which nobody waits for: tried four times, then left. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';

const mostTries = 4;
const firstPauseMs = 1_000;
const longestPauseMs = 4_000;

/** Resolves also where it never succeeds. Rejects when aborted. */
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
      if (tries === mostTries) return;
      await pause(backoffMs(tries - 1, firstPauseMs, longestPauseMs), null, { signal });
    }
  }
}
