/** Checkouts: what somebody is about to pay. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { InvoiceLine } from '../../accounts/contract.ts';

/**
 * `paying`: it is paid, and the plan is about to change. `contacted`: somebody asked for an offer. With a payment processor also: `opening`,
 * its page is asked for; `failed`, there was none; `waiting`, agreed to, and the money is on its way; `expired`, nobody has paid; `returning`,
 * `returned`, what was paid is given back, as the plan was no better by then; `mismatched`, something else was paid than was asked for.
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

/** Who has paid, by the processor's names: `method` can be charged again, `payment` given back. */
export type Payer = { customer: string; method: string; payment: string };

export const Checkout = defineEntity({
  name: 'Checkout',
  tableName: 'checkout',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    /** null, both: money for the account's wallet. */
    plan: p.text().$type<Plan>().strictNullable(),
    billingPeriod: p.text().$type<BillingPeriod>().strictNullable(),
    /** Due at once; 0 for a plan that is no better than the account's. */
    amountMinor: p.bigint('number'),
    lines: json<InvoiceLine[]>(),
    successUrl: p.text().strictNullable(),
    cancelUrl: p.text().strictNullable(),
    /** The payment processor's page and its name there; null where a page of this service decides. */
    sessionId: p.text().strictNullable(),
    pageUrl: p.text().strictNullable(),
    /** null: nobody has paid at a processor. */
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
