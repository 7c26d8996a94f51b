/** MCP servers that accounts have connected. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { PinnedTool } from './pins.ts';

export const mcpStatuses = ['connected', 'error', 'authorization_required'] as const;
/** `scope_missing`: it is connected, and refuses some calls until a person allows more. */
export const mcpReasons = ['revoked', 'expired', 'client_misconfigured', 'scope_missing'] as const;
export type McpReason = (typeof mcpReasons)[number];

/** The authorization server of an MCP server, and this service as its client: nothing secret. */
export type McpAuthority = {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Where tokens are ended (RFC 7009); absent or null: nowhere. */
  revocationEndpoint?: string | null;
  tokenAuthMethods: string[];
  /** It names itself in its answers (RFC 9207). */
  namesItself: boolean;
  /** The resource that tokens are for (RFC 8707). */
  resource: string;
  /** Scopes to request; null: the default of the server. */
  scope: string | null;
  clientId: string;
};

export const McpServer = defineEntity({
  name: 'McpServer',
  tableName: 'mcp_server',
  properties: {
    /** Derived from account, mode and name: an account has one server of a name. */
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    name: p.text(),
    url: p.text(),
    headerNames: json<string[]>(),
    /** Encrypted: `McpSecrets`. Empty once it is removed. */
    secrets: p.text().hidden(),
    status: p.text().$type<(typeof mcpStatuses)[number]>(),
    reason: p.text().$type<McpReason>().strictNullable(),
    tools: json<PinnedTool[]>(),
    /** When the tools of the server were last listed; null: it has not listed any. */
    listedAt: epochMs().strictNullable(),
    /** null: it is reached by its headers alone. */
    authority: json<McpAuthority>().strictNullable(),
    /** Where a person consents, until `authorizeUntil`. */
    authorizeUrl: p.text().strictNullable().hidden(),
    authorizeUntil: epochMs().strictNullable(),
    /** Where the browser goes after a consent; null: it stays on a page of ours. */
    redirectUri: p.text().strictNullable(),
    /** Grows with every other access token. */
    generation: p.integer(),
    renewable: p.boolean(),
    /** End of the access token; null: it has none. */
    expiresAt: epochMs().strictNullable(),
    /** From then on a call renews the access token first; null: never. */
    renewAt: epochMs().strictNullable(),
    /** The renewal that runs. */
    refreshEffectId: p.text().strictNullable(),
    createdAt: epochMs(),
    removedAt: epochMs().strictNullable(),
  },
});
export type McpServerRow = InferEntity<typeof McpServer>;
