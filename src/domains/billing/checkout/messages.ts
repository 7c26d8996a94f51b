/** Commands and queries of a checkout, which changes an account's plan or pays into its wallet. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { PlanChange } from '../../accounts/contract.ts';
import type { PageState, Payer } from '../payments/port.ts';
import type { FindPage, NotifySales, OpenPage, Subscribe } from './effects.ts';
import type { CheckoutRow } from './entity.ts';

/** The smallest and largest payment of processors, in cents. An excess over the amount due for a plan is kept as credit. */
export const paymentBounds = { leastMinor: 50, mostMinor: 99_999_999 };

/** `plan`: null for money that is paid into the wallet. `ownPage`: where users return to if no addresses were given. */
export type OpenCheckout = Pick<
  CheckoutRow,
  'accountId' | 'userId' | 'plan' | 'billingPeriod' | 'amountMinor' | 'lines' | 'successUrl' | 'cancelUrl'
> & { ownPage: string };

export type ContactRequest = { name: string; email: string; message: string };

/** The state of the processor's page: the payment matches the request, or not. */
export type PageFound = Exclude<PageState, { kind: 'paid' }> | { kind: 'paid'; payer: Payer } | { kind: 'mismatched' };

/** `paidUntilMs`: end of the paid term. `renewedBy`: the renewal that charges for the account's plan. */
export type Subscribed = { change: PlanChange; paidUntilMs: number | null; renewedBy: string | null };

/** All but `open` are refused with `not_found` if there is none, and with `conflict` if it is decided or has expired. */
export type CheckoutContract = {
  commands: {
    /** Repeating it changes nothing. Answered when there is a page to pay on; `unavailable` if the processor returned none. */
    open(input: OpenCheckout): CheckoutRow;
    /** Sent when it is known to be paid. Answered when the plan has changed; a repeat meanwhile has the same answer. */
    pay(input: null): CheckoutRow;
    cancel(input: null): CheckoutRow;
    /** For a plan with individual prices. Answered when the message is sent; `unavailable` if it could not be. */
    contact(input: ContactRequest): CheckoutRow;
    /**
     * Queries the processor for the state of its page, and is answered when that is stored; `unavailable` if the query failed, or the page
     * is not known yet. Never `conflict`: a decided checkout is returned as it is.
     */
    look(input: null): CheckoutRow;
    /** By timer. */
    lookAgain(input: object): null;
    /** Outcomes of effects. */
    opened(input: EffectResult<{ sessionId: string; url: string }>): null;
    looked(input: EffectResult<PageFound>): null;
    returned(input: EffectResult): null;
    subscribed(input: EffectResult<Subscribed>): null;
    /** By timer. */
    subscribeAgain(input: object): null;
    returnAgain(input: object): null;
    /** Outcome of the effect. */
    told(input: EffectResult): null;
  };
  queries: {
    /** null: there is none. */
    get(input: null): CheckoutRow | null;
  };
  effects: {
    openPage(input: OpenPage): { sessionId: string; url: string };
    look(input: FindPage): PageFound;
    tellSales(input: NotifySales): unknown;
    giveBack(input: Payer): unknown;
    subscribe(input: Subscribe): Subscribed;
  };
};

export const checkout = actorRef<CheckoutContract>('checkout');
