/** The forms of what a purchase order is sent. */
import { durableInputs } from '../../../actors/durable-input.ts';
import { PaymentDecided } from '../wallet/inputs.ts';
import type { PurchaseOrderContract } from './messages.ts';

export const purchaseOrderInputs = durableInputs<PurchaseOrderContract>()({ paymentDecided: PaymentDecided });
