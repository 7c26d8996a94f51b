/**
 * A card. An authorization is decided by the card and the wallet of its account in one co-located transaction: a card lives on the shard of
 * its wallet.
 *
 * C1 The spent amount never exceeds the spend limit.
 * C2 An authorization is approved exactly when the wallet has booked its payment: card, wallet, entries and authorization are one commit.
 * C3 Requests to a card are decided in the order of their arrival.
 * C4 A card's id puts it permanently on the shard of its wallet, the one of its account and mode.
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import { issuedCard } from '../issued-card/messages.ts';
import { transferOf, wallet, walletIdOf } from '../wallet/messages.ts';
import { Card, CardAuthorization, type CardAuthorizationRow, type CardRow } from './entity.ts';
import { cardInputs } from './inputs.ts';
import { type Authorize, type CardContract, card, cardIdOf, type DeclineReason, declineReasonOf, type NewCard } from './messages.ts';
import { reverse } from './reverse.ts';

export const cardActor = defineActor<CardRow, CardContract>({
  ref: card,
  entity: Card,
  inputs: cardInputs,
  commands: {
    create,
    authorize,
    reverse,
    freeze: (state, _input, ctx) => become(state, 'frozen', ctx),
    unfreeze: (state, _input, ctx) => become(state, 'active', ctx),
    cancel: (state, _input, ctx) => become(state, 'cancelled', ctx),
    issuerFollows,
  },
  queries: { get: (state) => state },
});

function create(state: CardRow | null, input: NewCard, ctx: TurnContext<CardContract>): Turn<CardRow, CardRow> {
  if (state !== null) return { state, reply: state };
  // A node of an earlier version has only live cards, and names no mode.
  const { mode = 'live' } = input;
  const walletId = walletIdOf({ accountId: input.accountId, mode });
  if (cardIdOf(walletId, ctx.id) !== ctx.id) throw new Error(`${ctx.id} does not live where the wallet ${walletId} does`);
  const made: CardRow = {
    issuerCardId: null,
    ...input,
    mode,
    spentMinor: 0,
    id: ctx.id,
    status: 'active',
    createdAt: ctx.nowMs,
  };
  emitEvent(made, 'card.created', { name: made.name, last4: made.last4, spend_limit: toMajor(made.spendLimitMinor) }, ctx);
  return { state: made, reply: made };
}

function authorize(state: CardRow | null, input: Authorize, ctx: TurnContext<CardContract>): Turn<CardRow, CardAuthorizationRow> {
  const known = existing(state);
  const refusal = ownRefusal(known, input.amountMinor) ?? walletRefusal(known, input, ctx);
  if (refusal !== null) return { state: known, reply: decided(known, input, refusal, ctx) };
  const charged = { ...known, spentMinor: known.spentMinor + input.amountMinor };
  const reply = decided(charged, input, null, ctx);
  const isUsedUp = charged.spentMinor >= charged.spendLimitMinor;
  return { state: isUsedUp ? withStatus(charged, 'frozen', { reason: 'spend_limit' }, ctx) : charged, reply };
}

function ownRefusal({ status, spentMinor, spendLimitMinor }: CardRow, amountMinor: number): DeclineReason | null {
  if (status !== 'active') return status === 'frozen' ? 'card_frozen' : 'card_cancelled';
  return spentMinor + amountMinor > spendLimitMinor ? 'spend_limit_exceeded' : null;
}

/** null: the wallet has paid. */
function walletRefusal(
  of: CardRow,
  { authorizationId, amountMinor, merchant }: Authorize,
  ctx: TurnContext<CardContract>,
): DeclineReason | null {
  const about = { transferId: transferOf(authorizationId), reference: authorizationId, description: merchant };
  const decision = ctx.callColocated(wallet, walletIdOf(of), 'payNow', { ...about, amountMinor, to: 'cards' });
  return decision.kind === 'declined' ? declineReasonOf(decision.reason) : null;
}

/** Records the decision and emits its event. */
function decided(
  of: CardRow,
  { authorizationId, amountMinor, merchant }: Authorize,
  declineReason: DeclineReason | null,
  ctx: TurnContext<CardContract>,
): CardAuthorizationRow {
  const status = declineReason === null ? 'approved' : 'declined';
  const { id: cardId, accountId, mode } = of;
  const about = { id: authorizationId, cardId, accountId, mode, amountMinor, merchant };
  const authorization: CardAuthorizationRow = { ...about, status, declineReason, createdAt: ctx.nowMs };
  ctx.append(CardAuthorization, authorization);
  const data = { authorization_id: authorizationId, amount: toMajor(amountMinor), merchant, decline_reason: declineReason };
  emitEvent(of, declineReason === null ? 'card.authorized' : 'card.declined', data, ctx);
  return authorization;
}

function become(state: CardRow | null, status: CardRow['status'], ctx: TurnContext<CardContract>): Turn<CardRow, CardRow> {
  const known = existing(state);
  if (known.status === 'cancelled') throw new AppError('conflict', 'The card is cancelled');
  if (known.status === status) throw new AppError('conflict', `The card is ${status} already`);
  if (status === 'active' && known.spentMinor >= known.spendLimitMinor)
    throw new AppError('conflict', 'The card has reached its spend limit');
  const changed = withStatus(known, status, status === 'frozen' ? { reason: 'asked' } : {}, ctx);
  return { state: changed, reply: changed };
}

function issuerFollows(
  state: CardRow | null,
  { status }: { status: CardRow['status'] },
  ctx: TurnContext<CardContract>,
): Turn<CardRow | null, void> {
  if (state !== null && state.status !== status) ctx.send(issuedCard, ctx.id, 'follow', { status: state.status });
  return { state, reply: undefined };
}

/** Reports the new status, also to an external issuer. */
function withStatus(known: CardRow, status: CardRow['status'], why: object, ctx: TurnContext<CardContract>): CardRow {
  if (status !== 'active') emitEvent(known, `card.${status}`, why, ctx);
  if (known.issuerCardId !== null) ctx.send(issuedCard, known.id, 'follow', { status });
  return { ...known, status };
}

function emitEvent({ id, accountId, mode, currency }: CardRow, type: string, data: object, ctx: TurnContext<CardContract>): void {
  ctx.emit({ accountId, type, data: { card_id: id, mode, currency, ...data } });
}

function existing(state: CardRow | null): CardRow {
  if (state === null) throw new AppError('not_found', 'Card not found');
  return state;
}
