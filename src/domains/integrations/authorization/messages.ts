/** Commands and queries of a consent. The key is the first part of the state that the service returns. */
import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { AuthorizationRow } from './entity.ts';

export type NewAuthorization = Pick<AuthorizationRow, 'accountId' | 'mode' | 'target' | 'redirectUri' | 'scopes' | 'secrets' | 'facts'>;

/** The account and mode that may use it, and the target. */
export type AuthorizationUser = { accountId: string; mode: Mode; target: string };

export type AuthorizationContract = {
  commands: {
    begin(input: NewAuthorization): null;
    /** The browser returned. null: the consent is unknown, expired, or was returned before. */
    returned(input: null): AuthorizationRow | null;
    /** Reserves it for one exchange of a code. null: it is unknown, expired, used, reserved, or another account's. */
    take(input: AuthorizationUser): AuthorizationRow | null;
    /** The exchange failed: the same code may be tried again. */
    giveBack(input: null): null;
    /** It has led to a connection, or to a refusal: it cannot be used again. */
    used(input: Record<string, never>): null;
  };
  queries: {
    get(input: null): AuthorizationRow | null;
  };
};

export const authorization = actorRef<AuthorizationContract>('authorization');
