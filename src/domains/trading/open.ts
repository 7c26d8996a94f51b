/** The parts that tools and routes of trading share on a node: one market, so that both see the same quotes. */
import type { Platform } from '../domain.ts';
import type { RequestParts } from './backtest/request.ts';
import { brokerPrices } from './brokers/connection/broker-prices.ts';
import { type CredentialBox, credentialBox } from './brokers/connection/credentials.ts';
import { OpenConnections } from './brokers/connection/open-connections.ts';
import type { MarketHours } from './market/calendar.ts';
import { type LocalMarket, openLocalMarket } from './market/local-market.ts';
import { TradingStats } from './metrics.ts';
import type { OrderEntryParts } from './orders/order-entry.ts';

export type TradingParts = {
  market: LocalMarket;
  /** The dependencies of placing an order, for every kind of caller. */
  orderEntry: OrderEntryParts;
  /** The dependencies of requesting backtests. */
  backtests: RequestParts;
  connections: OpenConnections;
  /** Connections to brokers. */
  credentials: CredentialBox;
  stats: TradingStats;
};

/** The market is closed by the domain's `stop`. */
export function openTrading({ config, log, actors, database, outbound, clock, secretKey, acceptedKeys }: Platform): TradingParts {
  const market = openLocalMarket({ settings: config, log });
  const stats = new TradingStats();
  const credentials = credentialBox(secretKey, acceptedKeys);
  const connections = new OpenConnections({
    actors,
    database,
    outbound,
    clock,
    log,
    credentials,
    stats,
    addresses: config,
    timeoutMs: config.brokerTimeoutMs,
  });
  const { alpacaDataUrl: url, alpacaApiUrl, brokerTimeoutMs: timeoutMs, marketHours } = config;
  const hours: MarketHours = marketHours ?? 'exchange';
  const data = { outbound, url, clock: market.clock, hours, timeoutMs };
  // A server that replaces only Alpaca's trading API has no prices, and the vendor would not know its keys.
  const hasData = url !== null || alpacaApiUrl === null;
  const orderEntry = { actors, connections, prices: brokerPrices({ market, connections, data, hasData }), stats };
  return { market, connections, credentials, stats, orderEntry, backtests: { actors, database, market } };
}
