/**
 * Guesses at passwords and codes: wrong ones are counted, and after a few of them further guesses are refused, right or wrong. An actor
 * keeps the count, so it holds for all nodes and survives restarts. A guess is checked, then counted, and only then has an effect: a
 * thousand concurrent guesses reveal no more than five in sequence, and a right guess that is refused changes nothing.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { addressGroups } from '../../../edge/http/client-address.ts';
import { AppError } from '../../../errors.ts';
import { emailAddressId } from '../email-address/messages.ts';
import { type ThrottleRule, throttle, throttleId } from '../throttle/messages.ts';

/** A name under which guesses are counted. `clearsOnSuccess`: a success clears the failures. */
export type Counted = { id: string; rule: ThrottleRule; clearsOnSuccess: boolean };

const windowMs = 15 * 60_000;
/** From one IPv4 address or /64, and from a /48. */
const loginLimits = [20, 100] as const;
const hourMs = 3_600_000;

export function loginOfEmail(email: string): Counted {
  return { id: throttleId('login of email', emailAddressId(email)), rule: { limit: 5, windowMs }, clearsOnSuccess: true };
}

/** A right password does not clear the failures of its address: an attacker also has an own account. */
export function loginsFromAddress(address: string): Counted[] {
  return addressGroups(address).map((group, n) => ({
    id: throttleId('login from address', group),
    rule: { limit: loginLimits[n]!, windowMs },
    clearsOnSuccess: false,
  }));
}

export function secondFactorOf(userId: string): Counted {
  return { id: throttleId('second factor of user', userId), rule: { limit: 5, windowMs }, clearsOnSuccess: true };
}

/** The password of a signed-in user: counted separately from logins, so that a stolen session cannot lock the user out. */
export function passwordOf(userId: string): Counted {
  return { id: throttleId('password of user', userId), rule: { limit: 5, windowMs }, clearsOnSuccess: true };
}

/** Mails that verify an address, counted by requester. */
export function verificationMails(userId: string, email: string): Counted[] {
  return [
    { id: throttleId('verification of user', userId), rule: { limit: 20, windowMs: hourMs }, clearsOnSuccess: false },
    { id: throttleId('verification of email', emailAddressId(email)), rule: { limit: 10, windowMs: hourMs }, clearsOnSuccess: false },
  ];
}

export type AttemptParts = { actors: ActorSystem; clock: Clock };

export type Guess<F extends object, T> = {
  counted: readonly Counted[];
  /** Whether the guess is right; null: it is wrong. Changes nothing. */
  check(): Promise<F | null>;
  /** The effect of a right guess; null: it can no longer be used, e.g. a code that was used meanwhile. */
  act(found: F): Promise<T | null>;
  /** The error for a wrong guess. */
  refusal(): AppError;
};

/**
 * Checks a guess, counts it if it is wrong, and acts if it is right. Throws `rate_limited` if too many were wrong before, whether or not
 * this one is, and the error of `refusal` if it is wrong; then nothing has changed.
 */
export async function attempt<F extends object, T>(parts: AttemptParts, { counted, check, act, refusal }: Guess<F, T>): Promise<T> {
  const { actors, clock } = parts;
  const nowMs = clock.nowMs();
  refuseAfter(await Promise.all(counted.map(async ({ id, rule }) => actors.query(throttle, id, 'waitS', { rule, nowMs }))));
  const found = await check();
  refuseAfter(await countAttempts(parts, counted, found === null));
  const done = found === null ? null : await act(found);
  if (done === null) {
    if (found !== null) await countAttempts(parts, counted, true);
    throw refusal();
  }
  await Promise.all(counted.map(({ id, clearsOnSuccess }) => (clearsOnSuccess ? actors.ask(throttle, id, 'forget', null) : null)));
  return done;
}

/** Counts a limited action. Throws `rate_limited` with `message` beyond the limit. */
export async function countUse(parts: AttemptParts, counted: readonly Counted[], message: string): Promise<void> {
  refuseAfter(await countAttempts(parts, counted, true), message);
}

function countAttempts({ actors }: AttemptParts, counted: readonly Counted[], failed: boolean): Promise<number[]> {
  return Promise.all(counted.map(({ id, rule }) => actors.ask(throttle, id, 'judge', { rule, failed })));
}

function refuseAfter(waits: number[], message = 'Too many wrong attempts; try again later'): void {
  const retryAfterS = Math.max(0, ...waits);
  if (retryAfterS > 0) throw new AppError('rate_limited', message, { retryAfterS });
}
