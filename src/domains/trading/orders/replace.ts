/**
 * Replaces an order: the old order is cancelled, and once the venue has confirmed its end, the new order is sent for the remaining quantity. Venues' own
 * replacements are not used: one venue interprets the quantity as the old total, one changes only prices, one needs price and size together, and after a
 * lost answer either of two orders might exist. The cost is the order's position in the venue's queue.
 */
import { nanoText } from '../decimal.ts';
import { nanoIn } from './amounts.ts';
import type { OrderTerms, TimeInForce } from './terms.ts';

export type ReplaceRequest = {
  /** The quantity of the new order; absent: the remaining quantity of the old one. */
  quantity?: string;
  limitPrice?: string;
  stopPrice?: string;
  timeInForce?: TimeInForce;
};

/** A price that the order's type does not have. */
export type ReplaceFault = { field: 'limit_price' | 'stop_price' };

export function replacementTerms(old: OrderTerms, remaining: string, request: ReplaceRequest): OrderTerms | ReplaceFault {
  if (request.limitPrice !== undefined && old.limitPrice === null) return { field: 'limit_price' };
  if (request.stopPrice !== undefined && old.stopPrice === null) return { field: 'stop_price' };
  return {
    ...old,
    quantity: request.quantity ?? remaining,
    limitPrice: request.limitPrice ?? old.limitPrice,
    stopPrice: request.stopPrice ?? old.stopPrice,
    timeInForce: request.timeInForce ?? old.timeInForce,
  };
}

/**
 * The quantity of the new order once the old order has ended: less the fills of the old order since the request. null: nothing is left, and the new
 * order is rejected.
 *
 * @param filledAtRequest the filled quantity of the old order when the replacement was requested
 */
export function quantityAfterOld(quantity: string, filledAtRequest: string, filledAtEnd: string): string | null {
  const left = nanoIn(quantity) - (nanoIn(filledAtEnd) - nanoIn(filledAtRequest));
  return left > 0n ? nanoText(left) : null;
}
