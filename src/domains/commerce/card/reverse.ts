/** Money of an approved authorization goes back: what its issuer did not take after all. The card has spent less and the wallet has it again, in one turn of both. */

import type { Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import { CardReversal, type CardReversalRow } from '../issuer-authorization/entity.ts';
import { wallet, walletIdOf } from '../wallet/messages.ts';
import type { CardRow } from './entity.ts';
import type { CardContract, Reversal } from './messages.ts';

/** A card that its limit had frozen stays so until it is unfrozen. */
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
