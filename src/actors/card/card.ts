/**
 * A card. An authorization is decided by the card and by the wallet of its account, one after the other: the card reserves the amount, the
 * wallet books the payment or declines it, the card books what was reserved or frees it. Each step is a turn of one actor and a durable
 * message to the next, so that whoever dies in between, the next step comes, once.
 *
 * C1 What is spent and reserved together never exceeds the spend limit.
 * C2 An authorization is approved exactly when the wallet has booked its payment.
 * C3 What is asked of a card is decided in the order of asking: an authorization that was reserved before a freeze stands.
 */
import { AppError } from '../../errors.ts';
import { toMajor } from '../../money.ts';
import { Card, CardAuthorization, type CardAuthorizationRow, type CardRow } from '../../storage/entities/money.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type Payment, type PaymentDecision, transferOf, wallet } from '../wallet/messages.ts';
import { type Authorize, type Authorized, type CardContract, card, type DeclineReason, type NewCard } from './messages.ts';

/** Authorizations that may wait for the wallet. */
const maxPending = 10_000;

type Memo = { number: number; createdAtMs: number };

export const cardActor = defineActor<CardRow, CardContract>({
  ref: card,
  entity: Card,
  commands: {
    create,
    authorize,
    outcome,
    paymentDecided,
    freeze: (state, _input, ctx) => become(state, 'frozen', ctx),
    unfreeze: (state, _input, ctx) => become(state, 'active', ctx),
    cancel: (state, _input, ctx) => become(state, 'cancelled', ctx),
  },
  queries: { get: (state) => state },
});

function create(state: CardRow | null, input: NewCard, ctx: TurnContext): Turn<CardRow, CardRow> {
  if (state !== null) return { state, reply: state };
  const counters = { spentMinor: 0, reservedMinor: 0, nextNumber: 0, decidedBelow: 0, decidedAhead: [] };
  const made = { ...input, ...counters, id: ctx.id, status: 'active', createdAt: ctx.nowMs } as unknown as CardRow;
  tell(made, 'card.created', { name: made.name, last4: made.last4, spend_limit: toMajor(made.spendLimitMinor) }, ctx);
  return { state: made, reply: made };
}

function authorize(state: CardRow | null, input: Authorize, ctx: TurnContext): Turn<CardRow, Authorized> {
  const known = existing(state);
  const { authorizationId, amountMinor, merchant } = input;
  const declined = ownRefusal(known, amountMinor);
  if (declined !== null) {
    return { state: known, reply: { kind: 'decided', authorization: decided(known, input, ctx.nowMs, declined, ctx) } };
  }
  const { nextNumber: number } = known;
  if (number - known.decidedBelow >= maxPending)
    throw new AppError('mailbox_full', 'The card has too many authorizations waiting; try again shortly', { retryAfterS: 1 });
  const memo: Memo = { number, createdAtMs: ctx.nowMs };
  ctx.send(wallet, known.accountId, 'pay', {
    transferId: transferOf(authorizationId),
    amountMinor,
    to: 'cards',
    reference: authorizationId,
    description: merchant,
    ifShort: 'decline',
    payer: { kind: card.kind, id: ctx.id },
    memo,
  });
  return {
    state: { ...known, reservedMinor: known.reservedMinor + amountMinor, nextNumber: number + 1 },
    reply: { kind: 'pending', number },
  };
}

function ownRefusal({ status, spentMinor, reservedMinor, spendLimitMinor }: CardRow, amountMinor: number): DeclineReason | null {
  if (status !== 'active') return status === 'frozen' ? 'card_frozen' : 'card_cancelled';
  return spentMinor + reservedMinor + amountMinor > spendLimitMinor ? 'spend_limit_exceeded' : null;
}

function outcome(state: CardRow | null, { number }: { number: number }, ctx: TurnContext): Turn<CardRow, CardAuthorizationRow | null> {
  const known = existing(state);
  const isDecided = number < known.decidedBelow || known.decidedAhead.includes(number);
  if (!isDecided) ctx.defer(String(number));
  return { state: known, reply: null };
}

function paymentDecided(
  state: CardRow | null,
  { payment, decision }: { payment: Payment; decision: PaymentDecision },
  ctx: TurnContext,
): Turn<CardRow, void> {
  const known = existing(state);
  const { amountMinor, reference: authorizationId, description: merchant } = payment;
  const { number, createdAtMs } = payment.memo as Memo;
  const isApproved = decision.kind === 'paid';
  const booked = {
    ...known,
    ...withDecided(known, number),
    reservedMinor: known.reservedMinor - amountMinor,
    spentMinor: known.spentMinor + (isApproved ? amountMinor : 0),
  };
  const reason = decision.kind === 'declined' ? decision.reason : null;
  ctx.answer(String(number), decided(booked, { authorizationId, amountMinor, merchant }, createdAtMs, reason, ctx));
  const isUsedUp = booked.status === 'active' && booked.spentMinor >= booked.spendLimitMinor;
  if (!isUsedUp) return { state: booked, reply: undefined };
  tell(booked, 'card.frozen', { reason: 'spend_limit' }, ctx);
  return { state: { ...booked, status: 'frozen' }, reply: undefined };
}

/** Numbers are decided nearly in order: the few that are ahead wait here until those before them are. */
function withDecided({ decidedBelow, decidedAhead }: CardRow, number: number): Pick<CardRow, 'decidedBelow' | 'decidedAhead'> {
  const ahead = new Set([...decidedAhead, number]);
  let below = decidedBelow;
  while (ahead.delete(below)) below++;
  return { decidedBelow: below, decidedAhead: [...ahead] };
}

/** Records the decision and tells of it. */
function decided(
  of: CardRow,
  { authorizationId, amountMinor, merchant }: Authorize,
  createdAtMs: number,
  declineReason: DeclineReason | null,
  ctx: TurnContext,
): CardAuthorizationRow {
  const status = declineReason === null ? 'approved' : 'declined';
  const about = { id: authorizationId, cardId: of.id, accountId: of.accountId, amountMinor, merchant };
  const authorization = { ...about, status, declineReason, createdAt: createdAtMs } as CardAuthorizationRow;
  ctx.append(CardAuthorization, authorization);
  const data = { authorization_id: authorizationId, amount: toMajor(amountMinor), merchant, decline_reason: declineReason };
  tell(of, declineReason === null ? 'card.authorized' : 'card.declined', data, ctx);
  return authorization;
}

function become(state: CardRow | null, status: CardRow['status'], ctx: TurnContext): Turn<CardRow, CardRow> {
  const known = existing(state);
  if (known.status === 'cancelled') throw new AppError('conflict', 'The card is cancelled');
  if (known.status === status) throw new AppError('conflict', `The card is ${status} already`);
  if (status === 'active' && known.spentMinor >= known.spendLimitMinor)
    throw new AppError('conflict', 'The card has reached its spend limit');
  const changed = { ...known, status };
  if (status === 'frozen') tell(changed, 'card.frozen', { reason: 'asked' }, ctx);
  if (status === 'cancelled') tell(changed, 'card.cancelled', {}, ctx);
  return { state: changed, reply: changed };
}

function tell({ id, accountId, currency }: CardRow, type: string, data: object, ctx: TurnContext): void {
  ctx.emit({ accountId, type, data: { card_id: id, currency, ...data } });
}

function existing(state: CardRow | null): CardRow {
  if (state === null) throw new AppError('not_found', 'Card not found');
  return state;
}
