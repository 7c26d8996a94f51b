/** Checkouts: payments in preparation. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { InvoiceLine } from '../../accounts/contract.ts';

/**
 * `paying`: it is paid, and the plan is about to change. `contacted`: an offer was requested. With a payment processor also: `opening`, its
 * page is requested; `failed`, no page was returned; `waiting`, agreed, but the money has not arrived; `expired`, not paid; `returning`,
 * `returned`, the payment is refunded because the plan was no longer better; `mismatched`, the payment does not match the request.
 */
export type CheckoutStatus =
  | 'opening'
  | 'failed'
  | 'open'
  | 'waiting'
  | 'paying'
  | 'paid'
  | 'cancelled'
  | 'contacted'
  | 'expired'
  | 'returning'
  | 'returned'
  | 'mismatched';

/** The payer, by the processor's ids: `method` can be charged again, `payment` refunded. */
export type Payer = { customer: string; method: string; payment: string };

export const Checkout = defineEntity({
  name: 'Checkout',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    /** Both null: money for the account's wallet. */
    plan: p.text().$type<Plan>().strictNullable(),
    billingPeriod: p.text().$type<BillingPeriod>().strictNullable(),
    /** Due at once; 0 for a plan that is not better than the account's. */
    amountMinor: p.bigint('number'),
    lines: json<InvoiceLine[]>(),
    successUrl: p.text().strictNullable(),
    cancelUrl: p.text().strictNullable(),
    /** The payment processor's page and its id there; null if a page of this service decides. */
    sessionId: p.text().strictNullable(),
    pageUrl: p.text().strictNullable(),
    /** null: not paid at a processor. */
    payer: json<Payer>().strictNullable(),
    status: p.text().$type<CheckoutStatus>(),
    createdAt: epochMs(),
    expiresAt: epochMs(),
    decidedAt: epochMs().strictNullable(),
  },
});
export type CheckoutRow = InferEntity<typeof Checkout> &
  ({ plan: Plan; billingPeriod: BillingPeriod } | { plan: null; billingPeriod: null });
export type PlanCheckoutRow = CheckoutRow & { plan: Plan };
