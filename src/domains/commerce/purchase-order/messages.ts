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
    /** Repeating it changes nothing. An order that is approved automatically is answered when the wallet has decided: pending where a limit forbade it. */
    create(input: CreateOrder): PurchaseOrderRow;
    /**
     * Answered when the wallet has decided: approved, and paid where the money is there. `invalid` where a spending limit forbids it: it stays
     * pending. `conflict` where it is not pending.
     *
     * @param input.approvalId asked again with it, the answer is the same
     */
    approve(input: { approvalId: string }): PurchaseOrderRow;
    /** `conflict` where it is not pending, or just being approved. */
    reject(input: { reason: string | null }): PurchaseOrderRow;
    paymentDecided: PayerContract['commands']['paymentDecided'];
  };
  queries: {
    /** null: there is none. */
    get(input: null): PurchaseOrderRow | null;
  };
};

export const purchaseOrder = actorRef<PurchaseOrderContract>('purchase_order');
