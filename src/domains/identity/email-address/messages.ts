/** Commands and queries of an e-mail address. Its key is what addresses are compared by. */

import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import { emailKey } from '../../../email.ts';
import type { RegistrationPort } from '../../accounts/contract.ts';

export type Register = {
  /** Names this registration: asked again with it, the answer is the same and nothing is made twice. */
  registrationId: string;
  /** As the person wrote it. */
  email: string;
  name: string | null;
  passwordHash: string;
};

export type Move = {
  /** Names this move of a user to the address. */
  moveId: string;
  userId: string;
  accountId: string;
  /** As the person wrote it. */
  email: string;
  /** The user's when the person asked: of two moves at once one is refused. */
  emailVersion: number;
};

export type Holder = { userId: string; accountId: string };

export type EmailAddressContract = {
  commands: {
    /** Claims the address, makes user and account, and answers when both are there. Refused with `conflict` where somebody has it. */
    register(input: Register): Holder;
    /** Sent by the user and the account: it is there. */
    created(input: { registrationId: string; part: 'account' | 'user' }): null;
    /**
     * Claims the address for a user who has another one, and answers when the user has taken it down as the one to be verified. False: the
     * user chose otherwise meanwhile. Refused with `conflict` where somebody else has it.
     */
    move(input: Move): boolean;
    /** Sent by the user: the address is the user's, now or when it is verified; or not. */
    moved(input: { moveId: string; done: boolean }): null;
    /** Sent by the user, who does not want the address any more. */
    release(input: { userId: string }): null;
    /** A timer's: asks again for what is still missing. */
    complete(input: { registrationId: string; attempt: number }): null;
    /** Somebody who may be the holder has forgotten the password. Nothing where nobody holds it. */
    forgotPassword(input: null): null;
  };
  queries: {
    /** For whom the address is claimed, who signs in with it if it is the user's own by now; null where for nobody, or not quite yet. */
    holder(input: null): Holder | null;
    /** Whether somebody has claimed it. */
    isTaken(input: null): boolean;
  };
};

export const emailAddress = actorRef<EmailAddressContract>('email_address') satisfies ActorRef<RegistrationPort>;

/** The key of an address, however it is typed. */
export function emailAddressId(email: string): string {
  return emailKey(email);
}
