/** create_purchase_order and charge_card: spending the account's money. A repeated call with the same id is the same order or charge. */

import Type from 'typebox';
import { ToolError } from '../../../errors.ts';
import { isMoney, toMinor } from '../../../money.ts';
import type { Tool } from '../../tasks/tools/port.ts';

const Amount = Type.Number({ minimum: 0.01, maximum: 10_000_000, description: 'US dollars, at most two decimals' });
/** Longer than an ask has; a purchase that takes so long goes on. */
const timeoutMs = 60_000;

export const createPurchaseOrder: Tool = {
  name: 'create_purchase_order',
  description:
    'Places a purchase order with a vendor and answers {order_id, status}. It spends real money: order only what the task asks for, once, for exactly ' +
    'the amount given. status pending: a person has to approve the order before it is paid. approved: it is paid as soon as the wallet holds enough. complete: it is paid.',
  parameters: Type.Object({
    description: Type.String({ minLength: 1, maxLength: 2_000, description: 'What is ordered, with the quantity' }),
    amount: Amount,
    vendor: Type.String({ minLength: 1, maxLength: 500, description: 'Who is paid' }),
  }),
  need: { scope: 'commerce.write' },
  highConsequence: true,
  repeatable: true,
  timeoutMs,
  async run({ description, amount, vendor }: { description: string; amount: number; vendor: string }, { purse }) {
    const { id, status, paymentError } = await purse.order({ description, amountMinor: minor(amount), vendor });
    return { order_id: id, status, ...(paymentError === null ? {} : { payment_error: paymentError }) };
  },
};

export const chargeCard: Tool = {
  name: 'charge_card',
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
  async run({ card_id: cardId, amount, merchant }: { card_id: string; amount: number; merchant: string }, { purse }) {
    const { id, declineReason } = await purse.charge({ cardId, amountMinor: minor(amount), merchant });
    if (declineReason !== null) throw new ToolError(`The card was declined: ${declineReason}. Nothing was paid.`);
    return { authorization_id: id, status: 'approved', amount };
  },
};

function minor(amount: number): number {
  if (!isMoney(amount)) throw new ToolError('The amount has more than two decimals. Nothing was spent.');
  return toMinor(amount);
}
