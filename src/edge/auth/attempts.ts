/**
 * Guesses at passwords and codes: counted where they are wrong, and after a few of them nobody learns any more whether one is right. The count is
 * an actor's, so it holds for all nodes and outlives them; it judges after the check, so that a thousand guesses at once learn no more than five
 * one after another.
 */
import { emailAddressId } from '../../actors/email-address/messages.ts';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { type ThrottleRule, throttle, throttleId } from '../../actors/throttle/messages.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { networkOf } from '../http/client-address.ts';

/** What is counted under one name. */
export type Counted = { id: string; rule: ThrottleRule };

const windowMs = 15 * 60_000;

export function loginOfEmail(email: string): Counted {
  return { id: throttleId('login of email', emailAddressId(email)), rule: { limit: 5, windowMs, forgives: true } };
}

/** A right password does not wipe out the wrong ones from its address: a guesser has an account of their own too. */
export function loginFromAddress(address: string): Counted {
  return { id: throttleId('login from address', networkOf(address)), rule: { limit: 20, windowMs, forgives: false } };
}

export function secondFactorOf(userId: string): Counted {
  return { id: throttleId('second factor of user', userId), rule: { limit: 5, windowMs, forgives: true } };
}

/**
 * Runs a check that answers null for a wrong guess, and counts it. Throws `rate_limited` where too many were wrong before, whether or not this
 * one is, and what `refusal` makes where it is wrong.
 */
export async function attempt<T extends object>(
  { actors, clock }: { actors: ActorSystem; clock: Clock },
  counted: readonly Counted[],
  check: () => Promise<T | null>,
  refusal: () => AppError,
): Promise<T> {
  const nowMs = clock.nowMs();
  refuseAfter(await Promise.all(counted.map(async ({ id, rule }) => actors.query(throttle, id, 'waitS', { rule, nowMs }))));
  const found = await check();
  refuseAfter(await Promise.all(counted.map(({ id, rule }) => actors.ask(throttle, id, 'judge', { rule, failed: found === null }))));
  if (found === null) throw refusal();
  return found;
}

function refuseAfter(waits: number[]): void {
  const retryAfterS = Math.max(0, ...waits);
  if (retryAfterS > 0) throw new AppError('rate_limited', 'Too many wrong attempts; try again later', { retryAfterS });
}
