/**
 * Guesses at passwords and codes: counted where they are wrong, and after a few of them nobody learns any more whether one is right. The count is
 * an actor's, so it holds for all nodes and outlives them. A guess is checked, then judged, and only then has an effect: a thousand guesses at
 * once learn no more than five one after another, and a right one that is refused changes nothing.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { addressGroups } from '../../../edge/http/client-address.ts';
import { AppError } from '../../../errors.ts';
import { emailAddressId } from '../email-address/messages.ts';
import { type ThrottleRule, throttle, throttleId } from '../throttle/messages.ts';

/** What is counted under one name. `forgives`: a success wipes the failures out. */
export type Counted = { id: string; rule: ThrottleRule; forgives: boolean };

const windowMs = 15 * 60_000;
/** From one IPv4 address or /64, and from a /48. */
const loginLimits = [20, 100] as const;
const hourMs = 3_600_000;

export function loginOfEmail(email: string): Counted {
  return { id: throttleId('login of email', emailAddressId(email)), rule: { limit: 5, windowMs }, forgives: true };
}

/** A right password does not wipe out the wrong ones from its address: a guesser has an account of their own too. */
export function loginsFromAddress(address: string): Counted[] {
  return addressGroups(address).map((group, n) => ({
    id: throttleId('login from address', group),
    rule: { limit: loginLimits[n]!, windowMs },
    forgives: false,
  }));
}

export function secondFactorOf(userId: string): Counted {
  return { id: throttleId('second factor of user', userId), rule: { limit: 5, windowMs }, forgives: true };
}

/** The password of somebody who is signed in: apart from logins, so that a stolen session locks nobody out. */
export function passwordOf(userId: string): Counted {
  return { id: throttleId('password of user', userId), rule: { limit: 5, windowMs }, forgives: true };
}

/** Mails that verify an address, by whoever asked for them. */
export function verificationMails(userId: string, email: string): Counted[] {
  return [
    { id: throttleId('verification of user', userId), rule: { limit: 20, windowMs: hourMs }, forgives: false },
    { id: throttleId('verification of email', emailAddressId(email)), rule: { limit: 10, windowMs: hourMs }, forgives: false },
  ];
}

export type AttemptParts = { actors: ActorSystem; clock: Clock };

export type Guess<F extends object, T> = {
  counted: readonly Counted[];
  /** Whether the guess is right; null: it is not. Changes nothing. */
  check(): Promise<F | null>;
  /** What a right guess does; null: it could not be used any more, as a code that somebody else has used meanwhile. */
  act(found: F): Promise<T | null>;
  /** What a wrong guess is answered. */
  refusal(): AppError;
};

/**
 * Checks a guess, counts it where it is wrong, and acts where it is right. Throws `rate_limited` where too many were wrong before, whether or not
 * this one is, and what `refusal` makes where it is wrong; nothing has happened then.
 */
export async function attempt<F extends object, T>(parts: AttemptParts, { counted, check, act, refusal }: Guess<F, T>): Promise<T> {
  const { actors, clock } = parts;
  const nowMs = clock.nowMs();
  refuseAfter(await Promise.all(counted.map(async ({ id, rule }) => actors.query(throttle, id, 'waitS', { rule, nowMs }))));
  const found = await check();
  refuseAfter(await judged(parts, counted, found === null));
  const done = found === null ? null : await act(found);
  if (done === null) {
    if (found !== null) await judged(parts, counted, true);
    throw refusal();
  }
  await Promise.all(counted.map(({ id, forgives }) => (forgives ? actors.ask(throttle, id, 'forget', null) : null)));
  return done;
}

/** Counts something that may be done so often and no more. Throws `rate_limited` with `words` beyond that. */
export async function countUse(parts: AttemptParts, counted: readonly Counted[], words: string): Promise<void> {
  refuseAfter(await judged(parts, counted, true), words);
}

function judged({ actors }: AttemptParts, counted: readonly Counted[], failed: boolean): Promise<number[]> {
  return Promise.all(counted.map(({ id, rule }) => actors.ask(throttle, id, 'judge', { rule, failed })));
}

function refuseAfter(waits: number[], words = 'Too many wrong attempts; try again later'): void {
  const retryAfterS = Math.max(0, ...waits);
  if (retryAfterS > 0) throw new AppError('rate_limited', words, { retryAfterS });
}
