/** All scopes there are. `teams.*` and `social.*` can be granted and guard nothing. */
import type { Principal } from './principal.ts';
import { hasScope } from './principal.ts';

export const scopes = [
  'tasks.read',
  'tasks.write',
  'agents.read',
  'agents.write',
  'workspaces.read',
  'workspaces.write',
  'billing.read',
  'teams.read',
  'teams.write',
  'integrations.read',
  'integrations.write',
  'trading.read',
  'trading.write',
  'social.read',
  'social.write',
  'commerce.read',
  'commerce.write',
] as const;

/** The first of `wanted` that the principal does not hold itself; undefined where it holds them all. */
export function lackingScope(principal: Principal, wanted: readonly string[]): string | undefined {
  return wanted.find((scope) => !hasScope(principal, scope));
}
