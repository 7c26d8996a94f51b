/** What can be asked of an account. */
import type { AccountRow } from '../../storage/entities/identity.ts';
import { actorRef } from '../runtime/define-actor.ts';

export type CreateAccount = { registrationId: string; claimedBy: string };

export type AccountContract = {
  commands: {
    /** Sent by the e-mail address that registers it; answered with `created`. Told twice it stays as it is. */
    create(input: CreateAccount): null;
  };
  queries: {
    /** null: no such account. */
    get(input: null): AccountRow | null;
  };
};

export const account = actorRef<AccountContract>('account');
