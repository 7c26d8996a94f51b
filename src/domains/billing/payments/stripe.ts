/**
 * Payments by Stripe. The first term is paid on Stripe's page as one payment of exactly the amount due, and the payment method is kept;
 * later terms are paid by a Stripe subscription that begins when the first term ends. (Checkout's own subscriptions cannot do both: they
 * refuse a single amount beside a billing cycle that begins later without prorations.) Notifications of Stripe are hints: only its answer
 * to a query counts.
 */
import type { Clock } from '../../../clock.ts';
import { isActorId } from '../../../cluster/address.ts';
import { AppError } from '../../../errors.ts';
import { type BillingPeriod, type Plan, planName } from '../../../plans.ts';
import type { Stripe, StripeClient } from '../../../providers/stripe/client.ts';
import {
  type PageState,
  type PaidTerm,
  type Payer,
  type PaymentNotification,
  type PaymentPage,
  type PaymentProcessor,
  paymentCurrency,
  type RenewalOrder,
  type RenewalState,
} from './port.ts';

/** Stripe requires at least half an hour by its own clock: this service's clock may be behind, and the request takes time. */
const expirySlackMs = 2 * 60_000;
const maxTermsRead = 24;
const interval: Record<BillingPeriod, 'month' | 'year'> = { monthly: 'month', annual: 'year' };

/** Metadata that distinguishes payments of this service from others of the same Stripe account. */
const checkoutKey = 'troupe_checkout';
const renewalKey = 'troupe_renewal';

export function createStripePayments(stripe: StripeClient, clock: Clock): PaymentProcessor {
  return {
    async openPage(page, key) {
      const session = await stripe.call((api, options) => api.checkout.sessions.create(sessionOf(page), options), { idempotencyKey: key });
      if (!session.url) throw new AppError('unavailable', 'Stripe did not return a checkout page');
      return { sessionId: session.id, url: session.url };
    },

    readPage,

    async closePage(sessionId) {
      // Otherwise it was paid, or has expired.
      await doneOr(
        'conflict',
        stripe.call((api, options) => api.checkout.sessions.expire(sessionId, {}, options)),
      );
      return readPage(sessionId);
    },

    async giveBack({ payment }, key) {
      // Otherwise it was refunded already, or is disputed: there is nothing left to refund.
      await doneOr(
        'conflict',
        stripe.call((api, options) => api.refunds.create({ payment_intent: payment }, options), { idempotencyKey: key }),
      );
    },

    async startRenewals(order, key) {
      // Stripe keeps an idempotency key for a day; retries may last longer.
      const found = (await subscriptionsOf(order.renewalId, order.payer)).find(({ metadata }) => metadata.troupe_key === key);
      if (found !== undefined) return found.id;
      const product = await productFor(order.plan);
      const made = await stripe.call(
        (api, options) => api.subscriptions.create(subscriptionOf(order, product, key, clock.nowMs()), options),
        {
          idempotencyKey: key,
        },
      );
      return made.id;
    },

    async stopRenewals(renewalId, payer, except) {
      const stopped: RenewalState[] = [];
      for (const subscription of await subscriptionsOf(renewalId, payer)) {
        if (subscription.metadata.troupe_key === except) continue;
        if (subscription.status !== 'canceled') await cancel(subscription.id);
        stopped.push(await renewals(subscription.id));
      }
      return stopped;
    },

    renewals,

    async readNotification(body, signature) {
      return notificationOf(await stripe.event(body, signature));
    },
  };

  async function readPage(sessionId: string): Promise<PageState> {
    const expand = ['payment_intent'];
    return pageStateOf(await stripe.call((api, options) => api.checkout.sessions.retrieve(sessionId, { expand }, options)));
  }

  async function subscriptionsOf(renewalId: string, { customer }: Payer): Promise<Stripe.Subscription[]> {
    const { data } = await stripe.call((api, options) => api.subscriptions.list({ customer, status: 'all', limit: 100 }, options));
    return data.filter(({ metadata }) => metadata[renewalKey] === renewalId);
  }

  async function cancel(processorId: string): Promise<void> {
    // Stripe does not find subscriptions that were cancelled meanwhile.
    await doneOr(
      'not_found',
      stripe.call((api, options) => api.subscriptions.cancel(processorId, { prorate: false, invoice_now: false }, options)),
    );
  }

  async function renewals(processorId: string): Promise<RenewalState> {
    const subscription = await stripe.call((api, options) => api.subscriptions.retrieve(processorId, {}, options));
    const listing = { subscription: processorId, status: 'paid' as const, limit: maxTermsRead };
    const { data } = await stripe.call((api, options) => api.invoices.list(listing, options));
    return renewalStateOf(subscription, data);
  }

  /** One product for all customers of the plan. */
  async function productFor(plan: Plan): Promise<string> {
    const id = `troupe_${plan}`;
    // Otherwise it was created earlier.
    await doneOr(
      'conflict',
      stripe.call((api, options) => api.products.create({ id, name: named(plan) }, options)),
    );
    return id;
  }
}

/** Done, or refused with this code because there is nothing left to do. */
async function doneOr(code: 'conflict' | 'not_found', call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (!(error instanceof AppError) || error.code !== code) throw error;
  });
}

function sessionOf({ checkoutId, accountId, term, ...page }: PaymentPage): Stripe.Checkout.SessionCreateParams {
  const metadata = { [checkoutKey]: checkoutId, troupe_account: accountId };
  return {
    mode: 'payment',
    client_reference_id: checkoutId,
    customer_creation: 'always',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: paymentCurrency,
          unit_amount: page.amountMinor,
          product_data: term === null ? { name: 'Deposit to your wallet' } : productOf(term),
        },
      },
    ],
    // A bank can reclaim such money for weeks, when it is already spent: a wallet does not accept it.
    ...(term === null && { payment_method_types: ['card' as const] }),
    payment_intent_data: { ...(term !== null && { setup_future_usage: 'off_session' as const }), metadata },
    metadata,
    // The API caller chose this address: the page names its host to the user.
    custom_text: { submit: { message: `When you have paid you are sent to ${new URL(page.successUrl).host}.` } },
    success_url: page.successUrl,
    cancel_url: page.cancelUrl,
    expires_at: Math.ceil((page.expiresAtMs + expirySlackMs) / 1_000),
  };
}

function productOf({ plan, billingPeriod, renewalMinor }: NonNullable<PaymentPage['term']>): { name: string; description: string } {
  const description = `Renewed at ${dollars(renewalMinor)} a ${interval[billingPeriod]} until you choose another plan.`;
  return { name: `${named(plan)}, ${billingPeriod}`, description };
}

function subscriptionOf(order: RenewalOrder, product: string, key: string, nowMs: number): Stripe.SubscriptionCreateParams {
  const { renewalId, accountId, plan, billingPeriod, payer, priceMinor, startsAtMs } = order;
  return {
    customer: payer.customer,
    default_payment_method: payer.method,
    off_session: true,
    items: [
      { price_data: { currency: paymentCurrency, product, unit_amount: priceMinor, recurring: { interval: interval[billingPeriod] } } },
    ],
    // Not a billing cycle that begins later: its start is limited to one term of the new price.
    ...(startsAtMs > nowMs && { trial_end: Math.ceil(startsAtMs / 1_000) }),
    metadata: { [renewalKey]: renewalId, troupe_account: accountId, troupe_plan: plan, troupe_period: billingPeriod, troupe_key: key },
  };
}

function pageStateOf(session: Stripe.Checkout.Session): PageState {
  const { status, payment_status, payment_intent: intent } = session;
  if (status === 'expired') return { kind: 'ended' };
  if (status !== 'complete') return { kind: 'open' };
  if (intent === null || typeof intent === 'string') throw new AppError('unavailable', 'Stripe did not return the payment');
  if (payment_status === 'paid') {
    const payer = { customer: idOf(session.customer), method: idOf(intent.payment_method), payment: intent.id };
    const checkoutId = session.client_reference_id;
    return { kind: 'paid', checkoutId, amountMinor: session.amount_total ?? 0, currency: session.currency ?? '', payer };
  }
  // The delayed payment has failed.
  const failed = intent.status === 'canceled' || intent.status === 'requires_payment_method';
  return { kind: failed ? 'ended' : 'waits' };
}

function renewalStateOf({ status, metadata }: Stripe.Subscription, invoices: Stripe.Invoice[]): RenewalState {
  return {
    goesOn: ['active', 'trialing', 'past_due', 'incomplete'].includes(status),
    isLate: status === 'past_due',
    plan: metadata.troupe_plan as Plan,
    billingPeriod: metadata.troupe_period as BillingPeriod,
    paid: invoices.map(termOf).sort((a, b) => a.endsAtMs - b.endsAtMs),
  };
}

/** The invoice's own period is the one before: the lines name the paid period. */
function termOf({ id, amount_paid, currency: paidIn, lines }: Stripe.Invoice): PaidTerm {
  const periods = lines.data.map(({ period }) => period);
  return {
    paymentId: id,
    amountMinor: amount_paid,
    currency: paidIn,
    startsAtMs: Math.min(...periods.map(({ start }) => start)) * 1_000,
    endsAtMs: Math.max(...periods.map(({ end }) => end)) * 1_000,
  };
}

function notificationOf({ id, type, data }: Stripe.Event): PaymentNotification | null {
  const about = subjects.get(type);
  if (about === undefined) return null;
  const object: unknown = data?.object;
  if (typeof id !== 'string' || typeof object !== 'object' || object === null) throw unreadable();
  const { metadata, parent } = object as { metadata?: Metadata; parent?: { subscription_details?: { metadata?: Metadata } | null } | null };
  const found = about === 'invoice' ? parent?.subscription_details?.metadata?.[renewalKey] : metadata?.[keyOf[about]];
  if (found === undefined) return null;
  if (typeof found !== 'string' || !isActorId(found)) throw unreadable();
  return about === 'checkout' ? { id, about, checkoutId: found } : { id, about: 'renewal', renewalId: found };
}

type Metadata = Record<string, unknown> | null;
const keyOf = { checkout: checkoutKey, subscription: renewalKey } as const;
const subjects = new Map<string, 'checkout' | 'subscription' | 'invoice'>([
  ['checkout.session.completed', 'checkout'],
  ['checkout.session.expired', 'checkout'],
  ['checkout.session.async_payment_succeeded', 'checkout'],
  ['checkout.session.async_payment_failed', 'checkout'],
  ['invoice.paid', 'invoice'],
  ['invoice.payment_failed', 'invoice'],
  ['customer.subscription.updated', 'subscription'],
  ['customer.subscription.deleted', 'subscription'],
]);

function unreadable(): AppError {
  return new AppError('bad_request', 'The event has no id or no object of its type');
}

function idOf(object: string | { id: string } | null): string {
  if (object === null) throw new AppError('unavailable', 'Stripe did not return the payer');
  return typeof object === 'string' ? object : object.id;
}

function named(plan: Plan): string {
  return `Troupe ${planName(plan)}`;
}

function dollars(minor: number): string {
  return `$${(minor / 100).toFixed(2)}`;
}
