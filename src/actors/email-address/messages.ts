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

export type Holder = { userId: string; accountId: string };

export type EmailAddressContract = {
  commands: {
    /** Claims the address, makes user and account, and answers when both are there. Refused with `conflict` where another registration has it. */
    register(input: Register): Holder;
    /** Sent by the user and the account: it is there. */
    created(input: { registrationId: string; part: 'account' | 'user' }): null;
    /** A timer's: asks again for what is still missing. */
    complete(input: { registrationId: string; attempt: number }): null;
  };
  queries: {
    /** Who can sign in with the address; null where nobody can, or not until the registration is finished. */
    holder(input: null): Holder | null;
    /** Whether a registration has claimed it. */
    isTaken(input: null): boolean;
  };
};

export const emailAddress = actorRef<EmailAddressContract>('email_address');

/** The key of an address: case does not tell two addresses apart. */
export function emailAddressId(email: string): string {
  return email.toLowerCase();
}
