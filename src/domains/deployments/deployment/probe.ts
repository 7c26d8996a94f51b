/** Whether a site that its host calls live answers. */
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { DeployFailed } from '../hosts/host-failure.ts';

export type ProbeParts = { outbound: Pick<Outbound, 'fetch'> };

const pauseMs = 2_000;
const requestTimeoutMs = 10_000;
/** The last request begins when the time is over. */
const shortestTimeoutMs = 1_000;

/** Returns the status, 2xx or 3xx, of the first such answer. Throws `DeployFailed` where there is none within `forMs`; it asks once at least. */
export async function probe(
  { outbound }: ProbeParts,
  { url, accountId, forMs, signal }: { url: string; accountId: string; forMs: number; signal: AbortSignal },
): Promise<number> {
  const begunAtMs = monotonicMs();
  const untilMs = begunAtMs + forMs;
  for (;;) {
    const last = await ask(Math.min(requestTimeoutMs, Math.max(shortestTimeoutMs, untilMs - monotonicMs())));
    if (typeof last === 'number' && last >= 200 && last < 400) return last;
    const leftMs = untilMs - monotonicMs();
    if (leftMs <= 0) throw failed(typeof last === 'number' ? `it answered ${last}` : last);
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
