/** The money of accounts on a node: wallets, cards and purchase orders. */
import type { Platform, StartedDomain } from '../domain.ts';
import { cardActor } from './card/card.ts';
import { openIssuing } from './issuing/open-issuing.ts';
import { purchaseOrderActor } from './purchase-order/purchase-order.ts';
import { cardRoutes } from './routes/cards.ts';
import { orderRoutes } from './routes/orders.ts';
import { walletRoutes } from './routes/wallet.ts';
import { walletActor } from './wallet/wallet.ts';

export function startCommerce(platform: Platform): StartedDomain {
  const issuing = openIssuing(platform);
  return {
    actors: [walletActor, cardActor, purchaseOrderActor, ...issuing.actors],
    routes: [...cardRoutes({ ...platform, issue: issuing.issue }), ...issuing.routes, ...walletRoutes(platform), ...orderRoutes(platform)],
  };
}
