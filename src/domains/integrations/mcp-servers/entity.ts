/** MCP servers that accounts have connected. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { PinnedTool } from './pins.ts';

export const mcpStatuses = ['connected', 'error', 'authorization_required'] as const;
/** `scope_missing`: it is connected, and refuses some calls until a person allows more. */
export const mcpReasons = ['revoked', 'expired', 'client_misconfigured', 'scope_missing'] as const;
export type McpReason = (typeof mcpReasons)[number];

/** The authorization server of an MCP server, and this service as its client: contains no secret. */
export type McpAuthority = {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** The revocation endpoint (RFC 7009); absent or null: none. */
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
    /** Without secrets: `McpSecrets`. */
    url: p.text(),
    headerNames: json<string[]>(),
    /** Encrypted: `McpSecrets`. Empty once it is removed. */
    secrets: p.text().hidden(),
    status: p.text().$type<(typeof mcpStatuses)[number]>(),
    reason: p.text().$type<McpReason>().strictNullable(),
    tools: json<PinnedTool[]>(),
    /** When the tools of the server were last listed; null: it has not listed any. */
    listedAt: epochMs().strictNullable(),
    /** null: only its headers are used. */
    authority: json<McpAuthority>().strictNullable(),
    /** The address of the consent, valid until `authorizeUntil`. */
    authorizeUrl: p.text().strictNullable().hidden(),
    authorizeUntil: epochMs().strictNullable(),
    /** Where the browser is sent after a consent; null: it stays on a page of this service. */
    redirectUri: p.text().strictNullable(),
    /** Incremented with every new access token. */
    generation: p.integer(),
    renewable: p.boolean(),
    /** End of the access token; null: it does not expire. */
    expiresAt: epochMs().strictNullable(),
    /** From then on a call renews the access token first; null: never. */
    renewAt: epochMs().strictNullable(),
    /** The running renewal. */
    refreshEffectId: p.text().strictNullable(),
    createdAt: epochMs(),
    removedAt: epochMs().strictNullable(),
  },
});
export type McpServerRow = InferEntity<typeof McpServer>;
