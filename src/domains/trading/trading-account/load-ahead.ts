/**
 * Loads the actors that an account's turn will call. A turn waits for each participant separately, and all orders behind it wait too;
 * loaded ahead, orders that arrive together are read together.
 */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { clientOrder, clientOrderActorId } from '../client-order/messages.ts';
import { tradingOrder } from '../trading-order/messages.ts';

/** Never rejects: the turn itself loads what could not be loaded. */
export async function loadAhead(
  actors: Pick<ActorSystem, 'query'>,
  { tradingAccountId, orderIds, clientOrderId }: { tradingAccountId: string; orderIds: readonly string[]; clientOrderId: string | null },
): Promise<void> {
  const orders = orderIds.map((id) => actors.query(tradingOrder, id, 'get', null));
  const clientId =
    clientOrderId === null ? [] : [actors.query(clientOrder, clientOrderActorId(tradingAccountId, clientOrderId), 'get', null)];
  await Promise.allSettled([...orders, ...clientId]);
}
