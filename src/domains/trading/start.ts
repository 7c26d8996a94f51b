/** Trading on a node: its actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import { startBacktests } from './backtest/start.ts';
import type { TradingParts } from './open.ts';
import { marketRoutes } from './routes/market.ts';
import { strategyRoutes } from './routes/strategies.ts';
import { strategyActor } from './strategy/strategy.ts';

export function startTrading(platform: Platform, { market }: TradingParts): StartedDomain {
  const backtests = startBacktests(platform, market);
  return {
    actors: [strategyActor, ...backtests.actors],
    routes: [...marketRoutes({ market }), ...strategyRoutes(platform), ...backtests.routes],
    stop: () => market.close(),
  };
}
