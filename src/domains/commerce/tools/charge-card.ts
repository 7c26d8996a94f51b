/** charge_card: a payment with a card of the account. A repeated call with the same `callId` is the same authorization. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { ToolError } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import { toMinor } from '../../../money.ts';
import { account } from '../../accounts/contract.ts';
import type { Tool, ToolContext } from '../../tasks/contract.ts';
import type { CardRow } from '../card/entity.ts';
import { card } from '../card/messages.ts';
import { commerceIds } from '../ids.ts';
import { cardsNeedBusiness, mayUseCards } from '../policy.ts';
import { Amount, spend, timeoutMs } from './spend.ts';

type Arguments = { card_id: string; amount: number; merchant: string };

export const chargeCard = (actors: ActorSystem): Tool => ({
  name: 'charge_card',
  agentTypes: 'all',
  description:
    "Pays a merchant with one of the account's virtual cards and answers {authorization_id, status: approved}; where it is declined, the reason. It spends real " +
    'money: charge only what the task asks for, once. After a decline do not try another amount or card by yourself: say what was declined and why.',
  parameters: Type.Object({
    card_id: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the card, crd_…' }),
    amount: Amount,
    merchant: Type.String({ minLength: 1, maxLength: 500 }),
  }),
  need: { scope: 'commerce.write' },
  highConsequence: true,
  repeatable: true,
  timeoutMs,
  async preview({ card_id: cardId, amount, merchant }: Arguments, context) {
    const { name, last4 } = await usableCard(actors, cardId, context);
    return { text: `Pay ${amount.toFixed(2)} USD to ${merchant} with the card ${name} (ends in ${last4}).`, basis: null };
  },
  async run({ card_id: cardId, amount, merchant }: Arguments, context) {
    await usableCard(actors, cardId, context);
    const { callId, slotOwner } = context;
    const input = { authorizationId: derivedId(commerceIds.authorization, slotOwner, callId), amountMinor: toMinor(amount), merchant };
    const { id, declineReason } = await spend('The charge', () => actors.ask(card, cardId, 'authorize', input, { commandId: callId }));
    if (declineReason !== null) throw new ToolError(`The card was declined: ${declineReason}. Nothing was paid.`);
    return { authorization_id: id, status: 'approved', amount };
  },
});

/** The account's card of the task's mode. Throws `ToolError` without such a card, or if the account may not use cards. */
async function usableCard(actors: ActorSystem, cardId: string, { accountId, authority: { mode } }: ToolContext): Promise<CardRow> {
  const payer = await actors.query(account, accountId, 'get', null);
  if (!mayUseCards(payer)) throw new ToolError(`${cardsNeedBusiness}. Nothing was paid.`);
  const found = cardId.startsWith(commerceIds.card) ? await actors.query(card, cardId, 'get', null) : null;
  if (found === null || found.accountId !== accountId || found.mode !== mode)
    throw new ToolError(`There is no card ${JSON.stringify(cardId)}. Nothing was paid.`);
  return found;
}
