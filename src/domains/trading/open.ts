/** What tools and routes of trading share on a node: one market, so that both see the same quotes. */
import type { Platform } from '../domain.ts';
import { type LocalMarket, openLocalMarket } from './market/local-market.ts';

export type TradingParts = { market: LocalMarket };

/** The market is closed by the domain's `stop`. */
export function openTrading({ config, log }: Platform): TradingParts {
  return { market: openLocalMarket({ settings: config, log }) };
}
