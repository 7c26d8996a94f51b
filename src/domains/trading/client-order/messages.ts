/** A `client_order_id` of an account and mode: which order has it, for ever. */
import { actorRef } from '../../../actors/define-actor.ts';
import { colocatedId } from '../../../cluster/address.ts';
import { derivedId } from '../../../ids.ts';
import { tradingAccount } from '../trading-account/messages.ts';
import type { ClientOrderRow } from './entity.ts';

export type ClientOrderContract = {
  commands: {
    /** For co-located transactions of the trading account: refuses (`conflict`) an id that another order has. */
    claim(input: { tradingAccountId: string; clientOrderId: string; orderId: string }): ClientOrderRow;
  };
  queries: { get(input: null): ClientOrderRow | null };
};

export const clientOrder = actorRef<ClientOrderContract>('client_order');

/** The same id for the same text, on the shard of the trading account. */
export function clientOrderActorId(tradingAccountId: string, clientOrderId: string): string {
  const id = derivedId('clo_', tradingAccountId, tradingAccountId, clientOrderId);
  return colocatedId(id, clientOrder.kind, { kind: tradingAccount.kind, id: tradingAccountId });
}
