/** Refunds a part of an approved authorization that its issuer did not capture, to card and wallet in one co-located transaction. */

import type { Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import { CardReversal, type CardReversalRow } from '../issuer-authorization/entity.ts';
import { wallet, walletIdOf } from '../wallet/messages.ts';
import type { CardRow } from './entity.ts';
import type { CardContract, Reversal } from './messages.ts';

/** A card that was frozen by its limit stays frozen until it is unfrozen. */
export function reverse(state: CardRow | null, input: Reversal, ctx: TurnContext<CardContract>): Turn<CardRow, void> {
  if (state === null) throw new AppError('not_found', 'Card not found');
  const { transferId, authorizationId, amountMinor, merchant, reason, authorizedAtMs } = input;
  const { id: cardId, accountId, mode, currency } = state;
  const row: CardReversalRow = { id: transferId, authorizationId, cardId, accountId, mode, amountMinor, reason, createdAt: ctx.nowMs };
  ctx.append(CardReversal, row);
  ctx.callColocated(wallet, walletIdOf(state), 'giveBack', {
    transferId,
    amountMinor,
    from: 'cards',
    reference: authorizationId,
    description: merchant,
    paidAtMs: authorizedAtMs,
  });
  const data = { card_id: cardId, mode, currency, authorization_id: authorizationId, amount: toMajor(amountMinor), merchant, reason };
  ctx.emit({ accountId, type: 'card.reversed', data });
  return { state: { ...state, spentMinor: state.spentMinor - amountMinor }, reply: undefined };
}
