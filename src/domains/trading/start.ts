/** Trading on a node: its actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import { tradingActors } from './actors.ts';
import { startBacktests } from './backtest/start.ts';
import { startBrokers } from './brokers/connection/start.ts';
import { addTradingMetrics } from './metrics.ts';
import type { TradingParts } from './open.ts';
import { accountRoutes } from './routes/account.ts';
import { marketRoutes } from './routes/market.ts';
import { orderRoutes } from './routes/orders.ts';
import { startStrategies } from './strategy/start.ts';
import { MarketWatch } from './trading-account/market-watch.ts';

export function startTrading(platform: Platform, trading: TradingParts): StartedDomain {
  const { config } = platform;
  const { market, orderEntry, connections, stats } = trading;
  const parts = { ...platform, orderEntry };
  const backtests = startBacktests(platform, trading);
  const strategies = startStrategies(platform, trading);
  const brokers = startBrokers(platform, trading);
  const timing = { lookUpMs: config.brokerLookUpMs, reconcileMs: config.brokerReconcileMs };
  const accounts = tradingActors({ market, venue: connections.calls, timing, timeoutMs: config.brokerTimeoutMs });
  const watch = new MarketWatch({ ...platform, market, prices: orderEntry.prices, stats: stats.marks });
  return {
    actors: [...accounts, ...brokers.actors, ...strategies.actors, ...backtests.actors],
    routes: [
      ...marketRoutes({ market, prices: orderEntry.prices }),
      ...orderRoutes(parts),
      ...accountRoutes(parts),
      ...brokers.routes,
      ...strategies.routes,
      ...backtests.routes,
    ],
    begin() {
      watch.start();
      strategies.watch.start();
    },
    committed: (events) => stats.committed(events),
    metrics: (metrics) => addTradingMetrics(metrics, { stats, backtests: backtests.runner }),
    async stop() {
      strategies.watch.stop();
      brokers.stop();
      await watch.stop();
      await market.close();
    },
  };
}
