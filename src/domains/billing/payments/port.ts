/**
 * Payment processors: where a customer pays for a checkout. Embedded: a page of this service, which charges nothing and says so. Real: a
 * processor with its own pages, which also renews payments. Amounts are minor units (cents) of USD.
 */
import type { BillingPeriod, Plan } from '../../../plans.ts';

/** ISO code, lower case: of all prices and requested amounts. */
export const paymentCurrency = 'usd';

export interface PaymentsProvider {
  /** Where the customer pays; the same for the same checkout. @param publicUrl the base URL of this service */
  pageOf(checkoutId: string, publicUrl: string): string;
  /** The checkout whose page the holder of this key may use; null for any other text. */
  checkoutOf(key: string): string | null;
}

export type PaymentPage = {
  checkoutId: string;
  accountId: string;
  amountMinor: number;
  /** The plan and billing period that are paid for, also in later terms; null: money for the account's wallet, charged to a card. */
  term: { plan: Plan; billingPeriod: BillingPeriod; renewalMinor: number } | null;
  /** Where the customer returns to. */
  successUrl: string;
  cancelUrl: string;
  /** After it, payment is not possible; the page may stay open a little longer. */
  expiresAtMs: number;
};

/** The payer, by the processor's ids: `method` can be charged again, `payment` refunded. */
export type Payer = { customer: string; method: string; payment: string };

/** `waits`: agreed, but the money has not arrived. `ended`: not paid, and payment is no longer possible. `currency`: ISO code, lower case. */
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
  /** The first charge; at once if it is in the past. */
  startsAtMs: number;
};

export type PaidTerm = { paymentId: string; amountMinor: number; currency: string; startsAtMs: number; endsAtMs: number };

/** `isLate`: a charge has failed and is retried. `paid`: its latest terms, oldest first. */
export type RenewalState = { goesOn: boolean; isLate: boolean; plan: Plan; billingPeriod: BillingPeriod; paid: PaidTerm[] };

/** A notification of the processor: a hint to query it. */
export type PaymentNotification =
  | { id: string; about: 'checkout'; checkoutId: string }
  | { id: string; about: 'renewal'; renewalId: string };

/**
 * With the same key each command takes effect once, however often it is repeated. All methods throw `unavailable` when the processor does
 * not answer or its answer is invalid, and `conflict` for a refusal.
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
   * Stops all charges for this renewal, except those started with the key `except`; paid terms stay paid. Charges whose start had no known
   * outcome are stopped too. Returns the state of each.
   */
  stopRenewals(renewalId: string, payer: Payer, except: string | null): Promise<RenewalState[]>;
  renewals(processorId: string): Promise<RenewalState>;
  /** Reads a signed notification; null for one that is not needed here. Throws `bad_request` for a wrong signature. */
  readNotification(body: Uint8Array, signature: string): Promise<PaymentNotification | null>;
}
