/** Whether a site that its host calls live answers. */
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { DeployFailed } from '../hosts/host-failure.ts';

export type ProbeParts = { outbound: Pick<Outbound, 'fetch'> };

const pauseMs = 2_000;
const requestTimeoutMs = 10_000;
/** The minimum also applies to the last request, which begins when the time is over. */
const minTimeoutMs = 1_000;

/** Returns the status, 2xx or 3xx, of the first such answer. Throws `DeployFailed` where there is none within `forMs`, after a last request when that time is over. */
export async function probe(
  { outbound }: ProbeParts,
  { url, accountId, forMs, signal }: { url: string; accountId: string; forMs: number; signal: AbortSignal },
): Promise<number> {
  const begunAtMs = monotonicMs();
  const untilMs = begunAtMs + forMs;
  let isLast = forMs <= 0;
  let answered: number | null = null;
  for (;;) {
    const last = await ask(Math.min(requestTimeoutMs, Math.max(minTimeoutMs, untilMs - monotonicMs())));
    if (typeof last === 'number' && last >= 200 && last < 400) return last;
    if (typeof last === 'number') answered = last;
    // A status says more than the last request, which has little time.
    if (isLast) throw failed(answered === null ? String(last) : `it answered ${answered}`);
    const leftMs = Math.max(0, untilMs - monotonicMs());
    // Decided before the pause, because a timer may fire a fraction of a millisecond early.
    isLast = leftMs <= pauseMs;
    await pause(Math.min(pauseMs, leftMs), null, { signal });
  }

  async function ask(timeoutMs: number): Promise<number | string> {
    try {
      return (await outbound.fetch(url, { redirects: 0, maxBytes: 64 * 1024, timeoutMs, account: accountId, signal })).status;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      // Another request would be refused too.
      if (error.code === 'forbidden' || error.code === 'bad_request') throw failed(error.message);
      return error.message;
    }
  }

  function failed(why: string): DeployFailed {
    const seconds = Math.round((monotonicMs() - begunAtMs) / 1_000);
    return new DeployFailed('probe_failed', `${url} has not answered with 2xx or 3xx within ${seconds} s: ${why}`);
  }
}
