/** Schemas of the inputs of a renewal, and of its timer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { RenewalContract } from './messages.ts';

const term = { plan: Type.String(), billingPeriod: Type.String() };

export const renewalInputs = durableInputs<RenewalContract>()({
  begin: Type.Object({
    accountId: Type.String(),
    ...term,
    payer: Type.Object({ customer: Type.String(), method: Type.String(), payment: Type.String() }),
    paidUntilMs: Type.Number(),
  }),
  change: Type.Object(term),
  replaced: Type.Object({ accountId: Type.Optional(Type.String()) }),
  goOn: Type.Object({}),
});
