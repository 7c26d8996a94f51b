/** What can be asked of an API key. The secret itself never gets here, only its hash. */
import { actorRef } from '../runtime/define-actor.ts';

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
    /** Told twice it stays as it is. */
    create(input: CreateApiKey): ApiKeyFacts;
    /** Ends the key for good. Refused with `not_found` where the account has no such key, or has ended it before. */
    revoke(input: { accountId: string }): null;
    /** It was used; noted at most once a minute. */
    touch(input: null): null;
  };
  queries: {
    /** null: no such key, or it is revoked. */
    facts(input: null): ApiKeyFacts | null;
  };
};

export const apiKey = actorRef<ApiKeyContract>('api_key');
