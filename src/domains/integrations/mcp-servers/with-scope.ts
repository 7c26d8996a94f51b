/** What an authorization server is asked for once an MCP server has said that a scope is missing. */
import type { McpAuthority } from './entity.ts';

const maxScopes = 100;

/** @param scope one or more, with blanks between them */
export function withScope(authority: McpAuthority, scope: string): McpAuthority {
  const wanted = new Set([...(authority.scope?.split(' ') ?? []), ...scope.split(' ')]);
  return { ...authority, scope: [...wanted].slice(0, maxScopes).join(' ') };
}
