/** create_purchase_order: the same order as over REST. A repeated call with the same `callId` is the same order. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { derivedId } from '../../../ids.ts';
import { toMinor } from '../../../money.ts';
import { accountSettings, autoApproveSetting } from '../../accounts/contract.ts';
import type { Tool } from '../../tasks/contract.ts';
import { commerceIds } from '../ids.ts';
import { purchaseOrder } from '../purchase-order/messages.ts';
import { Amount, spend, timeoutMs } from './spend.ts';

type Arguments = { description: string; amount: number; vendor: string };

export const createPurchaseOrder = (actors: ActorSystem): Tool => ({
  name: 'create_purchase_order',
  agentTypes: 'all',
  description:
    'Places a purchase order with a vendor and answers {order_id, status}. It spends real money: order only what the task asks for, once, for exactly ' +
    'the amount given. status pending: a person has to approve the order before it is paid. approved: it is paid as soon as the wallet holds enough. complete: it is paid.',
  parameters: Type.Object({
    description: Type.String({ minLength: 1, maxLength: 2_000, pattern: '\\S', description: 'What is ordered, with the quantity' }),
    amount: Amount,
    vendor: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description: 'Who is paid' }),
  }),
  need: { scope: 'commerce.write' },
  highConsequence: true,
  repeatable: true,
  timeoutMs,
  async run({ description, amount, vendor }: Arguments, { accountId, authority: { mode }, callId, slotOwner }) {
    const amountMinor = toMinor(amount);
    const settings = await actors.query(accountSettings, accountId, 'get', null);
    const autoApproveThresholdMinor = settings[autoApproveSetting[mode]];
    const id = derivedId(commerceIds.purchaseOrder, slotOwner, callId);
    const { status, paymentError } = await spend('The order', () =>
      actors.ask(purchaseOrder, id, 'create', { accountId, mode, description, amountMinor, vendor, autoApproveThresholdMinor }),
    );
    return { order_id: id, status, ...(paymentError === null ? {} : { payment_error: paymentError }) };
  },
});
