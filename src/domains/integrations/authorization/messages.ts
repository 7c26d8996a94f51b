/** Commands and queries of a consent that a person was asked for. The key is the first part of the state that the service gives back. */
import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { AuthorizationRow } from './entity.ts';

export type NewAuthorization = Pick<AuthorizationRow, 'accountId' | 'mode' | 'target' | 'redirectUri' | 'scopes' | 'secrets' | 'facts'>;

/** Who may use it, for what. */
export type AuthorizationUser = { accountId: string; mode: Mode; target: string };

export type AuthorizationContract = {
  commands: {
    begin(input: NewAuthorization): null;
    /** The browser came back. null: it is unknown, over, or came back before. */
    returned(input: null): AuthorizationRow | null;
    /** Reserves it for one exchange of a code. null: it is unknown, over, used, reserved, or of somebody else. */
    take(input: AuthorizationUser): AuthorizationRow | null;
    /** The exchange came to nothing: the same code may be tried again. */
    giveBack(input: null): null;
    /** It has led to a connection, or to a refusal: it is good for nothing more. */
    used(input: Record<string, never>): null;
  };
  queries: {
    get(input: null): AuthorizationRow | null;
  };
};

export const authorization = actorRef<AuthorizationContract>('authorization');
