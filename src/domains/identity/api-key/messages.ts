/** Commands and queries of an API key. The secret itself never gets here, only its hash. */

import { actorRef } from '../../../actors/define-actor.ts';
import { idBeside } from '../../../cluster/address.ts';
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
    /** Repeating it changes nothing. Refused with `plan_required` where its account has as many keys as it may have. */
    create(input: CreateApiKey): ApiKeyFacts;
    /** Ends the key for good. Refused with `not_found` where the account has no such key, or has ended it before. */
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

/** Derives a key's id from this one, so that it lives on the shard of its account, which counts it in the turn that makes it. */
export function keyIdOf<Id extends string>(accountId: string, id: Id): Id {
  return idBeside(id, apiKey.kind, { kind: account.kind, id: accountId });
}
