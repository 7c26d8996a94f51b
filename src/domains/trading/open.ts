/** What tools and routes of trading share on a node: one market, so that both see the same quotes. */
import type { Platform } from '../domain.ts';
import { noConnections } from './brokers/choose-broker.ts';
import { type LocalMarket, openLocalMarket } from './market/local-market.ts';
import { localPrices } from './market/prices.ts';
import type { DoorParts } from './orders/door.ts';

export type TradingParts = {
  market: LocalMarket;
  /** What places orders, whoever asks. */
  door: DoorParts;
};

/** The market is closed by the domain's `stop`. */
export function openTrading({ config, log, actors }: Platform): TradingParts {
  const market = openLocalMarket({ settings: config, log });
  return { market, door: { actors, connections: noConnections, prices: localPrices(market) } };
}
