/** Webhooks and deliveries in the callers' form. The secret is shown once, by the request that created it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { modes } from '../../../mode.ts';
import type { WebhookRow } from '../webhook/entity.ts';
import { type DeliveryRecord, isDelivering } from '../webhook/messages.ts';
import { eventIdOf } from '../webhook/webhook-dispatcher.ts';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const described = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Type.Enum(['pending', 'active', 'disabled'], {
    description: 'Pending: the address has not answered the event `webhook.challenge` with 2xx yet; events wait until then',
  }),
  disabled_reason: Type.Union([Type.Enum(['failing', 'gone', 'asked', 'unverified']), Type.Null()], {
    description:
      'A delivery failed for 24 hours; the receiver answered 410; somebody asked for it; the challenge was not answered with 2xx for 24 hours',
  }),
  mode: Type.Enum([...modes], {
    description:
      'The mode of the key that registered the webhook; events of cards, orders and the wallet are sent only to webhooks of their mode',
  }),
  created_at: Timestamp,
};

export const WebhookSchema = Type.Object(described, { title: 'Webhook' });
export const WebhookWithSecret = Type.Object(
  {
    ...described,
    secret: Type.String({ description: '`whsec_` and a key in base64, which signs deliveries; it is not shown again' }),
  },
  { title: 'CreatedWebhook' },
);

export const DeliverySchema = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String({ description: 'The `webhook-id` header: the same for every try' }),
    event_type: Type.String(),
    status: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Integer(),
    response_status: orNull(Type.Integer(), 'What the receiver answered last; null: nothing'),
    response_body: orNull(Type.String(), 'The first 1,024 bytes of it'),
    error: orNull(Type.String(), 'Why the last try failed'),
    duration_ms: orNull(Type.Integer(), 'How long the last try took'),
    created_at: Timestamp,
    attempted_at: orNull(Timestamp, 'When it was tried last'),
    next_attempt_at: orNull(Timestamp, 'When it is tried again; null: not by itself'),
  },
  { title: 'Delivery' },
);

export function webhookView(row: WebhookRow): Static<typeof WebhookSchema> {
  const { id, url, events, status, disabledReason, mode, createdAt } = row;
  const shown = isDelivering(row) ? 'active' : status === 'active' ? 'pending' : 'disabled';
  return { id, url, events, status: shown, disabled_reason: disabledReason ?? null, mode, created_at: isoTimestamp(createdAt) };
}

/** @param activeSince of an active webhook, otherwise null: retries planned before it are no longer made */
export function deliveryView(record: DeliveryRecord, activeSince: number | null): Static<typeof DeliverySchema> {
  const time = (ms: number | null | undefined) => (ms == null ? null : isoTimestamp(ms));
  const isPlanned = activeSince !== null && record.attemptedAt != null && record.attemptedAt >= activeSince;
  return {
    id: record.id,
    event_id: eventIdOf(record.id),
    event_type: record.type,
    status: record.status,
    attempts: record.attempts,
    response_status: record.responseStatus ?? null,
    response_body: record.responseBody ?? null,
    error: record.error ?? null,
    duration_ms: record.durationMs ?? null,
    created_at: isoTimestamp(record.createdAt),
    attempted_at: time(record.attemptedAt),
    next_attempt_at: isPlanned ? time(record.nextAttemptAt) : null,
  };
}
