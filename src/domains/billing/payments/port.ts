/**
 * Payment processors: where a customer pays for a checkout. Embedded: a page of this service, which charges nothing and says so. Real: a
 * processor with pages of its own, which also renews what was paid. Amounts are minor units (cents) of USD.
 */
import type { BillingPeriod, Plan } from '../../../plans.ts';

/** ISO code, lower case: of all prices and requested amounts. */
export const paymentCurrency = 'usd';

export interface PaymentsProvider {
  /** Where the customer goes to pay; the same for the same checkout. @param publicUrl the base URL of this service */
  pageOf(checkoutId: string, publicUrl: string): string;
  /** The checkout whose page the holder of this key may use; null for any other text. */
  checkoutOf(key: string): string | null;
  /** A notice shown to users where they pay; null: none. */
  readonly notice: string | null;
}

export type PaymentPage = {
  checkoutId: string;
  accountId: string;
  amountMinor: number;
  /** What is paid for, and due for each later term; null: money for the account's wallet, which is charged to a card. */
  term: { plan: Plan; billingPeriod: BillingPeriod; renewalMinor: number } | null;
  /** Where the customer comes back to. */
  successUrl: string;
  cancelUrl: string;
  /** Afterwards payment is not possible there; the page may stay open a little longer. */
  expiresAtMs: number;
};

/** The payer, by the processor's ids: `method` can be charged again, `payment` refunded. */
export type Payer = { customer: string; method: string; payment: string };

/** `waits`: agreed to, and the money has not arrived. `ended`: not paid, and payment is no longer possible. `currency`: ISO code, lower case. */
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

/** A notification of the processor: a hint to query it. */
export type PaymentNotification =
  | { id: string; about: 'checkout'; checkoutId: string }
  | { id: string; about: 'renewal'; renewalId: string };

/**
 * With the same key each command takes effect once, however often it is repeated. Everything throws `unavailable` when the processor does not
 * answer or its answer is invalid, and `conflict` for what it refuses.
 */
export interface PaymentProcessor {
  openPage(page: PaymentPage, key: string): Promise<{ sessionId: string; url: string }>;
  readPage(sessionId: string): Promise<PageState>;
  /** Closes the page, unless it was paid meanwhile. */
  closePage(sessionId: string): Promise<PageState>;
  giveBack(payer: Payer, key: string): Promise<void>;
  /** Charges the payer for each term from then on. Returns the processor's id of the renewal. */
  startRenewals(order: RenewalOrder, key: string): Promise<string>;
  /**
   * Charges nothing more for this renewal, except what was started with the key `except`; what is paid stays paid. Charges whose start had no
   * known outcome are stopped too. Returns the state of each.
   */
  stopRenewals(renewalId: string, payer: Payer, except: string | null): Promise<RenewalState[]>;
  renewals(processorId: string): Promise<RenewalState>;
  /** Reads a signed notification; null for one that is not needed here. Throws `bad_request` where the signature is wrong. */
  readNotification(body: Uint8Array, signature: string): Promise<PaymentNotification | null>;
}
