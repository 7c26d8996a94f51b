/** Connected accounts at services. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

export const integrationStatuses = ['connected', 'error', 'disconnected'] as const;
export const errorReasons = ['revoked', 'expired', 'scope_missing', 'client_misconfigured'] as const;
export type ErrorReason = (typeof errorReasons)[number];

/** One of an account for each service and mode: connecting again keeps it. */
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
    /** Grows with every other access token. */
    generation: p.integer(),
    /** Whether there is a refresh token. */
    renewable: p.boolean(),
    /** End of the access token; null: it has none. */
    expiresAt: epochMs().strictNullable(),
    /** From then on a call renews the access token first; null: never. */
    renewAt: epochMs().strictNullable(),
    /** null: everything that its tools need. */
    grantedScopes: json<string[]>().strictNullable(),
    /** What connecting has learned beside the tokens, such as `phone_number_id`. */
    attributes: json<Record<string, string>>(),
    /** By which messages to the inbound endpoint name this account at the service; null where there are none. */
    inboundId: p.text().strictNullable(),
    /** Where the browser was last sent with a code; null: none was named. */
    redirectUri: p.text().strictNullable(),
    /** The renewal that runs. */
    refreshEffectId: p.text().strictNullable(),
    /** The end of access at the service, which runs. */
    revokeEffectId: p.text().strictNullable(),
    connectedAt: epochMs(),
    createdAt: epochMs(),
  },
});
export type IntegrationRow = InferEntity<typeof Integration>;
