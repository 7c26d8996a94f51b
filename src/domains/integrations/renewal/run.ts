/**
 * The effect that renews tokens: after an outage it retries with a pause, after a refusal once immediately, with the newest stored refresh
 * token.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import type { Renewed } from './turns.ts';

/** The result of one request for tokens; `error`: the code of RFC 6749, section 5.2. */
export type RenewalAnswer<Grant> =
  | { kind: 'granted'; grant: Grant }
  | { kind: 'refused'; error: string }
  | { kind: 'unavailable'; detail: string };

export type RenewalRefusal = 'revoked' | 'client_misconfigured';

const outagesBeforeGivingUp = 3;
const firstPauseMs = 1_000;
const maxPauseMs = 4_000;

/**
 * Rejects with `unavailable` after three requests without a usable answer.
 *
 * @param request reads the stored tokens each time: another node may have renewed them meanwhile, or an answer was lost in a crash
 */
export async function renewTokens<Grant>(
  request: () => Promise<RenewalAnswer<Grant>>,
  { signal, onOutage }: { signal: AbortSignal; onOutage(detail: string): void },
): Promise<Renewed<Grant, RenewalRefusal>> {
  for (let refusals = 0, outages = 0; ; ) {
    const answer = await request();
    signal.throwIfAborted();
    if (answer.kind === 'granted') return answer;
    if (answer.kind === 'refused') {
      if (answer.error === 'invalid_client') return { kind: 'refused', reason: 'client_misconfigured' };
      if (++refusals === 2) return { kind: 'refused', reason: 'revoked' };
      continue;
    }
    onOutage(answer.detail);
    if (++outages === outagesBeforeGivingUp) throw new AppError('unavailable', answer.detail);
    await pause(backoffMs(outages - 1, firstPauseMs, maxPauseMs), null, { signal });
  }
}
