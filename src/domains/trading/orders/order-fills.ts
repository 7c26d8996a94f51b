/**
 * Decides which of an order's fills are booked. Venues report fills in two ways: as trades, each with an id, and as the order's cumulative filled
 * quantity. Both arrive late, twice and out of order.
 *
 * F1 The booked quantity of an order is never more than the larger of the sum of its trades and the highest cumulative quantity.
 * F2 A trade is booked once, by its id; a cumulative quantity once, by (order, cumulative quantity).
 * F3 A quantity booked from a cumulative report is later covered by trades: only their excess over it is booked.
 */
import Type, { type Static } from 'typebox';
import { divideHalfEven, nanoText } from '../decimal.ts';
import { nanoIn } from './amounts.ts';

export const OrderFills = Type.Object({
  /** The quantity booked so far, and its cost: quantity times price, in units of 10^-18, as a text of digits. */
  quantity: Type.String(),
  cost: Type.String(),
  /** The part of `quantity` that was booked from cumulative quantities and is not yet covered by trades. */
  uncovered: Type.String(),
  /** Ids of the trades received. */
  tradeIds: Type.Array(Type.String()),
});
export type OrderFills = Static<typeof OrderFills>;

/** A trade that the venue reports. */
export type Trade = { venueTradeId: string; quantity: string; price: string; commission: string; atMs: number };

/** The cumulative fill of an order. */
export type Cumulative = { quantity: string; averagePrice: string; atMs: number };

/** A fill to book. `venueTradeId` is null if the fill comes from a cumulative quantity. `key` is unique within its order. */
export type BookedFill = {
  key: string;
  venueTradeId: string | null;
  quantity: string;
  price: string;
  commission: string;
  atMs: number;
};

/** `fill` is null if there is nothing new to book. */
export type TakenFill = { fills: OrderFills; fill: BookedFill | null };

export function noFills(): OrderFills {
  return { quantity: '0', cost: '0', uncovered: '0', tradeIds: [] };
}

/** Average price to nine places, half-even; null before the first fill. */
export function averagePrice({ quantity, cost }: OrderFills): string | null {
  const filled = nanoIn(quantity);
  return filled === 0n ? null : nanoText(divideHalfEven(BigInt(cost), filled));
}

export function takeTrade(fills: OrderFills, trade: Trade): TakenFill {
  if (fills.tradeIds.includes(trade.venueTradeId)) return { fills, fill: null };
  const quantity = nanoIn(trade.quantity);
  if (quantity <= 0n) return { fills, fill: null };
  const uncovered = nanoIn(fills.uncovered);
  const covered = quantity < uncovered ? quantity : uncovered;
  const seen: OrderFills = {
    ...fills,
    uncovered: nanoText(uncovered - covered),
    tradeIds: [...fills.tradeIds, trade.venueTradeId],
  };
  const fresh = quantity - covered;
  if (fresh === 0n) return { fills: seen, fill: null };
  const { venueTradeId, price, commission, atMs } = trade;
  return {
    fills: add(seen, fresh, nanoIn(price)),
    fill: { key: venueTradeId, venueTradeId, quantity: nanoText(fresh), price, commission, atMs },
  };
}

/** The price of the new part is chosen so that the average here equals the venue's average. */
export function takeCumulative(fills: OrderFills, cumulative: Cumulative): TakenFill {
  const total = nanoIn(cumulative.quantity);
  const booked = nanoIn(fills.quantity);
  if (total <= booked) return { fills, fill: null };
  const fresh = total - booked;
  const average = nanoIn(cumulative.averagePrice);
  const left = divideHalfEven(average * total - BigInt(fills.cost), fresh);
  // An average with few decimal places can leave nothing for the rest.
  const price = left > 0n ? left : average;
  const taken = add({ ...fills, uncovered: nanoText(nanoIn(fills.uncovered) + fresh) }, fresh, price);
  const fill = {
    key: `to ${nanoText(total)}`,
    venueTradeId: null,
    quantity: nanoText(fresh),
    price: nanoText(price),
    commission: '0',
    atMs: cumulative.atMs,
  };
  return { fills: taken, fill };
}

function add(fills: OrderFills, quantity: bigint, price: bigint): OrderFills {
  return { ...fills, quantity: nanoText(nanoIn(fills.quantity) + quantity), cost: String(BigInt(fills.cost) + quantity * price) };
}
