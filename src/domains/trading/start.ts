/** Trading on a node: its actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import type { TradingParts } from './open.ts';
import { marketRoutes } from './routes/market.ts';
import { strategyRoutes } from './routes/strategies.ts';
import { strategyActor } from './strategy/strategy.ts';

export function startTrading(platform: Platform, { market }: TradingParts): StartedDomain {
  return {
    actors: [strategyActor],
    routes: [...marketRoutes({ market }), ...strategyRoutes(platform)],
    stop: () => market.close(),
  };
}
