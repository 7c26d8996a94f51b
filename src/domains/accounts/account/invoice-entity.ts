/** Invoices of an account. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** The lines of an amount: they sum to it. */
export type InvoiceLine = { description: string; amountMinor: number };

/** Belongs to its account. Never changed. */
export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoice',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    /** The payment, unique: a checkout, a period of the account, or the payment processor's id. */
    paymentId: p.text(),
    plan: p.text().$type<Plan>(),
    billingPeriod: p.text().$type<BillingPeriod>(),
    amountMinor: p.bigint('number'),
    lines: json<InvoiceLine[]>(),
    status: p.text().$type<'paid' | 'open' | 'void'>(),
    periodStart: epochMs(),
    periodEnd: epochMs(),
    createdAt: epochMs(),
  },
});
export type InvoiceRow = InferEntity<typeof Invoice>;
