/** Commands and queries of an API key. The secret itself never reaches the actor, only its hash. */

import { actorRef } from '../../../actors/define-actor.ts';
import { colocatedId } from '../../../cluster/address.ts';
import { account } from '../../accounts/contract.ts';

export type CreateApiKey = {
  accountId: string;
  userId: string;
  name: string;
  /** SHA-256, hexadecimal. */
  secretHash: string;
  lastFour: string;
  mode: 'live' | 'test';
  scopes: string[];
};

export type ApiKeyFacts = { accountId: string; mode: 'live' | 'test'; scopes: string[]; createdAt: number };

export type ApiKeyContract = {
  commands: {
    /** Repeating it changes nothing. Refused with `plan_required` if its account has reached its number of keys. */
    create(input: CreateApiKey): ApiKeyFacts;
    /** Ends the key permanently. Refused with `not_found` if the account has no such key, or has ended it before. */
    revoke(input: { accountId: string }): null;
    /** The key was used; recorded at most once a minute. */
    touch(input: null): null;
  };
  queries: {
    /** null: no such key, or it is revoked. */
    facts(input: null): ApiKeyFacts | null;
  };
};

export const apiKey = actorRef<ApiKeyContract>('api_key');

/** Derives a key's id from this one, so that it is on the shard of its account, which counts it in the turn that makes it. */
export function keyIdOf<Id extends string>(accountId: string, id: Id): Id {
  return colocatedId(id, apiKey.kind, { kind: account.kind, id: accountId });
}
