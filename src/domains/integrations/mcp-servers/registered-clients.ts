/**
 * Clients that the operator has registered at authorization servers of MCP servers (`MCP_OAUTH_CLIENTS`). They have priority over clients
 * that this service could register itself.
 */
import type { RegisteredClient } from './protocol/authority.ts';

/** @param entries `issuer|client id` or `issuer|client id|client secret` */
export function registeredClients(entries: readonly string[]): (issuer: string) => RegisteredClient | null {
  const byIssuer = new Map(
    entries.map((entry) => {
      const [issuer = '', clientId = '', clientSecret = null] = entry.split('|');
      return [withoutSlash(issuer), { clientId, clientSecret }];
    }),
  );
  return (issuer) => byIssuer.get(withoutSlash(issuer)) ?? null;
}

function withoutSlash(address: string): string {
  return address.endsWith('/') ? address.slice(0, -1) : address;
}
