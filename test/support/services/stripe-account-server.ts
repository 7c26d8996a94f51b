/**
 * Speaks like the part of Stripe's API that a connected account is used through: payments, payment links, refunds. Shapes are those of `stripe` 23.1.0 (OpenAPI
 * v2596), seen 2026-11-23; answers are typed by them, in the fields that are served. Like Stripe it refuses parameters that it does not know, and answers
 * a repeated idempotency key as it did at first.
 */
import type Stripe from 'stripe';
import { newId, nowS } from '../stripe-stand-in.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

type Payment = Pick<
  Stripe.PaymentIntent,
  'id' | 'object' | 'amount' | 'amount_received' | 'currency' | 'status' | 'description' | 'customer' | 'receipt_email' | 'created'
>;
type Link = Pick<Stripe.PaymentLink, 'id' | 'object' | 'url' | 'active' | 'currency'> & {
  name: string;
  unitAmount: number;
  quantity: number;
};
type Refund = Pick<Stripe.Refund, 'id' | 'object' | 'amount' | 'currency' | 'status' | 'payment_intent' | 'charge'>;

const version = '2026-10-28.endive';
const linkParameters = /^line_items\[0\]\[(?:quantity|price_data\]\[(?:currency|unit_amount|product_data\]\[name))\]$/;

export class StripeAccountServer extends ServiceStandIn {
  readonly payments: Payment[] = [];
  readonly links: Link[] = [];
  readonly refunds: Refund[] = [];
  private readonly kept = new Map<string, { text: string; answer: StandInAnswer }>();

  /** The newest is first in lists. */
  addPayment(amount: number, currency: string, description: string | null = null): Payment {
    const payment: Payment = {
      id: newId('pi'),
      object: 'payment_intent',
      amount,
      amount_received: amount,
      currency,
      status: 'succeeded',
      description,
      customer: newId('cus'),
      receipt_email: 'buyer@example.com',
      created: nowS(),
    };
    this.payments.unshift(payment);
    return payment;
  }

  protected answer(request: ServiceRequest): StandInAnswer {
    const { method, headers, text, scopes } = request;
    if (scopes === null)
      return { status: 401, json: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided: rk_test_****cted' } } };
    if (scopes.length === 0)
      return {
        status: 403,
        json: { error: { type: 'invalid_request_error', message: 'The provided key does not have the required permissions' } },
      };
    if (headers['stripe-version'] !== version) return invalid('Stripe-Version', 'Another version was expected');
    const key = headers['idempotency-key'] as string | undefined;
    if (method !== 'POST' || key === undefined) return this.answerNow(request);
    const before = this.kept.get(key);
    if (before !== undefined)
      return before.text === text
        ? before.answer
        : {
            status: 400,
            json: {
              error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters' },
            },
          };
    const answer = this.answerNow(request);
    this.kept.set(key, { text, answer });
    return answer;
  }

  private answerNow({ method, path, query, text }: ServiceRequest): StandInAnswer {
    const route = `${method} ${path}`;
    const form = new URLSearchParams(text);
    if (route === 'GET /v1/account') return ok({ id: 'acct_1', object: 'account' });
    if (route === 'GET /v1/payment_intents') {
      const limit = Number(query.get('limit') ?? 10);
      return ok({ object: 'list', url: path, data: this.payments.slice(0, limit), has_more: this.payments.length > limit });
    }
    const [, id] = /^GET \/v1\/(?:payment_intents|charges)\/(\w+)$/.exec(route) ?? [];
    if (id !== undefined) {
      const payment = this.payments.find((one) => one.id === id);
      return payment === undefined ? missing('intent', `No such payment_intent: '${id}'`, 404) : ok(payment);
    }
    if (route === 'POST /v1/payment_links') return this.createLink(form);
    if (route === 'POST /v1/refunds') return this.refund(form);
    return { status: 404, json: { error: { type: 'invalid_request_error', message: `Unrecognized request URL (${route}).` } } };
  }

  private createLink(form: URLSearchParams): StandInAnswer {
    for (const name of form.keys()) if (!linkParameters.test(name)) return invalid(name, `Received unknown parameter: ${name}`);
    const value = (name: string) => form.get(`line_items[0]${name}`);
    const unitAmount = Number(value('[price_data][unit_amount]'));
    const quantity = Number(value('[quantity]'));
    const name = value('[price_data][product_data][name]');
    const currency = value('[price_data][currency]');
    if (!Number.isInteger(unitAmount)) return invalid('line_items[0][price_data][unit_amount]', 'Invalid integer');
    if (!Number.isInteger(quantity) || quantity < 1) return invalid('line_items[0][quantity]', 'Invalid integer');
    if (name === null || currency === null || !/^[a-z]{3}$/.test(currency))
      return invalid('line_items[0][price_data]', 'Missing required param');
    if (currency === 'xxx') return invalid('line_items[0][price_data][currency]', 'Invalid currency: xxx');
    const id = newId('plink');
    this.links.push({
      id,
      object: 'payment_link',
      url: `https://buy.stripe.com/${id}`,
      active: true,
      currency,
      name,
      unitAmount,
      quantity,
    });
    const { name: _name, unitAmount: _amount, quantity: _quantity, ...shown } = this.links.at(-1)!;
    return ok(shown);
  }

  private refund(form: URLSearchParams): StandInAnswer {
    for (const name of form.keys())
      if (!['payment_intent', 'charge', 'amount', 'reason'].includes(name)) return invalid(name, `Received unknown parameter: ${name}`);
    const payment = this.payments.find(({ id }) => id === form.get('payment_intent'));
    if (payment === undefined) return missing('payment_intent', `No such payment_intent: '${form.get('payment_intent')}'`, 400);
    const refunded = this.refunds.filter(({ payment_intent: of }) => of === payment.id).reduce((sum, { amount }) => sum + amount, 0);
    const amount = form.has('amount') ? Number(form.get('amount')) : payment.amount - refunded;
    if (!Number.isInteger(amount) || amount <= 0 || amount > payment.amount - refunded)
      return invalid('amount', 'Refund amount is greater than unrefunded amount on charge');
    const { id: payment_intent, currency } = payment;
    this.refunds.push({ id: newId('re'), object: 'refund', amount, currency, status: 'succeeded', payment_intent, charge: newId('ch') });
    return ok(this.refunds.at(-1)!);
  }
}

function ok(json: unknown): StandInAnswer {
  return { status: 200, json };
}

function invalid(param: string, message: string): StandInAnswer {
  return { status: 400, json: { error: { type: 'invalid_request_error', code: 'parameter_invalid', param, message } } };
}

function missing(param: string, message: string, status: number): StandInAnswer {
  return { status, json: { error: { type: 'invalid_request_error', code: 'resource_missing', param, message } } };
}
