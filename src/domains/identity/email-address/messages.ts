/** Commands and queries of an e-mail address. Its key is what addresses are compared by. */

import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import { emailKey } from '../../../email.ts';
import type { RegistrationPort } from '../../accounts/contract.ts';

export type Register = {
  /** Identifies this registration: repeated with it, the answer is the same and nothing is created twice. */
  registrationId: string;
  /** As the person wrote it. */
  email: string;
  name: string | null;
  passwordHash: string;
};

export type Move = {
  /** Identifies this move of a user to the address. */
  moveId: string;
  userId: string;
  accountId: string;
  /** As the person wrote it. */
  email: string;
  /** The user's when the request came: of two moves at once one is refused. */
  emailVersion: number;
};

export type Holder = { userId: string; accountId: string };

export type EmailAddressContract = {
  commands: {
    /** Claims the address, creates user and account, and answers when both exist. Refused with `conflict` where the address is taken. */
    register(input: Register): Holder;
    /** Sent by the user and the account once they are created. */
    created(input: { registrationId: string; part: 'account' | 'user' }): null;
    /**
     * Claims the address for a user who has another one, and answers when the user has recorded it as the one to be verified. False: the
     * user chose otherwise meanwhile. Refused with `conflict` where another user has it.
     */
    move(input: Move): boolean;
    /** Sent by the user: the address is the user's, now or when it is verified; or not. */
    moved(input: { moveId: string; done: boolean }): null;
    /** Sent by the user, who does not want the address any more. */
    release(input: { userId: string }): null;
    /** A timer's: asks again for what is still missing. */
    complete(input: { registrationId: string; attempt: number }): null;
    /** A password reset is requested for the address. No effect where it has no holder. */
    forgotPassword(input: null): null;
  };
  queries: {
    /** The user it is claimed for, who signs in with it once it is the user's own; null where none, or not created yet. */
    holder(input: null): Holder | null;
    /** Whether it is claimed. */
    isTaken(input: null): boolean;
  };
};

export const emailAddress = actorRef<EmailAddressContract>('email_address') satisfies ActorRef<RegistrationPort>;

/** The key of an address, however it is typed. */
export function emailAddressId(email: string): string {
  return emailKey(email);
}
