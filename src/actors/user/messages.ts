/** What can be asked of a user. */
import { actorRef } from '../runtime/define-actor.ts';

export type CreateUser = {
  registrationId: string;
  claimedBy: string;
  accountId: string;
  /** As the person wrote it. */
  email: string;
  name: string | null;
  passwordHash: string;
};

export type UserProfile = { id: string; accountId: string; email: string; name: string | null; createdAt: number };

export type UserContract = {
  commands: {
    /** Sent by the e-mail address that registers it; answered with `created`. Told twice it stays as it is. */
    create(input: CreateUser): null;
  };
  queries: {
    /** null: no such user. */
    profile(input: null): UserProfile | null;
    /** What a login is checked against; null: no such user. */
    credentials(input: null): { accountId: string; passwordHash: string } | null;
  };
};

export const user = actorRef<UserContract>('user');
