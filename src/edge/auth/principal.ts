/** Who is calling: the account a request acts for and what it may do there. Made by authentication, read by everything behind it. */

export type Principal = {
  readonly accountId: string;
  readonly userId: string;
  /** `session`: a person's access token; `api_key`: a program's key; `link`: the bearer of a signed download link. */
  readonly kind: 'session' | 'api_key' | 'link';
  readonly scopes: ReadonlySet<string> | 'all';
  readonly mode: 'live' | 'test';
  /** The session's or the key's id: what limits are counted by and revocation names. */
  readonly id: string;
};

/** Whether the principal holds `scope`, e.g. `tasks.read`. */
export function hasScope(principal: Principal, scope: string): boolean {
  return principal.scopes === 'all' || principal.scopes.has(scope);
}
