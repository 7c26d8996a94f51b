/** Webhooks and their deliveries. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.text().primary(),
    shard: p.integer(),
    accountId: p.text(),
    /** Mode of the key that registered it: it gets no events of the other mode. */
    mode: p.text().$type<Mode>(),
    /** The user who is notified when it is disabled. */
    userId: p.text(),
    url: p.text(),
    /** The last address that answered a challenge: events are delivered while it is `url`. */
    verifiedUrl: p.text().strictNullable(),
    /** Subscribed event names, wildcards included. */
    events: json<string[]>(),
    /** Encrypted. */
    secret: p.text().hidden(),
    /** Signs too, until it expires. */
    oldSecret: p.text().strictNullable().hidden(),
    oldSecretExpiresAt: epochMs().strictNullable(),
    /** Earlier ones, which sign until they expire; newest first. */
    olderSecrets: json<{ secret: string; expiresAt: number }[]>().hidden(),
    status: p.text().$type<'active' | 'disabled' | 'deleted'>(),
    disabledReason: p.text().$type<'failing' | 'gone' | 'asked' | 'unverified'>().strictNullable(),
    /** Incremented at each new start: results of earlier work are ignored. */
    run: p.integer(),
    /** Every event up to here is delivered, except those in `lanes`. */
    cursor: p.bigint('number'),
    lanes: json<{ taskId: string | null; seq: number; failures: number; since: number | null; dueAt: number | null }[]>(),
    /** Deliveries that were requested by hand and have not been tried yet. */
    asked: json<{ id: string; seq: number; type: string; attempts: number; createdAt: number }[]>(),
    createdAt: epochMs(),
    activeSince: epochMs(),
  },
});
export type WebhookRow = InferEntity<typeof Webhook>;

/** The last try to deliver one event to one webhook. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    webhookId: p.text().primary(),
    /** With the event's own ending, so that repeating it is the same delivery. */
    id: p.text().primary(),
    /** 0: a test, which is not an event of the account. */
    seq: p.bigint('number'),
    type: p.text(),
    status: p.text().$type<'pending' | 'delivered' | 'failed'>(),
    attempts: p.integer(),
    responseStatus: p.integer().strictNullable(),
    /** Its first bytes. */
    responseBody: p.text().strictNullable(),
    error: p.text().strictNullable(),
    durationMs: p.integer().strictNullable(),
    createdAt: epochMs(),
    attemptedAt: epochMs().strictNullable(),
    nextAttemptAt: epochMs().strictNullable(),
  },
});
export type WebhookDeliveryRow = InferEntity<typeof WebhookDelivery>;
