/**
 * A real HTTP server on 127.0.0.1 that speaks Stripe's shapes: forms with brackets, idempotency keys, Checkout sessions, refunds,
 * subscriptions with their invoices, and signed events. The test plays users, banks and time.
 */
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from './json.ts';
import { newId, nowS, refused, type StripeEvent, StripeStandIn, stripeSecretKey } from './stripe-stand-in.ts';

export type StripeRequest = { method: string; path: string; params: Form; idempotencyKey: string | null; version: string | null };
/** A form's fields; nested by the brackets of their names. */
type Form = Json;
export type StripeSession = {
  id: string;
  object: 'checkout.session';
  url: string;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  mode: string;
  amount_total: number;
  currency: string;
  client_reference_id: string;
  metadata: Record<string, string>;
  customer: string | null;
  payment_intent: { id: string; object: 'payment_intent'; status: string; payment_method: string } | null;
  expires_at: number;
  success_url: string;
  cancel_url: string;
};
export type StripeSubscription = {
  id: string;
  object: 'subscription';
  customer: string;
  default_payment_method: string;
  status: 'active' | 'trialing' | 'canceled' | 'past_due';
  trial_end: number | null;
  created: number;
  metadata: Record<string, string>;
  items: { object: 'list'; data: { id: string; price: { unit_amount: number; recurring: { interval: string } } }[] };
};
export type StripeInvoice = {
  id: string;
  object: 'invoice';
  status: string;
  amount_paid: number;
  currency: string;
  parent: { type: 'subscription_details'; subscription_details: { subscription: string; metadata: Record<string, string> } };
  lines: { object: 'list'; has_more: boolean; data: { id: string; amount: number; period: { start: number; end: number } }[] };
};
type StripeRefund = { id: string; object: 'refund'; payment_intent: string; status: string };
type Answer = { status: number; body: object; headers?: Record<string, string> };
type Failure = Answer | 'hang' | 'reset' | 'answer is lost';

export const stripeWebhookSecret = 'whsec_TroupeTestsOnly0123456789';
const monthS = 30 * 86_400;

export class StripeServer extends StripeStandIn<StripeRequest> {
  readonly sessions = new Map<string, StripeSession>();
  readonly refunds: StripeRefund[] = [];
  readonly subscriptions = new Map<string, StripeSubscription>();
  readonly invoices: StripeInvoice[] = [];
  /** What the next requests meet, in order; null: nothing. It stays with the last where `always`. */
  failures: (Failure | null)[] = [];
  always: Failure | null = null;
  private readonly products = new Set<string>();
  private readonly kept = new Map<string, { fingerprint: string; answer: Answer }>();

  /** For a service that is to be paid here. */
  get env(): Record<string, string> {
    return { STRIPE_SECRET_KEY: stripeSecretKey, STRIPE_WEBHOOK_SECRET: stripeWebhookSecret, STRIPE_API_URL: this.url };
  }

  /** The session behind a page's address. */
  sessionOf(pageUrl: string): StripeSession {
    return [...this.sessions.values()].find(({ url }) => url === pageUrl)!;
  }

  /** Somebody pays on the page. `late`: by a means that takes its time. */
  pay(pageUrl: string, { late = false, paidMinor }: { late?: boolean; paidMinor?: number } = {}): StripeSession {
    const session = this.sessionOf(pageUrl);
    if (session.status !== 'open') throw new Error(`the page is ${session.status}`);
    session.status = 'complete';
    session.payment_status = late ? 'unpaid' : 'paid';
    session.customer = newId('cus');
    if (paidMinor !== undefined) session.amount_total = paidMinor;
    session.payment_intent = {
      id: newId('pi'),
      object: 'payment_intent',
      status: late ? 'processing' : 'succeeded',
      payment_method: newId('pm'),
    };
    return session;
  }

  /** What took its time has arrived, or come to nothing. */
  arrive(session: StripeSession, paid: boolean): void {
    if (paid) session.payment_status = 'paid';
    session.payment_intent!.status = paid ? 'succeeded' : 'requires_payment_method';
  }

  /** The next term of a subscription is charged. */
  renew(subscription: StripeSubscription, termS = monthS): StripeInvoice {
    const start = subscription.trial_end ?? subscription.created;
    const last = this.invoices.filter((invoice) => invoice.parent.subscription_details.subscription === subscription.id).at(-1);
    const from = last?.lines.data[0]?.period.end ?? start;
    subscription.status = 'active';
    return this.invoice(subscription, subscription.items.data[0]!.price.unit_amount, { start: from, end: from + termS });
  }

  /** An event as Stripe sends it. */
  event(type: string, object: object): StripeEvent & Record<string, unknown> {
    return {
      id: newId('evt'),
      object: 'event',
      api_version: '2026-10-28.endive',
      created: nowS(),
      type,
      livemode: false,
      pending_webhooks: 1,
      request: null,
      data: { object },
    };
  }

  protected override async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const url = new URL(incoming.url!, this.url);
    const text = chunks.length > 0 ? Buffer.concat(chunks).toString('utf8') : url.search.slice(1);
    const request: StripeRequest = {
      method: incoming.method!,
      path: url.pathname,
      params: nested(new URLSearchParams(text)),
      idempotencyKey: (incoming.headers['idempotency-key'] as string | undefined) ?? null,
      version: (incoming.headers['stripe-version'] as string | undefined) ?? null,
    };
    this.requests.push(request);
    const failure = this.failures.length > 0 ? this.failures.shift()! : this.always;
    const isKnown = incoming.headers.authorization === `Bearer ${stripeSecretKey}`;
    let answer: Answer | null = null;
    if (failure === null || failure === 'answer is lost')
      answer = isKnown ? this.answerOnce(request, text) : refused(401, 'api_key_invalid');
    this.notifyWaiting(request.path, request);
    if (failure === 'hang') return;
    if (failure === 'reset' || failure === 'answer is lost') return void incoming.socket.destroy();
    send(response, answer ?? (failure as Answer));
  }

  /** The same key is answered the same; with other parameters it is refused. */
  private answerOnce(request: StripeRequest, text: string): Answer {
    const { method, path, idempotencyKey: key } = request;
    if (method !== 'POST' || key === null) return this.answer(request);
    const fingerprint = `${path}?${text}`;
    const before = this.kept.get(key);
    if (before !== undefined && before.fingerprint !== fingerprint)
      return {
        status: 400,
        body: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters' } },
      };
    if (before !== undefined) return { ...before.answer, headers: { 'idempotent-replayed': 'true' } };
    const answer = this.answer(request);
    this.kept.set(key, { fingerprint, answer });
    return answer;
  }

  private answer({ method, path, params }: StripeRequest): Answer {
    const [, , ...parts] = path.split('/');
    const what = `${method} ${parts.join('/').replace(/(cs|sub)_\w+/, '{id}')}`;
    const id = parts.find((part) => /^(cs|sub)_/.test(part)) ?? '';
    switch (what) {
      case 'POST checkout/sessions':
        return this.openSession(params);
      case 'GET checkout/sessions/{id}':
        return found(this.sessions.get(id), (session) => shown(session, params.expand?.[0]));
      case 'POST checkout/sessions/{id}/expire':
        return found(this.sessions.get(id), (session) => {
          if (session.status !== 'open') return null;
          session.status = 'expired';
          return shown(session);
        });
      case 'POST refunds': {
        if (this.refunds.some(({ payment_intent }) => payment_intent === params.payment_intent))
          return refused(400, 'charge_already_refunded');
        const refund: StripeRefund = { id: newId('re'), object: 'refund', payment_intent: params.payment_intent, status: 'succeeded' };
        this.refunds.push(refund);
        return { status: 200, body: refund };
      }
      case 'POST products':
        if (this.products.has(params.id)) return refused(400, 'resource_already_exists');
        this.products.add(params.id);
        return { status: 200, body: { id: params.id, object: 'product', name: params.name } };
      case 'POST subscriptions':
        return { status: 200, body: this.subscribe(params) };
      case 'GET subscriptions':
        return list([...this.subscriptions.values()].filter(({ customer }) => customer === params.customer));
      case 'GET subscriptions/{id}':
        return found(this.subscriptions.get(id), (subscription) => subscription);
      case 'DELETE subscriptions/{id}':
        return found(this.subscriptions.get(id), (subscription) => {
          if (subscription.status === 'canceled') return undefined;
          subscription.status = 'canceled';
          return subscription;
        });
      case 'GET invoices': {
        const of = this.invoices.filter(({ parent }) => parent.subscription_details.subscription === params.subscription);
        return list(of.filter(({ status }) => status === params.status).reverse());
      }
      default:
        return refused(404, 'url_invalid');
    }
  }

  private openSession(params: Form): Answer {
    const item = params.line_items[0];
    const expiresAt = Number(params.expires_at);
    if (expiresAt < nowS() + 1_800 || expiresAt > nowS() + 86_400) return refused(400, 'parameter_invalid_integer', 'expires_at');
    const amount = Number(item.price_data.unit_amount) * Number(item.quantity);
    if (amount < 50) return refused(400, 'amount_too_small', 'line_items[0][price_data][unit_amount]');
    const id = newId('cs_test');
    const session: StripeSession = {
      id,
      object: 'checkout.session',
      url: `https://checkout.stripe.test/c/pay/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      mode: params.mode,
      amount_total: amount,
      currency: item.price_data.currency,
      client_reference_id: params.client_reference_id,
      metadata: params.metadata,
      customer: null,
      payment_intent: null,
      expires_at: expiresAt,
      success_url: params.success_url,
      cancel_url: params.cancel_url,
    };
    this.sessions.set(id, session);
    return { status: 200, body: { ...session } };
  }

  private subscribe(params: Form): StripeSubscription {
    const { price_data: price } = params.items[0];
    const subscription: StripeSubscription = {
      id: newId('sub'),
      object: 'subscription',
      customer: params.customer,
      default_payment_method: params.default_payment_method,
      status: params.trial_end === undefined ? 'active' : 'trialing',
      trial_end: params.trial_end === undefined ? null : Number(params.trial_end),
      created: nowS(),
      metadata: params.metadata,
      items: { object: 'list', data: [{ id: newId('si'), price: { ...price, unit_amount: Number(price.unit_amount) } }] },
    };
    this.subscriptions.set(subscription.id, subscription);
    // The first invoice: of the time until the first charge, or of the first term.
    if (subscription.trial_end !== null) this.invoice(subscription, 0, { start: subscription.created, end: subscription.trial_end });
    else this.renew(subscription);
    return subscription;
  }

  private invoice(subscription: StripeSubscription, amount: number, period: { start: number; end: number }): StripeInvoice {
    const invoice: StripeInvoice = {
      id: newId('in'),
      object: 'invoice',
      status: 'paid',
      amount_paid: amount,
      currency: 'usd',
      parent: { type: 'subscription_details', subscription_details: { subscription: subscription.id, metadata: subscription.metadata } },
      lines: { object: 'list', has_more: false, data: [{ id: newId('il'), amount, period }] },
    };
    this.invoices.push(invoice);
    return invoice;
  }
}

export type Delivery = { secret?: string; atS?: number; body?: string; header?: string };

/** Hands an event to a service as Stripe does: signed over the exact body. */
export function deliver(
  serviceUrl: string,
  event: object,
  { secret = stripeWebhookSecret, atS = nowS(), body, header }: Delivery = {},
): Promise<Response> {
  const signed = JSON.stringify(event, null, 2);
  const signature = header ?? signatureOf(signed, secret, atS);
  const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature, 'user-agent': 'Stripe/1.0' };
  return fetch(`${serviceUrl}/v1/stripe/webhook`, { method: 'POST', headers, body: body ?? signed });
}

/** Notifies a service of a session, and kills the service as soon as Stripe has been asked what was paid: nothing of that is committed. */
export async function killDuringQuery(
  stripe: StripeServer,
  service: { url: string; kill(): Promise<unknown>; restart(): Promise<unknown> },
  event: object,
  session: { id: string },
): Promise<void> {
  const queried = stripe.next(new RegExp(session.id));
  const delivered = deliver(service.url, event).catch(() => null);
  await queried;
  await service.kill();
  await delivered;
  await service.restart();
}

export function signatureOf(body: string, secret: string, atS: number): string {
  return `t=${atS},v1=${createHmac('sha256', secret).update(`${atS}.${body}`).digest('hex')}`;
}

/** `a[b][0]=c` and the like as objects and arrays. */
function nested(fields: URLSearchParams): Form {
  const root: Form = {};
  for (const [name, value] of fields) {
    const keys = name.split(/\[|\]\[|\]/).filter((key, at) => key !== '' || at === 0);
    let at = root;
    keys.forEach((key, number) => {
      if (number === keys.length - 1) at[key] = value;
      else at = at[key] ??= /^\d+$/.test(keys[number + 1]!) ? [] : {};
    });
  }
  return root;
}

/** null: refused in its current state; undefined: not found. */
function found<O>(object: O | undefined, of: (object: O) => object | null | undefined): Answer {
  const body = object === undefined ? undefined : of(object);
  if (body === undefined) return refused(404, 'resource_missing', 'id');
  return body === null ? refused(400, 'invalid_request') : { status: 200, body };
}

function shown(session: StripeSession, expanded?: string): object {
  const { payment_intent: intent } = session;
  return { ...session, payment_intent: expanded === 'payment_intent' ? intent : (intent?.id ?? null) };
}

function list(data: object[]): Answer {
  return { status: 200, body: { object: 'list', data, has_more: false, url: '' } };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': newId('req'), ...headers });
  response.end(JSON.stringify(body));
}
