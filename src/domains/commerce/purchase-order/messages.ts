/** Commands and queries of a purchase order. Amounts are minor units (cents). */

import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { PayerContract } from '../wallet/messages.ts';
import type { PurchaseOrderRow } from './entity.ts';

export type CreateOrder = {
  accountId: string;
  /** It is paid from the account's wallet of this mode. */
  mode: Mode;
  description: string;
  amountMinor: number;
  vendor: string;
  /** The account's setting: an order of at most this amount is approved automatically. */
  autoApproveThresholdMinor: number;
};

export type PurchaseOrderContract = {
  commands: {
    /**
     * Repeating it changes nothing. An order that is approved automatically is answered when the wallet has decided: pending if a limit
     * forbade it.
     */
    create(input: CreateOrder): PurchaseOrderRow;
    /**
     * Answered when the wallet has decided: approved, and paid if there is enough money. `invalid` if a spending limit forbids it: it stays
     * pending. `conflict` if it is not pending.
     *
     * @param input.approvalId a repeat with it has the same answer
     */
    approve(input: { approvalId: string }): PurchaseOrderRow;
    /** `conflict` if it is not pending, or just being approved. */
    reject(input: { reason: string | null }): PurchaseOrderRow;
    paymentDecided: PayerContract['commands']['paymentDecided'];
  };
  queries: {
    /** null: there is none. */
    get(input: null): PurchaseOrderRow | null;
  };
};

export const purchaseOrder = actorRef<PurchaseOrderContract>('purchase_order');
