/** Trading on a node: its market, actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import { openLocalMarket } from './market/local-market.ts';
import { marketRoutes } from './routes/market.ts';

export function startTrading(platform: Platform): StartedDomain {
  const { config, log } = platform;
  const market = openLocalMarket({ settings: config, log });
  return {
    actors: [],
    routes: [...marketRoutes({ market })],
    stop: () => market.close(),
  };
}
