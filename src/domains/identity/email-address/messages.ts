/** Commands and queries of an e-mail address. Its key is the form in which addresses are compared. */

import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import { emailKey } from '../../../email.ts';
import type { RegistrationPort } from '../../accounts/contract.ts';

export type Register = {
  /** Identifies this registration: a repeat with it has the same answer and creates nothing twice. */
  registrationId: string;
  /** As typed by the user. */
  email: string;
  name: string | null;
  passwordHash: string;
};

export type Move = {
  /** Identifies this move of a user to the address. */
  moveId: string;
  userId: string;
  accountId: string;
  /** As typed by the user. */
  email: string;
  /** The user's version at the request: of two concurrent moves one is refused. */
  emailVersion: number;
};

export type Holder = { userId: string; accountId: string };

export type EmailAddressContract = {
  commands: {
    /** Claims the address, creates user and account, and answers when both exist. Refused with `conflict` if the address is taken. */
    register(input: Register): Holder;
    /** Sent by the user and the account once they are created. */
    created(input: { registrationId: string; part: 'account' | 'user' }): null;
    /**
     * Claims the address for a user with another one, and answers when the user has recorded it for verification. False: the user chose
     * otherwise meanwhile. Refused with `conflict` if another user has it.
     */
    move(input: Move): boolean;
    /** Sent by the user: whether the address belongs to the user, now or after verification. */
    moved(input: { moveId: string; done: boolean }): null;
    /** Sent by the user, who no longer needs the address. */
    release(input: { userId: string }): null;
    /** By timer: asks again for the missing parts. */
    complete(input: { registrationId: string; attempt: number }): null;
    /** A password reset is requested for the address. No effect without a holder. */
    forgotPassword(input: null): null;
  };
  queries: {
    /** The user of the claim, who signs in with it once it is the user's own; null if there is none, or not created yet. */
    holder(input: null): Holder | null;
    /** Whether it is claimed. */
    isTaken(input: null): boolean;
  };
};

export const emailAddress = actorRef<EmailAddressContract>('email_address') satisfies ActorRef<RegistrationPort>;

/** The key of an address in any spelling. */
export function emailAddressId(email: string): string {
  return emailKey(email);
}
