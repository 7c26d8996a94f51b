/** Commands and queries of a session. Refresh tokens are passed as SHA-256 hashes. */
import { actorRef } from '../../../actors/define-actor.ts';

export type OpenSession = {
  userId: string;
  accountId: string;
  /** The user's generation at the login check. */
  generation: number;
  refreshHash: string;
};

export type SessionOwner = { userId: string; accountId: string; generation: number };

export type SessionContract = {
  commands: {
    open(input: OpenSession): null;
    /**
     * Exchanges the live refresh token for the next one. null: no session, an ended one, or a refresh token that is too old. A used token
     * ends the session, because one of its two holders has stolen it.
     */
    rotate(input: { presentedHash: string; nextHash: string }): SessionOwner | null;
    /** Ends the session of this user; false if it is not the user's. An ended session stays ended. */
    revoke(input: { userId: string }): boolean;
  };
  queries: {
    /** The generation it was opened with: access tokens are valid while it is still the user's. null: the session has ended. */
    standing(input: null): number | null;
    /** Its user, and the user's generation it was opened with. null: the session has ended. */
    opened(input: null): SessionOwner | null;
  };
};

export const session = actorRef<SessionContract>('session');
