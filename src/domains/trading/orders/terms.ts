/** The terms of an order, independent of a venue. Amounts are decimal texts (`nanoText`), so that they are stored, sent and added exactly. */
import type { AssetClass } from '../market/symbol.ts';

export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];
export const orderTypes = ['market', 'limit', 'stop', 'stop_limit'] as const;
export type OrderType = (typeof orderTypes)[number];
export const timesInForce = ['day', 'gtc', 'ioc'] as const;
export type TimeInForce = (typeof timesInForce)[number];

export type OrderTerms = {
  symbol: string;
  assetClass: AssetClass;
  side: Side;
  /** More than 0, at most nine places. */
  quantity: string;
  orderType: OrderType;
  /** Of limit and stop_limit orders alone. */
  limitPrice: string | null;
  /** Of stop and stop_limit orders alone. */
  stopPrice: string | null;
  timeInForce: TimeInForce;
};

/** The validity of an order that states none. */
export function defaultTimeInForce(assetClass: AssetClass): TimeInForce {
  return assetClass === 'crypto' ? 'gtc' : 'day';
}

export function opposite(side: Side): Side {
  return side === 'buy' ? 'sell' : 'buy';
}

/** +1 for a buy, -1 for a sell. */
export function signOf(side: Side): 1n | -1n {
  return side === 'buy' ? 1n : -1n;
}
