/** The register of an account's webhooks. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** The webhooks of one account, deleted ones left out. */
export const AccountWebhooks = defineEntity({
  name: 'AccountWebhooks',
  tableName: 'account_webhooks',
  properties: {
    id: p.text().primary(),
    entries: json<{ id: string; origin: string }[]>(),
    /** When it was last reconciled with the webhooks; null: never. */
    countedAt: epochMs().strictNullable(),
  },
});
export type AccountWebhooksRow = InferEntity<typeof AccountWebhooks>;
