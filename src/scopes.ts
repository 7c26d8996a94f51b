/** The scopes that a key can be granted. No endpoint uses `teams.*` and `social.*` yet. */

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
export type Scope = (typeof scopes)[number];

/** The granted scopes; null: all, as for a user's session. */
export type Granted = readonly string[] | null;

export function isGranted(granted: Granted, scope: Scope): boolean {
  return granted === null || granted.includes(scope);
}

/** The scopes that are in both. */
export function grantedByBoth(one: Granted, other: Granted): Granted {
  if (one === null) return other;
  return other === null ? one : one.filter((scope) => other.includes(scope));
}
