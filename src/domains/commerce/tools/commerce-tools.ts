/** The tools that commerce brings to agents: they spend the account's money, each call once. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Tool } from '../../tasks/contract.ts';
import { chargeCard } from './charge-card.ts';
import { createPurchaseOrder } from './create-purchase-order.ts';

export function commerceTools({ actors }: { actors: ActorSystem }): Tool[] {
  return [createPurchaseOrder(actors), chargeCard(actors)];
}
