/** The address of a site that has been published. */

/**
 * @param own the account's address of the site, which is preferred
 * @param named by the host, with or without a scheme
 * @param apiUrl of the host: a site of a host that is reached by http is reached by http too
 */
export function siteUrl(own: string | null, named: string, apiUrl: string): string {
  if (own !== null) return own;
  return /^https?:\/\//i.test(named) ? named : `${new URL(apiUrl).protocol}//${named.replace(/^\/+/, '')}`;
}
