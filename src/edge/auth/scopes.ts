/** Scopes as a principal holds them. */
import type { Granted } from '../../scopes.ts';
import type { Principal } from './principal.ts';
import { hasScope } from './principal.ts';

export { scopes } from '../../scopes.ts';

/** The first of `wanted` that the principal does not hold itself; undefined where it holds them all. */
export function lackingScope(principal: Principal, wanted: readonly string[]): string | undefined {
  return wanted.find((scope) => !hasScope(principal, scope));
}

/** What the principal holds, as what it makes keeps it. */
export function grantedTo({ scopes }: Principal): Granted {
  return scopes === 'all' ? null : [...scopes].sort();
}
