/** Checkouts, and the invoices of those that were paid. Amounts are minor units (cents) of USD. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../plans.ts';
import { epochMs } from '../column-types.ts';

/** `paying`: it is paid, and the plan is about to change. `contacted`: somebody asked for an offer. */
export type CheckoutStatus = 'open' | 'paying' | 'paid' | 'cancelled' | 'contacted';

export const Checkout = defineEntity({
  name: 'Checkout',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    plan: p.text().$type<Plan>(),
    billingPeriod: p.text().$type<BillingPeriod>(),
    /** Due at once; 0 for a plan that is no better than the account's. */
    amountMinor: p.bigint('number'),
    successUrl: p.text().strictNullable(),
    cancelUrl: p.text().strictNullable(),
    status: p.text().$type<CheckoutStatus>(),
    createdAt: epochMs(),
    expiresAt: epochMs(),
    decidedAt: epochMs().strictNullable(),
  },
});
export type CheckoutRow = InferEntity<typeof Checkout>;

/** Belongs to its checkout. */
export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoice',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    checkoutId: p.text(),
    plan: p.text().$type<Plan>(),
    billingPeriod: p.text().$type<BillingPeriod>(),
    amountMinor: p.bigint('number'),
    status: p.text().$type<'paid' | 'open' | 'void'>(),
    periodStart: epochMs(),
    periodEnd: epochMs(),
    createdAt: epochMs(),
  },
});
export type InvoiceRow = InferEntity<typeof Invoice>;
