/** Computes the tokens and scopes of a connection after a renewal: pure. Some services give two tokens, and renew each separately. */
import { firstEnd, type TokenAnswer } from '../oauth/token-endpoint.ts';
import { scopesOf } from '../services/granted.ts';
import type { Tokens } from './tokens.ts';

export type Granted = Extract<TokenAnswer, { kind: 'granted' }>;

/** The pause after which a failed renewal of a second token is tried again. */
const againMs = 60_000;

/** The refresh token for a separate renewal of the second token; null: the answer contained it, or it does not expire. */
export function secondRefresh({ user }: Granted, { userRefresh = null }: Tokens): string | null {
  return user === null ? userRefresh : null;
}

/** @param second the answer to `secondRefresh`; null: there was none to ask for */
export function renewedTokens(stored: Tokens, answer: Granted, second: TokenAnswer | null): { tokens: Tokens; expiresInMs: number | null } {
  const refresh = answer.refresh ?? stored.refresh;
  const { expiresInMs, ...user } = secondToken(stored, answer, second);
  return { tokens: { kind: 'oauth', access: answer.access, refresh, ...user }, expiresInMs: firstEnd(answer.expiresInMs, expiresInMs) };
}

/**
 * A renewal names the scopes of the token that it renews: those of the second one stay as long as there is one.
 *
 * @param known null: everything
 * @param userScopes those that belong to a second token
 */
export function renewedScopes(
  known: readonly string[] | null,
  { scopes, user }: Granted,
  { userScopes, hasLostUser }: { userScopes: readonly string[]; hasLostUser: boolean },
): string[] | null {
  const stored = known ?? [];
  const isOfUser = (scope: string) => userScopes.includes(scope);
  const named =
    scopes === undefined && known === null
      ? null
      : scopesOf(
          scopes,
          stored.filter((scope) => !isOfUser(scope)),
        );
  if (named === null) return null;
  const ofUser = user === null && !hasLostUser ? stored.filter(isOfUser) : [];
  return [...new Set([...named, ...ofUser])];
}

function secondToken(
  stored: Tokens,
  answer: Granted,
  second: TokenAnswer | null,
): Pick<Tokens, 'user' | 'userRefresh'> & { expiresInMs: number | null } {
  // An earlier version stored a single token twice.
  const { user, userRefresh = null } = stored.user === stored.access ? { user: null } : stored;
  if (answer.user !== null) return { user: answer.user, userRefresh: answer.userRefresh ?? userRefresh, expiresInMs: null };
  if (second === null) return { user, userRefresh, expiresInMs: null };
  if (second.kind === 'unavailable') return { user, userRefresh, expiresInMs: againMs };
  if (second.kind === 'refused') return { user: null, userRefresh: null, expiresInMs: null };
  const { access, refresh, expiresInMs } = second;
  return { user: second.user ?? access, userRefresh: second.userRefresh ?? refresh ?? userRefresh, expiresInMs };
}
