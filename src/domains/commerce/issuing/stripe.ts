/**
 * Stripe Issuing: virtual cards of one cardholder, paid from the Issuing balance of the Stripe account. This file declares and validates
 * only the few fields that are used: a signed event may still be of another API version.
 */
import { createHmac } from 'node:crypto';
import type { AuthorizationState } from '../../../authorization-state.ts';
import { derivedKey } from '../../../derived-key.ts';
import { AppError } from '../../../errors.ts';
import { type Stripe, type StripeClient, stripeVersion } from '../../../providers/stripe/client.ts';
import { cardholderOf } from './cardholder.ts';
import type { AboutAuthorization, CardStatus, IssuerEvent, OutsideIssuer } from './port.ts';

export type StripeIssuerOptions = {
  client: StripeClient;
  /** See `cardholderOf`. */
  cardholder: string;
  secretKey: string;
};

const statuses = { active: 'active', frozen: 'inactive', cancelled: 'canceled' } as const satisfies Record<CardStatus, string>;
const knownStatuses = ['pending', 'closed', 'reversed', 'expired'] as const;
const maxMerchantChars = 200;

export function createStripeIssuer({ client, cardholder, secretKey }: StripeIssuerOptions): OutsideIssuer {
  const cardholderId = cardholderOf(cardholder, client);
  const hashKey = derivedKey(secretKey, 'card numbers');
  return {
    async make({ cardId, accountId, currency, spendLimitMinor }, signal) {
      const parameters = {
        cardholder: await cardholderId(signal),
        currency: currency.toLowerCase(),
        type: 'virtual' as const,
        status: 'active' as const,
        metadata: { card_id: cardId, account_id: accountId },
        // Stripe's limit applies if Stripe decides without asking; without one Stripe sets a default.
        spending_controls: { spending_limits: [{ amount: spendLimitMinor, interval: 'all_time' as const }] },
      };
      const made = await client.call((stripe, options) => stripe.issuing.cards.create(parameters, options), {
        idempotencyKey: cardId,
        signal,
      });
      const numberHash = createHmac('sha256', hashKey).update(made.id).digest('hex');
      return { issuerCardId: made.id, last4: made.last4, numberHash };
    },

    async details(issuerCardId) {
      const shown = await client.call((stripe, options) =>
        stripe.issuing.cards.retrieve(issuerCardId, { expand: ['number', 'cvc'] }, options),
      );
      const { number, cvc: cvv, exp_month: month, exp_year: year } = shown;
      if (number === undefined || cvv === undefined)
        throw new AppError('unavailable', 'Stripe does not show the number of the card to this secret key', { retryAfterS: 60 });
      return { number, cvv, expiry: `${twoDigits(month)}/${twoDigits(year % 100)}` };
    },

    async setStatus(issuerCardId, status, signal) {
      const wanted = statuses[status];
      try {
        await client.call((stripe, options) => stripe.issuing.cards.update(issuerCardId, { status: wanted }, options), { signal });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
        // Stripe may refuse a status that the card has already.
        const now = await client.call((stripe, options) => stripe.issuing.cards.retrieve(issuerCardId, {}, options), { signal });
        if (now.status !== wanted) throw error;
      }
    },

    async readAuthorization(issuerId, signal) {
      return authorizationStateOf(
        await client.call((stripe, options) => stripe.issuing.authorizations.retrieve(issuerId, {}, options), { signal }),
      );
    },

    async event(body, signature) {
      return eventOf(await client.event(body, signature));
    },

    answer(approved, about) {
      return {
        headers: { 'Content-Type': 'application/json', 'Stripe-Version': stripeVersion },
        body: JSON.stringify({ approved, metadata: about }),
      };
    },
  };
}

function authorizationStateOf({
  status,
  approved,
  amount,
  transactions,
  request_history: history,
}: Stripe.Issuing.Authorization): AuthorizationState {
  const known = knownStatuses.find((one) => one === status);
  if (known === undefined) throw new AppError('unavailable', 'Stripe returned an unknown status');
  // Captures are negative, refunds positive.
  const captured = transactions.reduce((sum, transaction) => sum - transaction.amount, 0);
  const capturedMinor = transactions.length === 0 ? null : captured;
  return { status: known, approved, amountMinor: amount, capturedMinor, decidedRequests: history.length };
}

function eventOf({ type, data }: Stripe.Event): IssuerEvent {
  const of = (data?.object ?? {}) as unknown as Record<string, any>;
  if (type === 'issuing_authorization.request') {
    const { amount, currency } = of.pending_request ?? {};
    if (typeof amount !== 'number' || typeof currency !== 'string' || !Array.isArray(of.request_history)) throw unreadable();
    const number = of.request_history.length;
    return { kind: 'request', ...aboutOf(of, of.id), number, amountMinor: amount, currency: currency.toUpperCase() };
  }
  if (type === 'issuing_authorization.created' || type === 'issuing_authorization.updated')
    return { kind: 'notification', ...aboutOf(of, of.id), approved: of.approved === true };
  if (type === 'issuing_transaction.created' || type === 'issuing_transaction.updated') {
    const authorization = idOf(of.authorization);
    if (authorization === null) return { kind: 'unlinked', transactionId: String(of.id).slice(0, 100) };
    return { kind: 'notification', ...aboutOf(of, authorization), approved: true };
  }
  return { kind: 'other' };
}

function aboutOf({ card, merchant_data: merchant }: Record<string, any>, issuerId: unknown): AboutAuthorization {
  const issuerCardId = idOf(card);
  if (issuerCardId === null || !isId(issuerId)) throw unreadable();
  const name = typeof merchant?.name === 'string' ? merchant.name : '';
  // A name that cannot be stored is left out.
  const readable = name.toWellFormed().replaceAll('\u0000', '').trim().slice(0, maxMerchantChars).toWellFormed();
  return { issuerId, issuerCardId, merchant: readable === '' ? 'unknown' : readable };
}

/** The id of an object that is given in full or by its id. */
function idOf(of: unknown): string | null {
  const id = typeof of === 'object' && of !== null ? (of as { id?: unknown }).id : of;
  return isId(id) ? id : null;
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && /^\w{1,100}$/.test(id);
}

function unreadable(): AppError {
  return new AppError('bad_request', 'The event has an API version that this service does not support');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
