/** The charges of a payment processor for the terms after the first. Amounts are minor units (cents) of USD. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { Payer } from '../checkout/entity.ts';

/**
 * `arranging`: the charges are being set up at the processor. `renewing`: it charges each term. `stopping`: they are being stopped;
 * `ending`: they have stopped, and the paid term continues to its end. `over`: the account no longer has the renewal.
 */
export type RenewalStatus = 'arranging' | 'renewing' | 'stopping' | 'ending' | 'over';

export const Renewal = defineEntity({
  name: 'Renewal',
  tableName: 'renewal',
  properties: {
    /** The checkout whose payer is charged. */
    id: p.text().primary(),
    accountId: p.text(),
    /** Of later terms. */
    plan: p.text().$type<Plan>(),
    billingPeriod: p.text().$type<BillingPeriod>(),
    payer: json<Payer>(),
    paidUntil: epochMs(),
    status: p.text().$type<RenewalStatus>(),
    /** How often the arrangement at the processor was changed; part of the idempotency key. */
    arrangement: p.integer(),
    /** The processor's id of the charges; null: none yet. */
    processorId: p.text().strictNullable(),
    createdAt: epochMs(),
    /** Since when a request to the processor has failed; null: it is done. */
    failingSince: epochMs().strictNullable(),
  },
});
export type RenewalRow = InferEntity<typeof Renewal>;
