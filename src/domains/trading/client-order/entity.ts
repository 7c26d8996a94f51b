/** Order ids chosen by callers. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

/** One used `client_order_id` of an account and mode, for ever. */
export const ClientOrder = defineEntity({
  name: 'ClientOrder',
  tableName: 'client_order',
  properties: {
    id: p.text().primary(),
    tradingAccountId: p.text(),
    clientOrderId: p.text(),
    orderId: p.text(),
    createdAt: epochMs(),
  },
});
export type ClientOrderRow = InferEntity<typeof ClientOrder>;
