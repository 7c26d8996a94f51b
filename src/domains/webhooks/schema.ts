/** The tables of webhooks. */
import type { Schema } from '../../storage/schema.ts';
import { AccountWebhooks } from './account-webhooks/entity.ts';
import { OlderSecrets } from './migrations/0051-older-secrets.ts';
import { Webhook, WebhookDelivery } from './webhook/entity.ts';

export const webhooksSchema: Schema = { entities: [AccountWebhooks, Webhook, WebhookDelivery], migrations: [OlderSecrets] };
