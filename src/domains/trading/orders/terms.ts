/** What an order says, in our own words. Amounts are decimal texts (`nanoText`), so that what is stored, sent and added up is exact. */
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

/** What an order is valid for unless it says so. */
export function defaultTimeInForce(assetClass: AssetClass): TimeInForce {
  return assetClass === 'crypto' ? 'gtc' : 'day';
}

export function opposite(side: Side): Side {
  return side === 'buy' ? 'sell' : 'buy';
}

/** +1 for what adds to a holding, -1 for what takes from it. */
export function signOf(side: Side): 1n | -1n {
  return side === 'buy' ? 1n : -1n;
}
