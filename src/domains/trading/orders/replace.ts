/**
 * Replacing an order: the old one is cancelled, and once the venue has confirmed its end, the new one is sent for what is still wanted. Venues' own
 * replacements are not used: one takes the quantity for the old total, one changes prices alone, one needs price and size together, and an answer that
 * is lost would leave two orders to look for. What a replacement costs this way is the place in the venue's queue.
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
 * What the new order is sent for once the old one has ended: less what the old one filled since the request. null: nothing is left, and the new order is
 * rejected.
 *
 * @param filledAtRequest what was filled of the old order when the replacement was asked for
 */
export function quantityAfterOld(quantity: string, filledAtRequest: string, filledAtEnd: string): string | null {
  const left = nanoIn(quantity) - (nanoIn(filledAtEnd) - nanoIn(filledAtRequest));
  return left > 0n ? nanoText(left) : null;
}
