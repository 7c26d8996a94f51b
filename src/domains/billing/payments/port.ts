/**
 * Payment processors: where a customer pays for a checkout. Embedded: a page of this service, which charges nothing and says so. Real: a
 * processor with pages of its own, which also renews what was paid. Amounts are minor units (cents) of USD.
 */
import type { BillingPeriod, Plan } from '../../../plans.ts';

/** ISO code, lower case: all prices, and all that is asked for. */
export const paymentCurrency = 'usd';

export interface PaymentsProvider {
  /** Where the customer goes to pay; the same for the same checkout. @param publicUrl what addresses of this service begin with */
  pageOf(checkoutId: string, publicUrl: string): string;
  /** The checkout whose page the holder of this key may use; null for what is no key of ours. */
  checkoutOf(key: string): string | null;
  /** Said to people where they pay; null where there is nothing to say. */
  readonly notice: string | null;
}

export type PaymentPage = {
  checkoutId: string;
  accountId: string;
  amountMinor: number;
  /** What is paid for, and due for each later term; null: money for the account's wallet, which is taken from a card. */
  term: { plan: Plan; billingPeriod: BillingPeriod; renewalMinor: number } | null;
  /** Where the customer comes back to. */
  successUrl: string;
  cancelUrl: string;
  /** Afterwards nobody can pay there; it may be a little longer open than that. */
  expiresAtMs: number;
};

/** Who has paid: `method` can be charged again, `payment` given back. Names of the processor's. */
export type Payer = { customer: string; method: string; payment: string };

/** `waits`: agreed to, and the money is on its way. `ended`: nobody has paid, and nobody can any more. `currency`: ISO code, lower case. */
export type PageState =
  | { kind: 'open' | 'waits' | 'ended' }
  | { kind: 'paid'; checkoutId: string | null; amountMinor: number; currency: string; payer: Payer };

export type RenewalOrder = {
  renewalId: string;
  accountId: string;
  plan: Plan;
  billingPeriod: BillingPeriod;
  priceMinor: number;
  payer: Payer;
  /** The first charge; at once where it has passed. */
  startsAtMs: number;
};

export type PaidTerm = { paymentId: string; amountMinor: number; currency: string; startsAtMs: number; endsAtMs: number };

/** `isLate`: a charge has failed and is tried again. `paid`: its latest terms, oldest first. */
export type RenewalState = { goesOn: boolean; isLate: boolean; plan: Plan; billingPeriod: BillingPeriod; paid: PaidTerm[] };

/** What the processor tells by itself: a hint to look. */
export type PaymentNotification =
  | { id: string; about: 'checkout'; checkoutId: string }
  | { id: string; about: 'renewal'; renewalId: string };

/**
 * With the same key each command takes effect once, however often it is asked. Everything throws `unavailable` when the processor does not
 * answer or answers nonsense, and `conflict` for what it refuses.
 */
export interface PaymentProcessor {
  openPage(page: PaymentPage, key: string): Promise<{ sessionId: string; url: string }>;
  readPage(sessionId: string): Promise<PageState>;
  /** Closes the page, unless it was paid meanwhile. */
  closePage(sessionId: string): Promise<PageState>;
  giveBack(payer: Payer, key: string): Promise<void>;
  /** Charges the payer for each term from then on. Returns the processor's name for that. */
  startRenewals(order: RenewalOrder, key: string): Promise<string>;
  /**
   * Nothing more is charged for this renewal, save what was started with the key `except`; what is paid stays paid. Also what was started without
   * anybody hearing of it is stopped. Tells how each stands that was.
   */
  stopRenewals(renewalId: string, payer: Payer, except: string | null): Promise<RenewalState[]>;
  renewals(processorId: string): Promise<RenewalState>;
  /** What the processor tells by a signed message; null for what is of no use here. Throws `bad_request` where it is not signed by it. */
  readNotification(body: Uint8Array, signature: string): Promise<PaymentNotification | null>;
}
