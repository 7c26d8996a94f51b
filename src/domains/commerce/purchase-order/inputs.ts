/** Schemas of the inputs of a purchase order. */
import { durableInputs } from '../../../actors/durable-input.ts';
import { PaymentDecided } from '../wallet/inputs.ts';
import type { PurchaseOrderContract } from './messages.ts';

export const purchaseOrderInputs = durableInputs<PurchaseOrderContract>()({ paymentDecided: PaymentDecided });
