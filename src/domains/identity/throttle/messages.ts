/** Commands and queries of a throttle. */
import { createHash } from 'node:crypto';
import { actorRef } from '../../../actors/define-actor.ts';

export type ThrottleRule = {
  /** Failures within the window after which results are withheld. */
  limit: number;
  windowMs: number;
};

export type ThrottleContract = {
  commands: {
    /**
     * Records the result of an attempt, and returns whether it may be revealed: 0, or the seconds until the next attempt. Ask after the
     * check, before any change and before the answer: then of any number of concurrent attempts at most `limit` wrong ones reveal anything.
     */
    judge(input: { rule: ThrottleRule; failed: boolean }): number;
    /** Clears all failures. */
    forget(input: null): null;
  };
  queries: {
    /** Seconds until an attempt may be made; 0: now. Avoids a check whose result would be withheld. */
    waitS(input: { rule: ThrottleRule; nowMs: number }): number;
  };
};

export const throttle = actorRef<ThrottleContract>('throttle');

/** The id of a throttle. User input is hashed, because it may be anything, even a password in the wrong field. */
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
