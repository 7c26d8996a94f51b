/** An API key: gives a program rights in an account until the key is revoked. active → revoked, and never back. */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { shardOf } from '../../../cluster/address.ts';
import { AppError } from '../../../errors.ts';
import { account } from '../../accounts/contract.ts';
import { ApiKey, type ApiKeyRow } from './entity.ts';
import { type ApiKeyContract, type ApiKeyFacts, apiKey, type CreateApiKey } from './messages.ts';

const touchIntervalMs = 60_000;

export const apiKeyActor = defineActor<ApiKeyRow, ApiKeyContract>({
  ref: apiKey,
  entity: ApiKey,
  commands: { create, revoke, touch },
  queries: { facts: (state) => (state?.status === 'active' ? factsOf(state) : null) },
});

function create(state: ApiKeyRow | null, input: CreateApiKey, ctx: TurnContext<ApiKeyContract>): Turn<ApiKeyRow, ApiKeyFacts> {
  if (state !== null) return { state, reply: factsOf(state) };
  const { accountId } = input;
  if (isInShardOf(accountId, ctx)) ctx.callColocated(account, accountId, 'addApiKey', {});
  else ctx.send(account, accountId, 'apiKeyMade', {});
  const made: ApiKeyRow = { id: ctx.id, ...input, status: 'active', createdAt: ctx.nowMs, lastUsedAt: null };
  return { state: made, reply: factsOf(made) };
}

function revoke(state: ApiKeyRow | null, { accountId }: { accountId: string }, ctx: TurnContext<ApiKeyContract>): Turn<ApiKeyRow, null> {
  if (state?.status !== 'active' || state.accountId !== accountId) throw new AppError('not_found', 'API key not found');
  if (isInShardOf(accountId, ctx)) ctx.callColocated(account, accountId, 'apiKeyEnded', {});
  else ctx.send(account, accountId, 'apiKeyEnded', {});
  return { state: { ...state, status: 'revoked' }, reply: null };
}

/** False for a key that an earlier version of this service made. */
function isInShardOf(accountId: string, { id }: TurnContext<ApiKeyContract>): boolean {
  return shardOf(apiKey.kind, id) === shardOf(account.kind, accountId);
}

function touch(state: ApiKeyRow | null, _input: null, ctx: TurnContext<ApiKeyContract>): Turn<ApiKeyRow | null, null> {
  const isRecent = state?.lastUsedAt != null && ctx.nowMs - state.lastUsedAt < touchIntervalMs;
  if (state?.status !== 'active' || isRecent) return { state, reply: null };
  return { state: { ...state, lastUsedAt: ctx.nowMs }, reply: null };
}

function factsOf({ accountId, mode, scopes, createdAt }: ApiKeyRow): ApiKeyFacts {
  return { accountId, mode, scopes, createdAt };
}
