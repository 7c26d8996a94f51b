/** Consents requested at a service, until the service's answer is used. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

export const Authorization = defineEntity({
  name: 'Authorization',
  tableName: 'service_authorization',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    /** What is connected: the name of a service, or the id of an MCP server. */
    target: p.text(),
    /** Where the browser is sent afterwards; null: it stays on a page of this service. */
    redirectUri: p.text().strictNullable(),
    /** The requested scopes. */
    scopes: json<string[]>(),
    /** Encrypted: the PKCE verifier and the secret part of the state. */
    secrets: p.text().hidden(),
    /** Further facts of its kind, such as the client and the issuer of an MCP server. */
    facts: json<Record<string, string>>(),
    /** The browser returned with an answer. */
    returnedAt: epochMs().strictNullable(),
    /** A code is being exchanged until this time; null: none is. */
    takenUntil: epochMs().strictNullable(),
    usedAt: epochMs().strictNullable(),
    createdAt: epochMs(),
    expiresAt: epochMs(),
  },
});
export type AuthorizationRow = InferEntity<typeof Authorization>;
