/** Stripe: payments are listed and refunded, payment links created. */
import Type from 'typebox';
import { stripeVersion } from '../../../providers/stripe/client.ts';
import { pathSegment } from './path-segment.ts';
import { type Fields, fieldsOf, instantOf, listOf, numberOf, requiredFields, textOf, unknownForm } from './read-answer.ts';
import { defineService, type ServiceAnswer, type ServiceCall } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';
import { majorOf, minorOf } from './stripe-amounts.ts';

const title = 'Stripe';
const defaultPayments = 10;

export const stripe = defineService({
  name: 'stripe',
  title,
  shapeSeen: '2026-11-23',
  shapeSource: 'stripe 23.1.0 (OpenAPI v2596, version 2026-10-28.endive) and docs.stripe.com/api',
  apiUrl: 'https://api.stripe.com',
  headers: { 'stripe-version': stripeVersion },
  // Closed to new platforms: most accounts connect with a restricted key.
  oauth: {
    authorizeUrl: 'https://connect.stripe.com/oauth/authorize',
    tokenUrl: 'https://connect.stripe.com/oauth/token',
    revoke: { url: 'https://connect.stripe.com/oauth/deauthorize' },
    authorizeParameters: { scope: 'read_write' },
    clientAuthentication: 'body',
    scopeSeparator: ' ',
    scopeParameter: 'scope',
  },
  takesApiKey: true,
  identity: { method: 'GET', path: '/v1/account' },
  failureIn: stripeFailure,
  tools: [
    {
      name: 'list_payments',
      description:
        'Lists the newest payments of the connected Stripe account. Returns {payments: [{id, amount, amount_received, currency, status, description, customer, receipt_email, created_at}], has_more}. Amounts are in units of the currency, such as 12.50 for usd.',
      parameters: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `How many payments; default ${defaultPayments}` })),
      }),
      scopes: [],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ limit = defaultPayments }: { limit?: number }, call) {
        const { body } = await call.request({ method: 'GET', path: '/v1/payment_intents', query: { limit } });
        const found = requiredFields(body, title);
        return { payments: listOf(found.data, title).map(paymentForModel), has_more: found.has_more === true };
      },
    },
    {
      name: 'create_payment_link',
      description:
        'Creates a link where anyone can pay a fixed price to the connected Stripe account. The user may have to approve it first. Returns {id, url, active}.',
      parameters: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 250, description: 'What is sold, as buyers see it' }),
        amount: Type.Number({
          exclusiveMinimum: 0,
          maximum: 999_999_999,
          description: 'The price in units of the currency, such as 12.50',
        }),
        currency: Type.String({ pattern: '^[A-Za-z]{3}$', description: 'Three letters, such as usd' }),
        quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999, description: 'How many of it a buyer gets; default 1' })),
      }),
      scopes: [],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async preview({ name, amount, currency, quantity = 1 }: PaymentLink) {
        return `Create a link where anyone can pay for ${quantity} × ${name}, ${priceText(minorOf(amount, currency), currency)} each`;
      },
      async run({ name, amount, currency, quantity = 1 }: PaymentLink, call) {
        const form = {
          'line_items[0][price_data][currency]': currency.toLowerCase(),
          'line_items[0][price_data][unit_amount]': String(minorOf(amount, currency)),
          'line_items[0][price_data][product_data][name]': name,
          'line_items[0][quantity]': String(quantity),
        };
        const { id, url, active } = fieldsOf((await post(call, '/v1/payment_links', form)).body);
        return { id: textOf(id) ?? null, url: textOf(url) ?? null, active: active !== false };
      },
    },
    {
      name: 'refund_payment',
      description:
        'Refunds a payment of the connected Stripe account, all of it or an amount. It moves real money: refund only what the task asks for, once. The user may have to approve it first. Returns {id, status, amount, currency, payment_id}.',
      parameters: Type.Object({
        payment_id: Type.String({ pattern: '^(pi|ch|py)_[A-Za-z0-9_]{1,250}$', description: 'The id of the payment, pi_… or ch_…' }),
        amount: Type.Optional(
          Type.Number({ exclusiveMinimum: 0, maximum: 999_999_999, description: "In units of the payment's currency; default: all of it" }),
        ),
      }),
      scopes: [],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async preview({ payment_id: id, amount }: Refund, call) {
        const payment = await readPayment(call, id);
        const paid = priceText(payment.amount, payment.currency);
        const part = amount === undefined ? 'all' : priceText(minorOf(amount, payment.currency), payment.currency);
        return `Refund ${part} of payment ${id} of ${paid}${payment.description === null ? '' : ` (${payment.description})`}`;
      },
      async run({ payment_id: id, amount }: Refund, call) {
        const minor = amount === undefined ? undefined : minorOf(amount, (await readPayment(call, id)).currency);
        const form = { [isIntent(id) ? 'payment_intent' : 'charge']: id, ...(minor !== undefined && { amount: String(minor) }) };
        const { id: refund, status, ...money } = fieldsOf((await post(call, '/v1/refunds', form)).body);
        const [minorRefunded, currency] = [numberOf(money.amount), textOf(money.currency)];
        const refunded = minorRefunded === undefined || currency === undefined ? null : majorOf(minorRefunded, currency);
        return { id: textOf(refund) ?? null, status: textOf(status) ?? null, amount: refunded, currency: currency ?? null, payment_id: id };
      },
    },
  ],
});

type PaymentLink = { name: string; amount: number; currency: string; quantity?: number };
type Refund = { payment_id: string; amount?: number };
/** Stripe answers a repeat with the same key as it did at first: a write of one request a call, so the call's id is the key. */
function post(call: ServiceCall, path: string, form: Record<string, string>): Promise<ServiceAnswer> {
  return call.request({ method: 'POST', path, form, headers: { 'idempotency-key': call.callId }, repeatable: true });
}

function isIntent(id: string): boolean {
  return id.startsWith('pi_');
}

/** A payment intent or a charge. Its value must be known before any of it is refunded. */
async function readPayment(call: ServiceCall, id: string) {
  const kind = isIntent(id) ? 'payment_intents' : 'charges';
  const { body } = await call.request({ method: 'GET', path: `/v1/${kind}/${pathSegment(id, 'payment_id')}` });
  const { amount, currency, description } = requiredFields(body, title);
  if (typeof amount !== 'number' || typeof currency !== 'string') throw unknownForm(title);
  return { amount, currency, description: textOf(description) ?? null };
}

function paymentForModel(payment: Fields) {
  const { customer } = payment;
  const currency = textOf(payment.currency) ?? null;
  const worth = (minor: unknown) => (typeof minor === 'number' && currency !== null ? majorOf(minor, currency) : null);
  return {
    id: textOf(payment.id) ?? null,
    amount: worth(payment.amount),
    amount_received: worth(payment.amount_received),
    currency,
    status: textOf(payment.status) ?? null,
    description: textOf(payment.description) ?? null,
    customer: textOf(customer) ?? textOf(fieldsOf(customer).id) ?? null,
    receipt_email: textOf(payment.receipt_email) ?? null,
    created_at: instantOf(Number(payment.created) * 1_000),
  };
}

function priceText(minor: number, currency: string): string {
  return `${majorOf(minor, currency)} ${currency.toUpperCase()}`;
}

/** Stripe's description of a fault in a request. Its messages contain only parts of keys; these parts are removed too. */
function stripeFailure({ status, body }: ServiceAnswer): ServiceFailure | undefined {
  const error = fieldsOf(fieldsOf(body).error);
  const message = (textOf(error.message) ?? `Stripe answered ${status}`).replace(/\b[rs]k_(?:live|test)_[\w*]+/g, '[key]');
  if (status === 404 || (status === 400 && error.code === 'resource_missing')) return { type: 'not_found', message };
  if (status === 400 || status === 402) return { type: 'invalid', message, field: textOf(error.param) ?? null };
  if (status === 403) return { type: 'forbidden', message, scope: null };
  // The request with the same idempotency key still runs.
  if (status === 409) return { type: 'unavailable', message };
  return undefined;
}
