/** The tables of webhooks. */
import type { Schema } from '../../storage/schema.ts';
import { AccountWebhooks } from './account-webhooks/entity.ts';
import { Webhook, WebhookDelivery } from './webhook/entity.ts';

export const webhooksSchema: Schema = { entities: [AccountWebhooks, Webhook, WebhookDelivery] };
