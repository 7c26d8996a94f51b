/** What can be asked of a checkout: somebody is about to change an account's plan. */
import type { CheckoutRow } from '../../storage/entities/checkout.ts';
import type { PlanChange } from '../account/messages.ts';
import { actorRef, type EffectResult } from '../runtime/define-actor.ts';

export type OpenCheckout = Pick<
  CheckoutRow,
  'accountId' | 'userId' | 'plan' | 'billingPeriod' | 'amountMinor' | 'successUrl' | 'cancelUrl'
>;

export type ContactRequest = { name: string; email: string; message: string };

/** All but `open` are refused with `not_found` where there is none, and with `conflict` where it is decided or has expired. */
export type CheckoutContract = {
  commands: {
    /** Told twice it stays as it is. */
    open(input: OpenCheckout): CheckoutRow;
    /** Told by who knows that it is paid. Answered when the plan has changed; asked again meanwhile, with the same answer. */
    pay(input: null): CheckoutRow;
    cancel(input: null): CheckoutRow;
    /** Of a plan whose price is agreed with each customer. Answered when the message is sent; `unavailable` where it could not be. */
    contact(input: ContactRequest): CheckoutRow;
    /** Outcome of the effect. */
    subscribed(input: EffectResult<PlanChange>): null;
    /** By timer. */
    subscribeAgain(input: object): null;
    /** Outcome of the effect. */
    told(input: EffectResult): null;
  };
  queries: {
    /** null: there is none. */
    get(input: null): CheckoutRow | null;
  };
};

export const checkout = actorRef<CheckoutContract>('checkout');
