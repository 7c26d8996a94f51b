/** Commands and queries of a throttle. */
import { createHash } from 'node:crypto';
import { actorRef } from '../../../actors/define-actor.ts';

export type ThrottleRule = {
  /** Failures within the window after which nothing is told any more. */
  limit: number;
  windowMs: number;
};

export type ThrottleContract = {
  commands: {
    /**
     * Takes down how an attempt went, and says whether the one who made it may be told: 0, or in how many seconds another one may be. Ask
     * it after the check, before anything is changed and before the answer: then of any number of attempts at once no more than `limit` wrong
     * ones learn anything.
     */
    judge(input: { rule: ThrottleRule; failed: boolean }): number;
    /** All failures are forgotten. */
    forget(input: null): null;
  };
  queries: {
    /** In how many seconds an attempt may be made; 0: now. Spares a check whose result could not be told. */
    waitS(input: { rule: ThrottleRule; nowMs: number }): number;
  };
};

export const throttle = actorRef<ThrottleContract>('throttle');

/** The throttle of one thing. What people type is hashed: it may be anything, a password in the wrong field too. */
export function throttleId(
  about:
    | 'login of email'
    | 'login from address'
    | 'second factor of user'
    | 'password of user'
    | 'reset of email'
    | 'verification of email'
    | 'verification of user'
    | 'mails of account',
  name: string,
): string {
  return `${about}/${createHash('sha256').update(name).digest('base64url').slice(0, 22)}`;
}
