/**
 * Compares the stored orders and positions of a connection with its venue's answers, and returns the updates that follow. Pure: the caller queries
 * the venue, passes the answers, and sends the updates to the orders. Answers arrive late, twice, out of order and in parts; an update that is sent
 * twice changes nothing.
 *
 * R1 The update of an order follows from the venue's answers alone: it is the same in each round until the order has applied it.
 * R2 A fill whose order is not known yet is not booked, and the cursor stays before it, so that it is queried again.
 * R3 An order or a fill that belongs to no order of ours is a foreign one, and is adopted once.
 * R4 Positions are compared only for symbols without fills in flight. A difference is a mismatch only if two rounds, a regular pause apart, find it in
 *    the same size.
 */

import { nanoText } from '../decimal.ts';
import type { AssetClass } from '../market/symbol.ts';
import { baseOf } from '../market/symbol.ts';
import { nanoIn } from '../orders/amounts.ts';
import { type Ending, isFinal, newOrder, type OrderEvent, type OrderState, type OrderStatus } from '../orders/order-state.ts';
import type { BrokerConnection, VenueFill, VenueOrder, VenuePosition } from './port.ts';

/** A stored order: every open one, and those that the venue's answer names. */
export type HeldOrder = {
  id: string;
  brokerOrderId: string | null;
  status: OrderStatus;
  filledQuantity: string;
  unknownOutcome: boolean;
  /** Placed at the venue by another program or a person. */
  external: boolean;
};

export type VenueAnswer = {
  fillSource: BrokerConnection['fillSource'];
  /** Open orders, and orders that were queried individually. */
  orders: readonly VenueOrder[];
  fills: readonly VenueFill[];
};

/** The venue's report of one order, as the order receives it. Receiving it twice changes nothing. */
export type SeenOrder = {
  /** null: only fills are known. */
  order: VenueOrder | null;
  fills: VenueFill[];
  /** Only the order's own filled quantity is known: the venue has no trades, or has not listed them for long. */
  filledSoFar: boolean;
};

export type OrderUpdates = {
  updates: (SeenOrder & { orderId: string })[];
  foreign: (SeenOrder & { order: VenueOrder })[];
  /** Fills of orders that are missing on both sides of the comparison: query the venue for these orders, then compare again. */
  unplaced: VenueFill[];
  /** Symbols of fills that may not be booked yet, listed or only counted by the venue. */
  moving: Set<string>;
  /** Orders whose counted fills the venue has not listed. By the venue's id. */
  lacking: string[];
};

export type OrderUpdateOptions = {
  /** The effects of earlier foreign orders are included in the adopted positions. */
  sinceMs: number;
  /** Trades of foreign orders, and ended foreign orders, after `sinceMs` that are also included in these positions. By the venue's ids. */
  isEarlier?(id: string): boolean;
  /** Trades that their orders have confirmed; they are left out. */
  isBooked?(venueTradeId: string): boolean;
  /** Orders with fills that the venue has counted for long but not listed: the counted quantity is booked. By the venue's id. */
  overdue?: ReadonlySet<string>;
};

/** The update of each order; none if the venue's report has nothing new. */
export function orderUpdates(
  held: readonly HeldOrder[],
  answer: VenueAnswer,
  { sinceMs, isEarlier, isBooked, overdue }: OrderUpdateOptions,
): OrderUpdates {
  const byOurId = new Map(held.map((order) => [order.id, order]));
  const byBrokerId = new Map(held.flatMap((order) => (order.brokerOrderId === null ? [] : [[order.brokerOrderId, order] as const])));
  const orders = new Map<string, VenueOrder>();
  const ofOrder = (brokerOrderId: string, ourId: string | null) =>
    byBrokerId.get(brokerOrderId) ?? (ourId === null ? undefined : byOurId.get(ourId));
  for (const order of answer.orders) {
    const isForeign = ofOrder(order.brokerOrderId, order.ourId) === undefined;
    const isOver = (order.state !== 'working' && order.createdAtMs < sinceMs) || isEarlier?.(order.brokerOrderId) === true;
    if (!isForeign || !isOver) orders.set(order.brokerOrderId, newerOf(orders.get(order.brokerOrderId), order));
  }

  const seen = new Map<string, SeenOrder & { own: HeldOrder | undefined }>();
  const moving = new Set<string>();
  const lacking = new Set<string>();
  for (const order of orders.values()) {
    const own = ofOrder(order.brokerOrderId, order.ourId);
    const lacks = nanoIn(order.filledQuantity) > nanoIn(own?.filledQuantity ?? '0');
    if (lacks) moving.add(order.symbol);
    if (lacks && answer.fillSource === 'trades') lacking.add(order.brokerOrderId);
    const filledSoFar = lacks && (answer.fillSource === 'orders' || overdue?.has(order.brokerOrderId) === true);
    seen.set(order.brokerOrderId, { order, fills: [], filledSoFar, own });
  }
  const unplaced: VenueFill[] = [];
  for (const fill of uniqueBy(answer.fills, ({ venueTradeId }) => venueTradeId).toSorted((a, b) => a.atMs - b.atMs)) {
    if (isBooked?.(fill.venueTradeId) === true) continue;
    const known = seen.get(fill.brokerOrderId);
    const own = known?.own ?? byBrokerId.get(fill.brokerOrderId);
    if (own?.external !== false && (fill.atMs < sinceMs || isEarlier?.(fill.venueTradeId) === true)) continue;
    // May include trades that the order already has: the order ignores these.
    moving.add(fill.symbol);
    lacking.delete(fill.brokerOrderId);
    if (known !== undefined) known.fills.push(fill);
    else if (own === undefined) unplaced.push(fill);
    else seen.set(fill.brokerOrderId, { order: null, fills: [fill], filledSoFar: false, own });
  }
  const changed = [...seen.values()].filter(hasChanges);
  return {
    updates: changed.flatMap(({ own, ...one }) => (own === undefined ? [] : [{ orderId: own.id, ...one }])),
    foreign: changed.flatMap(({ own, order, ...one }) => (own === undefined && order !== null ? [{ order, ...one }] : [])),
    unplaced,
    moving,
    lacking: [...lacking],
  };
}

/** Whether the update has anything new for the order. */
function hasChanges({ own, order, fills, filledSoFar }: SeenOrder & { own: HeldOrder | undefined }): boolean {
  if (own === undefined || fills.length > 0 || filledSoFar) return true;
  if (order === null) return false;
  // An order that ended here as absent or lost, but exists at the venue.
  if (isFinal(own)) return (own.brokerOrderId === null || own.unknownOutcome) && order.state === 'working';
  return own.brokerOrderId === null || own.unknownOutcome || hasEnded(order);
}

/** Converts the venue's report to events of the order: acceptance, fills, end. */
export function eventsOf({ order, fills, filledSoFar }: SeenOrder): OrderEvent[] {
  const events: OrderEvent[] = [];
  if (order !== null && order.state !== 'rejected') events.push({ kind: 'accepted', brokerOrderId: order.brokerOrderId });
  for (const { venueTradeId, quantity, price, commission, atMs } of fills)
    events.push({ kind: 'trade', trade: { venueTradeId, quantity, price, commission, atMs } });
  if (order === null) return events;
  const { filledQuantity: quantity, averagePrice, updatedAtMs: atMs, state, reason } = order;
  if (filledSoFar && averagePrice !== null) events.push({ kind: 'filled_so_far', cumulative: { quantity, averagePrice, atMs } });
  if (hasEnded(order)) events.push({ kind: 'ended', status: state as Ending, reason, filledQuantity: quantity });
  return events;
}

function hasEnded({ state }: VenueOrder): boolean {
  return state === 'cancelled' || state === 'expired' || state === 'rejected';
}

/** A foreign order that was open when connecting: its earlier fills are included in the adopted positions. */
export function foreignAtConnecting({ brokerOrderId, terms, filledQuantity, averagePrice }: VenueOrder): OrderState {
  const order = newOrder(quantityOf({ terms, filledQuantity }));
  const filled = nanoIn(filledQuantity);
  const cost = filled * nanoIn(averagePrice ?? '0');
  return {
    ...order,
    status: filled > 0n ? 'partially_filled' : 'accepted',
    brokerOrderId,
    fills: { ...order.fills, quantity: filledQuantity, cost: String(cost) },
  };
}

/** The terms of a foreign order. If this service does not offer its form, only the filled quantity is known. */
export function quantityOf({ terms, filledQuantity }: Pick<VenueOrder, 'terms' | 'filledQuantity'>): string {
  return terms?.quantity ?? filledQuantity;
}

/**
 * Orders that are open here but missing from the venue's list of open orders: each must be queried, because it has ended or was not listed.
 */
export function missingFrom(held: readonly HeldOrder[], listed: readonly VenueOrder[]): HeldOrder[] {
  const ids = new Set(listed.flatMap(({ brokerOrderId, ourId }) => [brokerOrderId, ourId]));
  return held.filter((order) => !isFinal(order) && !ids.has(order.id) && (order.brokerOrderId === null || !ids.has(order.brokerOrderId)));
}

/** The holding of an instrument on both sides; coins are compared whatever their quote currency is. */
export type Difference = { symbol: string; assetClass: AssetClass; ours: string; theirs: string; sinceMs: number };

export type Comparison = {
  /** State for the next round. */
  differences: Difference[];
  /** Differences that an earlier round found in the same size, long enough ago. */
  mismatches: Difference[];
};

export type ComparedPositions = {
  /** Quantities by symbol. */
  ours: Readonly<Record<string, string>>;
  theirs: readonly VenuePosition[];
  before: readonly Difference[];
  /** Symbols with fills in flight: they are not compared, and their earlier differences are dropped. */
  moving: ReadonlySet<string>;
  nowMs: number;
  /** The minimum time between two regular rounds: other rounds come sooner, and fills that a venue lists late are no mismatch. */
  roundMs: number;
};

export function comparePositions({ ours, theirs, before, moving, nowMs, roundMs }: ComparedPositions): Comparison {
  const sides = new Map<string, { symbol: string; assetClass: AssetClass; ours: bigint; theirs: bigint }>();
  const sideOf = (symbol: string) => {
    const key = keyOf(symbol);
    const side = sides.get(key) ?? { symbol, assetClass: isPair(symbol) ? ('crypto' as const) : ('equity' as const), ours: 0n, theirs: 0n };
    sides.set(key, side);
    return side;
  };
  for (const [symbol, quantity] of Object.entries(ours)) sideOf(symbol).ours += nanoIn(quantity);
  for (const { symbol, quantity } of theirs) sideOf(symbol).theirs += nanoIn(quantity);
  const still = new Set([...moving].map(keyOf));
  const found = [...sides.values()].filter((side) => side.ours !== side.theirs && !still.has(keyOf(side.symbol)));
  const earlier = new Map(before.map((one) => [keyOf(one.symbol), one]));
  const differences = found.map((side): Difference => {
    const same = earlier.get(keyOf(side.symbol));
    const isSame = same !== undefined && nanoIn(same.theirs) - nanoIn(same.ours) === side.theirs - side.ours;
    return { ...side, ours: nanoText(side.ours), theirs: nanoText(side.theirs), sinceMs: isSame ? same.sinceMs : nowMs };
  });
  return { differences, mismatches: differences.filter(({ sinceMs }) => sinceMs <= nowMs - roundMs) };
}

function keyOf(symbol: string): string {
  return isPair(symbol) ? `coin ${baseOf(symbol)}` : symbol;
}

function isPair(symbol: string): boolean {
  return symbol.includes('-');
}

/** Of two answers about one order, the later state: the filled quantity never shrinks, and an end stays. */
function newerOf(a: VenueOrder | undefined, b: VenueOrder): VenueOrder {
  if (a === undefined) return b;
  if ((a.state === 'working') !== (b.state === 'working')) return a.state === 'working' ? b : a;
  return nanoIn(b.filledQuantity) >= nanoIn(a.filledQuantity) ? b : a;
}

function uniqueBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
