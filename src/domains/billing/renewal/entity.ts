/** What a payment processor charges for the terms after the first. Amounts are minor units (cents) of USD. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BillingPeriod, Plan } from '../../../plans.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { Payer } from '../checkout/entity.ts';

/**
 * `arranging`: the processor is being told what to charge. `renewing`: it charges each term. `stopping`: it is being told to stop; `ending`:
 * it has stopped, and the paid term runs to its end. `over`: the account no longer has it.
 */
export type RenewalStatus = 'arranging' | 'renewing' | 'stopping' | 'ending' | 'over';

export const Renewal = defineEntity({
  name: 'Renewal',
  tableName: 'renewal',
  properties: {
    /** The checkout whose payer is charged. */
    id: p.text().primary(),
    accountId: p.text(),
    /** Of the terms to come. */
    plan: p.text().$type<Plan>(),
    billingPeriod: p.text().$type<BillingPeriod>(),
    payer: json<Payer>(),
    paidUntil: epochMs(),
    status: p.text().$type<RenewalStatus>(),
    /** How often the arrangement at the processor was changed; part of the idempotency key. */
    arrangement: p.integer(),
    /** The processor's id of what it charges; null: nothing yet. */
    processorId: p.text().strictNullable(),
    createdAt: epochMs(),
    /** Since when the processor has failed to do what was requested; null: it is done. */
    failingSince: epochMs().strictNullable(),
  },
});
export type RenewalRow = InferEntity<typeof Renewal>;
