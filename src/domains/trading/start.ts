/** Trading on a node: its actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import type { TradingParts } from './open.ts';
import { marketRoutes } from './routes/market.ts';

export function startTrading(_platform: Platform, { market }: TradingParts): StartedDomain {
  return {
    actors: [],
    routes: [...marketRoutes({ market })],
    stop: () => market.close(),
  };
}
