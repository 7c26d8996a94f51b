/** Handles an issuer's webhooks: approves or declines payments within the issuer's time, and takes notifications about them. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { monotonicMs } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { walletCurrency } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { account } from '../../accounts/contract.ts';
import { findAuthorization } from '../card/authorizations.ts';
import { card } from '../card/messages.ts';
import type { AboutAuthorization, IssuerEvent, IssuerRequest } from '../issuing/port.ts';
import { mayUseCards } from '../policy.ts';
import type { ChargeInput } from './issuer-authorization.ts';
import { type CardAndMerchant, type Charged, type Decision, issuerAuthorization } from './messages.ts';

export type IssuerParts = { actors: Pick<ActorSystem, 'ask' | 'query'>; database: Database; log: Log };

/** `reason` is shown with the payment at the issuer. */
export type IssuerAnswer =
  | { approved: true; authorizationId: string | null }
  | { approved: false; authorizationId: string | null; reason: string };

/**
 * Decides about a request of the issuer: by card and wallet, like every authorization. If they have not decided by `deadlineMs`
 * (`monotonicMs`) it is declined; a later approval is reconciled with the issuer's state, as usual, and refunded. Never rejects.
 */
export async function answerRequest(parts: IssuerParts, request: IssuerRequest, deadlineMs: number): Promise<IssuerAnswer> {
  let isLate!: () => void;
  const late = new Promise<IssuerAnswer>((resolve) => {
    isLate = () => resolve({ approved: false, authorizationId: null, reason: 'timeout' });
  });
  const timer = setTimeout(isLate, deadlineMs - monotonicMs());
  const decided = decide(parts, request, deadlineMs).catch((error): IssuerAnswer => {
    parts.log.warn({ err: error, authorization: request.issuerId }, 'a card payment could not be decided and was declined');
    // A step of the decision has the same deadline, so its failure may come before the timer.
    return { approved: false, authorizationId: null, reason: monotonicMs() >= deadlineMs ? 'timeout' : 'unavailable' };
  });
  return Promise.race([decided, late]).finally(() => clearTimeout(timer));
}

async function decide(parts: IssuerParts, request: IssuerRequest, deadlineMs: number): Promise<IssuerAnswer> {
  const { actors } = parts;
  const no = (reason: string): IssuerAnswer => ({ approved: false, authorizationId: null, reason });
  const { issuerId, number, amountMinor, currency } = request;
  const of = await cardOf(parts, request);
  if (of === null) return no('card_unknown');
  if (currency !== walletCurrency) return no('currency_mismatch');
  if (!Number.isSafeInteger(amountMinor) || amountMinor < 0) return no('amount_invalid');
  const [row, holder] = await Promise.all([actors.query(card, of.cardId, 'get', null), actors.query(account, of.accountId, 'get', null)]);
  if (row === null) return no('card_unknown');
  if (!mayUseCards(holder)) return no('plan_required');
  // A shop checks whether the card exists, and charges nothing.
  if (amountMinor === 0) return row.status === 'active' ? { approved: true, authorizationId: null } : no(`card_${row.status}`);
  const decision: Decision = await actors.ask(
    issuerAuthorization,
    issuerId,
    'request',
    { ...of, number, amountMinor },
    { timeoutMs: deadlineMs - monotonicMs() },
  );
  return decision;
}

/** Takes a notification that needs no answer. Resolves when it is committed; rejects if the issuer should send it again. */
export async function takeNotification({ actors, database, log }: IssuerParts, event: IssuerEvent): Promise<void> {
  if (event.kind === 'unlinked')
    log.warn({ transaction: event.transactionId }, 'the issuer has moved money that belongs to no authorization: book it by hand');
  if (event.kind !== 'notification') return;
  const of = await cardOf({ database }, event);
  if (of !== null) await actors.ask(issuerAuthorization, event.issuerId, 'news', { ...of, approved: event.approved });
}

/** Books a charge; if it is already booked, returns that. */
export async function chargeCard(
  { actors, database, log }: Pick<IssuerParts, 'actors' | 'database' | 'log'>,
  { cardId, number, ...details }: ChargeInput,
): Promise<Charged> {
  const { authorizationId, amountMinor } = details;
  const decided =
    (await findAuthorization(database, authorizationId)) ??
    (await actors.ask(card, cardId, 'authorize', details, { commandId: authorizationId }));
  const { declineReason } = decided;
  if (number === null && declineReason !== null)
    log.warn(
      { card: cardId, amount_minor: amountMinor, decline_reason: declineReason },
      'the issuer captured money that the account cannot pay',
    );
  return { authorizationId, declineReason };
}

async function cardOf(
  { database }: Pick<IssuerParts, 'database'>,
  { issuerCardId, merchant }: AboutAuthorization,
): Promise<CardAndMerchant | null> {
  const { rows } = await database.read({
    name: 'card_by_issuer',
    text: 'select id, account_id from issued_card where issuer_card_id = $1',
    values: [issuerCardId],
  });
  return rows.length === 0 ? null : { cardId: rows[0].id, accountId: rows[0].account_id, merchant };
}
