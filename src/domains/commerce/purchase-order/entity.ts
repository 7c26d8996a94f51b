/** Purchase orders. Amounts are minor units (cents). */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs } from '../../../storage/column-types.ts';

export type PurchaseOrderStatus = 'pending' | 'approved' | 'complete' | 'rejected';

export const PurchaseOrder = defineEntity({
  name: 'PurchaseOrder',
  tableName: 'purchase_order',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    description: p.text(),
    amountMinor: p.bigint('number'),
    vendor: p.text(),
    status: p.text().$type<PurchaseOrderStatus>(),
    /** The approval that waits for the wallet's answer. */
    asking: p.text().strictNullable(),
    /** The granted approval: a repeat with it has the same answer. */
    approvalId: p.text().strictNullable(),
    /** Why it is not paid: for an approved order, that money is missing; for a pending one, why it was not approved automatically. */
    paymentError: p.text().strictNullable(),
    /** Why it was rejected, if a reason was given. */
    reason: p.text().strictNullable(),
    createdAt: epochMs(),
    approvedAt: epochMs().strictNullable(),
    rejectedAt: epochMs().strictNullable(),
    completedAt: epochMs().strictNullable(),
  },
});
export type PurchaseOrderRow = InferEntity<typeof PurchaseOrder>;
