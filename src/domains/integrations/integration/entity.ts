/** Connected accounts at services. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

export const integrationStatuses = ['connected', 'error', 'disconnected'] as const;
export const errorReasons = ['revoked', 'expired', 'scope_missing', 'client_misconfigured'] as const;
export type ErrorReason = (typeof errorReasons)[number];

/** One row per account, service and mode: connecting again keeps it. */
export const Integration = defineEntity({
  name: 'Integration',
  tableName: 'integration',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    service: p.text(),
    status: p.text().$type<(typeof integrationStatuses)[number]>(),
    /** Only with status `error`. */
    reason: p.text().$type<ErrorReason>().strictNullable(),
    /** Encrypted: `Tokens`. Empty once it is disconnected. */
    tokens: p.text().hidden(),
    /** Incremented with every new access token. */
    generation: p.integer(),
    /** Whether there is a refresh token. */
    renewable: p.boolean(),
    /** End of the access token; null: it has none. */
    expiresAt: epochMs().strictNullable(),
    /** From then on a call renews the access token first; null: never. */
    renewAt: epochMs().strictNullable(),
    /** null: everything that its tools need. */
    grantedScopes: json<string[]>().strictNullable(),
    /** Attributes that connecting has discovered besides the tokens, such as `phone_number_id`. */
    attributes: json<Record<string, string>>(),
    /** The name of this account in messages to the inbound endpoint; null if the service sends none. */
    inboundId: p.text().strictNullable(),
    /** Where the browser was last sent with a code; null: nowhere. */
    redirectUri: p.text().strictNullable(),
    /** The running renewal. */
    refreshEffectId: p.text().strictNullable(),
    /** The running revocation at the service. */
    revokeEffectId: p.text().strictNullable(),
    connectedAt: epochMs(),
    createdAt: epochMs(),
  },
});
export type IntegrationRow = InferEntity<typeof Integration>;
