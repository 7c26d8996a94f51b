/** The actors of accounts, orders and client ids, which change together. */
import type { AnyActor } from '../../actors/define-actor.ts';
import { clientOrderActor } from './client-order/client-order.ts';
import type { OutboundTiming } from './orders/outbound.ts';
import type { AccountMarket } from './trading-account/market.ts';
import { tradingAccountActor } from './trading-account/trading-account.ts';
import type { VenueCalls } from './trading-order/messages.ts';
import { tradingOrderActor } from './trading-order/trading-order.ts';

export type TradingActorParts = {
  market: AccountMarket;
  venue: VenueCalls;
  timing: OutboundTiming;
  /** The result of one call to a broker. */
  timeoutMs: number;
};

export function tradingActors({ market, venue, timing, timeoutMs }: TradingActorParts): AnyActor[] {
  return [tradingAccountActor(market), tradingOrderActor({ venue, timing, timeoutMs }), clientOrderActor];
}

/** For a node without connections to brokers. */
export const noVenue: VenueCalls = {
  place: async () => ({ kind: 'not_sent', reason: 'there is no connection to the broker' }),
  lookUp: async () => ({ kind: 'unknown', reason: 'there is no connection to the broker' }),
  cancel: async () => ({ kind: 'unknown', reason: 'there is no connection to the broker' }),
};
