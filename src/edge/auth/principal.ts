/** The authenticated caller: the account that a request acts for and the scopes it has there. Authentication makes it; all later steps read it. */

export type Principal = {
  readonly accountId: string;
  readonly userId: string;
  /** `session`: a person's access token; `api_key`: a program's key; `link`: the bearer of a signed download link. */
  readonly kind: 'session' | 'api_key' | 'link';
  readonly scopes: ReadonlySet<string> | 'all';
  readonly mode: 'live' | 'test';
  /** The id of the session or key: limits are counted by it, and a revocation names it. */
  readonly id: string;
};

/** Whether the principal holds `scope`, e.g. `tasks.read`. */
export function hasScope(principal: Principal, scope: string): boolean {
  return principal.scopes === 'all' || principal.scopes.has(scope);
}
