/**
 * A real HTTP server on 127.0.0.1 that speaks Stripe Issuing: cardholders, cards, authorizations and their transactions; it requests
 * decisions about payments from a service like Stripe, by signed requests. The test plays the shops.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkDigit } from '../../src/domains/commerce/issuing/embedded.ts';
import type { Json } from './json.ts';
import { signatureOf } from './stripe-server.ts';
import { newId, nowS, refused, type StripeEvent, StripeStandIn, stripeSecretKey } from './stripe-stand-in.ts';

export type IssuingRequest = { method: string; path: string; params: URLSearchParams; idempotencyKey: string | null };
/** `answer is lost`: it is done, and the connection breaks. */
type Failure = 'reset' | 'answer is lost' | 'hang';
type Answer = { status: number; body: object };
type Cardholder = { id: string; object: 'issuing.cardholder'; name: string | null; metadata: Record<string, string> };
export type IssuedCard = {
  id: string;
  object: 'issuing.card';
  brand: string;
  type: string | null;
  currency: string | null;
  status: string | null;
  number: string;
  cvc: string;
  last4: string;
  exp_month: number;
  exp_year: number;
  cardholder: Cardholder;
  metadata: Record<string, string>;
};
type Merchant = { name: string; category: string };
type IssuingTransaction = {
  id: string;
  object: 'issuing.transaction';
  type: string;
  amount: number;
  currency: string;
  authorization: string;
  card: string;
  merchant_data: Merchant;
};
export type IssuingAuthorization = {
  id: string;
  object: 'issuing.authorization';
  amount: number;
  approved: boolean;
  currency: string;
  status: 'pending' | 'closed' | 'reversed' | 'expired';
  card: Omit<IssuedCard, 'number' | 'cvc'>;
  merchant_data: Merchant;
  created: number;
  pending_request: { amount: number; currency: string; amount_details?: null; is_amount_controllable?: boolean } | null;
  request_history: { amount?: number; currency?: string; approved: boolean; reason: string }[];
  transactions: IssuingTransaction[];
  metadata: Record<string, string>;
};
/** What a service said to a request for authorization; null: nothing in time. */
export type Said = { status: number; version: string | null; body: Json; afterMs: number } | null;

export const issuingSecret = 'whsec_IssuingTestsOnly0123456789';
const version = '2026-10-28.endive';
/** Stripe waits 2 s. Here tests judge the time of an answer themselves: a busy machine may delay it. */
const answerWithinMs = 60_000;

/** Paths that are waited for are met with their method before them. */
export class StripeIssuingServer extends StripeStandIn<IssuingRequest> {
  readonly cardholders = new Map<string, Cardholder>();
  readonly cards = new Map<string, IssuedCard>();
  readonly authorizations = new Map<string, IssuingAuthorization>();
  /** What the next requests for such a path meet. */
  failures: { path: RegExp; failure: Failure; times: number }[] = [];
  /** Where it asks; its service may move. */
  serviceUrl: () => string = () => assert.fail('no address of the service is set');
  private readonly kept = new Map<string, Answer>();

  get env(): Record<string, string> {
    return {
      STRIPE_SECRET_KEY: stripeSecretKey,
      STRIPE_API_URL: this.url,
      STRIPE_ISSUING_WEBHOOK_SECRET: issuingSecret,
      STRIPE_ISSUING_CARDHOLDER: 'name=Acme Inc;line1=510 Townsend Street;city=San Francisco;state=CA;postal_code=94103;country=US',
    };
  }

  asked(path: RegExp): IssuingRequest[] {
    return this.requests.filter((request) => path.test(`${request.method} ${request.path}`));
  }

  /** The card of ours that it has made. */
  cardOf(cardId: string): IssuedCard {
    return [...this.cards.values()].find(({ metadata }) => metadata.card_id === cardId)!;
  }

  /** A shop requests money. With an authorization: this much more. `stands`: Stripe has decided it, whatever the service answers. */
  async authorize(
    card: IssuedCard,
    amount: number,
    {
      on,
      currency = 'usd',
      merchant = 'Rocket Rides',
      stands,
    }: { on?: IssuingAuthorization; currency?: string; merchant?: string; stands?: boolean } = {},
  ): Promise<{ authorization: IssuingAuthorization; said: Said }> {
    const authorization = on ?? this.newAuthorization(card, currency, merchant);
    authorization.pending_request = { amount, currency, amount_details: null, is_amount_controllable: false };
    const said = await this.ask(authorization);
    authorization.pending_request = null;
    const approved = stands ?? said?.body?.approved === true;
    authorization.request_history.push({ amount, currency, approved, reason: said === null ? 'webhook_timeout' : 'webhook_approved' });
    if (approved) {
      authorization.amount += amount;
      authorization.approved = true;
    } else if (on === undefined) Object.assign(authorization, { amount, status: 'closed' });
    return { authorization, said };
  }

  /** A request for authorization in its current state. */
  async ask(authorization: IssuingAuthorization, { secret, body }: { secret?: string; body?: string } = {}): Promise<Said> {
    const begunAtMs = performance.now();
    const signal = AbortSignal.timeout(answerWithinMs);
    try {
      const answer = await this.send(this.event('issuing_authorization.request', authorization), { secret, body, signal });
      const text = await answer.text();
      const afterMs = performance.now() - begunAtMs;
      return { status: answer.status, version: answer.headers.get('stripe-version'), body: JSON.parse(text), afterMs };
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  /** A shop takes what was authorized, or something else. */
  capture(authorization: IssuingAuthorization, amount: number): IssuingTransaction {
    authorization.status = 'closed';
    return this.move(authorization, 'capture', -amount);
  }

  refund(authorization: IssuingAuthorization, amount: number): IssuingTransaction {
    return this.move(authorization, 'refund', amount);
  }

  /** Sends the notification until it is accepted. */
  async notify(type: string, object: object): Promise<void> {
    const answer = await this.send(this.event(type, object));
    assert.equal(answer.status, 200, await answer.text());
  }

  event(type: string, object: unknown): StripeEvent & Record<string, unknown> {
    return { id: newId('evt'), object: 'event', api_version: version, created: nowS(), type, livemode: false, data: { object } };
  }

  send(
    event: object,
    { secret = issuingSecret, atS = nowS(), body, signal }: { secret?: string; atS?: number; body?: string; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const signed = JSON.stringify(event, null, 2);
    const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signatureOf(signed, secret, atS) };
    return fetch(`${this.serviceUrl()}/v1/stripe/issuing`, { method: 'POST', headers, body: body ?? signed, signal });
  }

  newAuthorization(card: IssuedCard, currency = 'usd', merchant = 'Rocket Rides'): IssuingAuthorization {
    const authorization: IssuingAuthorization = {
      ...{ id: newId('iauth'), object: 'issuing.authorization', amount: 0, approved: false, currency, status: 'pending' },
      ...{ card: withoutSecrets(card), merchant_data: { name: merchant, category: 'taxicabs_limousines' }, created: nowS() },
      ...{ pending_request: null, request_history: [], transactions: [], metadata: {} },
    };
    this.authorizations.set(authorization.id, authorization);
    return authorization;
  }

  private move(authorization: IssuingAuthorization, type: string, amount: number): IssuingTransaction {
    const { id, card, merchant_data, currency } = authorization;
    const transaction: IssuingTransaction = {
      ...{ id: newId('ipi'), object: 'issuing.transaction', type, amount, currency, authorization: id, card: card.id, merchant_data },
    };
    authorization.transactions.push(transaction);
    return transaction;
  }

  protected override async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const url = new URL(incoming.url!, 'http://stripe');
    const params = chunks.length > 0 ? new URLSearchParams(Buffer.concat(chunks).toString('utf8')) : url.searchParams;
    const key = (incoming.headers['idempotency-key'] as string | undefined) ?? null;
    const request = { method: incoming.method!, path: url.pathname, params, idempotencyKey: key };
    this.requests.push(request);
    const line = `${request.method} ${request.path}`;
    const failing = this.failures.find(({ path, times }) => times > 0 && path.test(line));
    if (failing) failing.times--;
    const isKnown = incoming.headers.authorization === `Bearer ${stripeSecretKey}` && incoming.headers['stripe-version'] === version;
    const failure = failing?.failure;
    const answer =
      failure === undefined || failure === 'answer is lost' ? (isKnown ? this.answerOnce(request) : refused(401, 'key')) : null;
    if (failure === 'reset' || failure === 'answer is lost') incoming.socket.destroy();
    else if (failure === undefined) {
      response.writeHead(answer!.status, { 'content-type': 'application/json', 'request-id': newId('req') });
      response.end(JSON.stringify(answer!.body));
    }
    this.notifyWaiting(line, request);
  }

  private answerOnce(request: IssuingRequest): Answer {
    const { idempotencyKey: key } = request;
    if (key === null) return this.answer(request);
    const answer = this.kept.get(key) ?? this.answer(request);
    if (answer.status < 400) this.kept.set(key, answer);
    return answer;
  }

  private answer({ method, path, params }: IssuingRequest): Answer {
    const [, , , kind, id = ''] = path.split('/');
    const done = (body: object | undefined): Answer => (body === undefined ? refused(404, 'resource_missing') : { status: 200, body });
    switch (`${method} ${kind}${id === '' ? '' : '/{id}'}`) {
      case 'GET cardholders':
        return { status: 200, body: { object: 'list', data: [...this.cardholders.values()], has_more: false } };
      case 'POST cardholders': {
        const cardholder: Cardholder = {
          id: newId('ich'),
          object: 'issuing.cardholder',
          name: params.get('name'),
          metadata: metadataOf(params),
        };
        if (params.get('billing[address][postal_code]') === null) return refused(400, 'parameter_missing');
        this.cardholders.set(cardholder.id, cardholder);
        return done(cardholder);
      }
      case 'POST cards':
        return this.makeCard(params);
      case 'GET cards/{id}': {
        const card = this.cards.get(id);
        const expanded = [...params].filter(([name]) => name.startsWith('expand')).map(([, value]) => value);
        const { number, cvc } = card ?? {};
        return done(
          card && { ...withoutSecrets(card), ...(expanded.includes('number') && { number }), ...(expanded.includes('cvc') && { cvc }) },
        );
      }
      case 'POST cards/{id}': {
        const card = this.cards.get(id);
        if (card?.status === 'canceled') return refused(400, 'card_canceled');
        if (card) card.status = params.get('status');
        return done(card && withoutSecrets(card));
      }
      case 'GET authorizations/{id}':
        return done(this.authorizations.get(id));
      default:
        return refused(404, 'url_invalid');
    }
  }

  private makeCard(params: URLSearchParams): Answer {
    if (!this.cardholders.has(params.get('cardholder') ?? '')) return refused(400, 'resource_missing');
    const body = `400000${String(randomInt(1e9)).padStart(9, '0')}`;
    const number = body + checkDigit(body);
    const card: IssuedCard = {
      ...{ id: newId('ic'), object: 'issuing.card', brand: 'Visa', type: params.get('type'), currency: params.get('currency') },
      ...{ status: params.get('status') ?? 'inactive', number, cvc: String(randomInt(1_000)).padStart(3, '0'), last4: number.slice(-4) },
      ...{ exp_month: 8, exp_year: 2031, cardholder: this.cardholders.get(params.get('cardholder')!)!, metadata: metadataOf(params) },
    };
    this.cards.set(card.id, card);
    return { status: 200, body: withoutSecrets(card) };
  }
}

function withoutSecrets({ number: _number, cvc: _cvc, ...card }: IssuedCard): Omit<IssuedCard, 'number' | 'cvc'> {
  return card;
}

function metadataOf(params: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...params].flatMap(([name, value]) => (name.startsWith('metadata[') ? [[name.slice(9, -1), value]] : [])));
}
