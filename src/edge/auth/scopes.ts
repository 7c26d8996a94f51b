/** Checks of a principal's scopes. */
import type { Granted } from '../../scopes.ts';
import type { Principal } from './principal.ts';
import { hasScope } from './principal.ts';

export { scopes } from '../../scopes.ts';

/** The first of `wanted` that the principal does not hold; undefined where it holds all. */
export function lackingScope(principal: Principal, wanted: readonly string[]): string | undefined {
  return wanted.find((scope) => !hasScope(principal, scope));
}

/** The principal's rights, in the form stored with what the principal creates. */
export function grantedTo({ scopes }: Principal): Granted {
  return scopes === 'all' ? null : [...scopes].sort();
}
