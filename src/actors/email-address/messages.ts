/** What can be asked of an e-mail address. Its key is the address in lower case. */
import { actorRef } from '../runtime/define-actor.ts';

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
     * Claims the address for a user who has another one, and answers when the user has moved; the other one is free then. False: the user
     * moved elsewhere meanwhile. Refused with `conflict` where somebody else has it.
     */
    move(input: Move): boolean;
    /** Sent by the user: it has moved here, or not. */
    moved(input: { moveId: string; done: boolean }): null;
    /** Sent by the user, who has moved away. */
    release(input: { userId: string }): null;
    /** A timer's: asks again for what is still missing. */
    complete(input: { registrationId: string; attempt: number }): null;
    /** Somebody who may be the holder has forgotten the password. Nothing where nobody holds it. */
    forgotPassword(input: null): null;
  };
  queries: {
    /** Who can sign in with the address; null where nobody can, or not until the registration is finished. */
    holder(input: null): Holder | null;
    /** Whether somebody has claimed it. */
    isTaken(input: null): boolean;
  };
};

export const emailAddress = actorRef<EmailAddressContract>('email_address');

/** The key of an address: case does not tell two addresses apart. */
export function emailAddressId(email: string): string {
  return email.toLowerCase();
}
