/**
 * The risk checks of one order, in the turn of its trading account: pure. Of a hundred orders that arrive together, each is checked against all before
 * it. Everything is exact; values are billionths of a dollar times billionths of a unit (units of 10^-18).
 *
 * R1 Open orders count as if they were filled. R2 Orders that reduce a position pass the limits and the block, and are checked for prices alone.
 * R3 The less favourable price counts: buys at the ask, sells at the bid, market orders with a collar.
 */
import { type Book, heldQuantity } from './book.ts';
import { one } from './decimal.ts';
import { larger, nanoIn, nanoPrice, sizeOf, smaller } from './orders/amounts.ts';
import { type OrderTerms, opposite, type Side, signOf } from './orders/terms.ts';

export type RiskQuote = { bid: number; ask: number; last: number; atMs: number; session: 'open' | 'closed' };

/** An order that may still fill. */
export type OpenOrder = Pick<OrderTerms, 'symbol' | 'assetClass' | 'side' | 'orderType' | 'limitPrice' | 'stopPrice'> & {
  remaining: string;
  /** Waits for its parent's fill: it is at no venue. */
  held: boolean;
  /** Orders of one group cancel each other: the largest counts. null: in no group. */
  group: string | null;
};

export type RiskLimits = {
  /** In dollars. */
  maxPositionSize: string;
  /** The collar of limit prices around the quote, and the surcharge on market orders. */
  priceCollarPct: number;
  marketCollarPct: number;
};

export type RiskInput = {
  order: OrderTerms;
  /** The order that this one replaces does not count. */
  book: Book;
  openOrders: readonly OpenOrder[];
  /** null: unknown. Prices of the order's symbol and of all short positions. */
  quoteOf: (symbol: string) => RiskQuote | null;
  limits: RiskLimits;
  /** Whether a loss blocks new orders of this asset class. */
  blocked: boolean;
  /** The market's clock. */
  marketMs: number;
};

export type RiskRefusal = {
  /** `conflict`: 409, the order may pass later. `limit`: 422. */
  kind: 'conflict' | 'limit';
  type:
    | 'blocked'
    | 'stale_quote'
    | 'max_position_size'
    | 'insufficient_cash'
    | 'short_margin'
    | 'no_shorts_in_crypto'
    | 'price_collar'
    | 'wash_trade';
  loc: 'quantity' | 'limit_price' | 'symbol';
};

export const staleQuoteMs = 15_000;

/** null: the order passes. */
export function checkRisk(input: RiskInput): RiskRefusal | null {
  const { order, blocked, marketMs } = input;
  const quote = input.quoteOf(order.symbol);
  const reduces = isReducing(order, input.book, input.openOrders);
  if (blocked && !reduces) return { kind: 'conflict', type: 'blocked', loc: 'symbol' };
  if (quote === null || isStale(quote, marketMs)) return { kind: 'conflict', type: 'stale_quote', loc: 'symbol' };
  if (isBeyondCollar(order, quote, input.limits.priceCollarPct)) return { kind: 'limit', type: 'price_collar', loc: 'limit_price' };
  if (crossesOwn(order, quote, input.openOrders)) return { kind: 'limit', type: 'wash_trade', loc: 'quantity' };
  if (reduces) return null;
  const limit = order.side === 'sell' ? checkShort(input, quote) : null;
  if (limit !== null) return { kind: 'limit', type: limit, loc: 'quantity' };
  const size = positionValueAfter(input, quote);
  if (size > nanoIn(input.limits.maxPositionSize) * one) return { kind: 'limit', type: 'max_position_size', loc: 'quantity' };
  if (order.side === 'buy' && buyValue(input, order, quote) > buyingPower(input))
    return { kind: 'limit', type: 'insufficient_cash', loc: 'quantity' };
  return null;
}

/** The order and the open orders that reduce the position must not exceed it: it cannot turn the position round. */
export function isReducing(order: Pick<OrderTerms, 'symbol' | 'side' | 'quantity'>, book: Book, openOrders: readonly OpenOrder[]): boolean {
  const held = heldQuantity(book, order.symbol);
  if (held === 0n || held > 0n === (order.side === 'buy')) return false;
  return nanoIn(order.quantity) <= sizeOf(held) - openQuantity(openOrders, order.symbol, order.side);
}

/** During a session a quote must be fresh; a closed market has no newer one. */
export function isStale({ session, atMs }: RiskQuote, marketMs: number): boolean {
  return session === 'open' && marketMs - atMs > staleQuoteMs;
}

/** Cash available for new longs: less the cost of open buys and the proceeds of shorts. In units of 10^-18. */
export function buyingPower({ book, openOrders, quoteOf, limits }: Pick<RiskInput, 'book' | 'openOrders' | 'quoteOf' | 'limits'>): bigint {
  let power = BigInt(book.cash);
  for (const { quantity, cost } of Object.values(book.positions)) if (nanoIn(quantity) < 0n) power -= sizeOf(BigInt(cost));
  const covering = new Map<string, bigint>();
  for (const open of openOrders) {
    if (open.side !== 'buy') continue;
    const short = covering.get(open.symbol) ?? larger(-heldQuantity(book, open.symbol), 0n);
    const remaining = nanoIn(open.remaining);
    const covers = smaller(short, remaining);
    covering.set(open.symbol, short - covers);
    power -= (remaining - covers) * priceOf(open, quoteOf(open.symbol), limits.marketCollarPct);
  }
  return power;
}

/** A loss equal to the limit blocks. Both in whole cents. */
export function isLossBreach(dayPnlCents: bigint, dailyLossLimitCents: bigint): boolean {
  return dayPnlCents <= -dailyLossLimitCents;
}

/**
 * The value of a unit of an order, in billionths: the larger of the quote and the order's own prices; for a market order the quote plus the
 * collar. Without a quote the order's own prices.
 */
export function priceOf(
  { side, orderType, limitPrice, stopPrice }: Pick<OrderTerms, 'side' | 'orderType' | 'limitPrice' | 'stopPrice'>,
  quote: RiskQuote | null,
  marketCollarPct: number,
): bigint {
  const at = quote === null ? 0n : sideOf(quote, side);
  const own = larger(limitPrice === null ? 0n : nanoIn(limitPrice), stopPrice === null ? 0n : nanoIn(stopPrice));
  const counted = larger(at, own);
  return orderType === 'market' ? plusPercent(counted, marketCollarPct) : counted;
}

/** The value that `maxPositionSize` limits: the position with open orders of the same side and the order itself. In units of 10^-18. */
export function positionValueAfter(
  { order, book, openOrders, limits }: Pick<RiskInput, 'order' | 'book' | 'openOrders'> & { limits: Pick<RiskLimits, 'marketCollarPct'> },
  quote: RiskQuote,
): bigint {
  const sign = signOf(order.side);
  let value = heldQuantity(book, order.symbol) * sideOf(quote, order.side);
  for (const open of countedOnce(openOrders)) {
    if (open.symbol !== order.symbol || open.side !== order.side) continue;
    value += sign * nanoIn(open.remaining) * priceOf(open, quote, limits.marketCollarPct);
  }
  return sizeOf(value + sign * nanoIn(order.quantity) * priceOf(order, quote, limits.marketCollarPct));
}

/** The part of a buy that covers a short is paid from its proceeds. */
function buyValue({ book, openOrders, limits }: RiskInput, order: OrderTerms, quote: RiskQuote): bigint {
  const short = larger(-heldQuantity(book, order.symbol) - openQuantity(openOrders, order.symbol, 'buy'), 0n);
  const beyond = larger(nanoIn(order.quantity) - short, 0n);
  return beyond * priceOf(order, quote, limits.marketCollarPct);
}

/** Regulation T: equity of at least half of all shorts, so cash including the proceeds is 150 % of their value. */
function checkShort(input: RiskInput, quote: RiskQuote): 'short_margin' | 'no_shorts_in_crypto' | null {
  const { order, book, openOrders, quoteOf, limits } = input;
  const wanted = new Map<string, { quantity: bigint; value: bigint }>();
  const selling = [...countedOnce(openOrders).filter(({ side }) => side === 'sell'), { ...order, remaining: order.quantity }];
  for (const sell of selling) {
    const sum = wanted.get(sell.symbol) ?? { quantity: 0n, value: 0n };
    const remaining = nanoIn(sell.remaining);
    const at = priceOf(sell, sell.symbol === order.symbol ? quote : quoteOf(sell.symbol), limits.marketCollarPct);
    wanted.set(sell.symbol, { quantity: sum.quantity + remaining, value: sum.value + remaining * at });
  }
  const own = wanted.get(order.symbol)!;
  if (own.quantity <= larger(heldQuantity(book, order.symbol), 0n)) return null;
  if (order.assetClass === 'crypto') return 'no_shorts_in_crypto';
  let cash = BigInt(book.cash);
  let shorts = 0n;
  for (const symbol of new Set([...Object.keys(book.positions), ...wanted.keys()])) {
    const held = heldQuantity(book, symbol);
    const at = symbol === order.symbol ? quote : quoteOf(symbol);
    if (held < 0n) shorts += -held * (at === null ? sizeOf(BigInt(book.positions[symbol]!.cost)) / -held : sideOf(at, 'buy'));
    const sold = wanted.get(symbol);
    if (sold === undefined) continue;
    const opened = larger(sold.quantity - larger(held, 0n), 0n);
    // Each of several orders pays its share, in proportion.
    const value = sold.quantity === 0n ? 0n : (sold.value * opened) / sold.quantity;
    shorts += value;
    cash += value;
  }
  for (const open of openOrders) {
    if (open.side === 'buy') cash -= nanoIn(open.remaining) * priceOf(open, quoteOf(open.symbol), limits.marketCollarPct);
  }
  return cash * 2n >= shorts * 3n ? null : 'short_margin';
}

/** Checks only the harmful side: buying far above the ask, selling far below the bid. */
function isBeyondCollar({ side, limitPrice }: OrderTerms, quote: RiskQuote, collarPct: number): boolean {
  if (limitPrice === null) return false;
  const limit = nanoIn(limitPrice);
  if (side === 'buy') return limit > plusPercent(nanoPrice(quote.ask), collarPct);
  return limit < plusPercent(nanoPrice(quote.bid), -collarPct);
}

/** Whether it would trade with another order of the account. Stops are in no order book, and held orders at no venue. */
function crossesOwn(order: OrderTerms, quote: RiskQuote, openOrders: readonly OpenOrder[]): boolean {
  if (order.orderType === 'stop' || order.orderType === 'stop_limit') return false;
  const price = order.limitPrice === null ? sideOf(quote, order.side) : nanoIn(order.limitPrice);
  return openOrders.some((open) => {
    if (open.symbol !== order.symbol || open.side !== opposite(order.side) || open.held) return false;
    if (open.orderType === 'stop' || open.orderType === 'stop_limit') return false;
    const theirs = open.limitPrice === null ? sideOf(quote, open.side) : nanoIn(open.limitPrice);
    if (open.limitPrice === null && order.limitPrice === null) return true;
    return order.side === 'buy' ? price >= theirs : price <= theirs;
  });
}

function openQuantity(openOrders: readonly OpenOrder[], symbol: string, side: Side): bigint {
  return countedOnce(openOrders)
    .filter((open) => open.symbol === symbol && open.side === side)
    .reduce((sum, { remaining }) => sum + nanoIn(remaining), 0n);
}

/** The largest of the orders that cancel each other. */
function countedOnce(openOrders: readonly OpenOrder[]): OpenOrder[] {
  const largest = new Map<string, OpenOrder>();
  const single: OpenOrder[] = [];
  for (const open of openOrders) {
    if (open.group === null) {
      single.push(open);
      continue;
    }
    const other = largest.get(open.group);
    if (other === undefined || nanoIn(open.remaining) > nanoIn(other.remaining)) largest.set(open.group, open);
  }
  return [...single, ...largest.values()];
}

function sideOf({ bid, ask }: RiskQuote, side: Side): bigint {
  return nanoPrice(side === 'buy' ? ask : bid);
}

function plusPercent(price: bigint, percent: number): bigint {
  return price + (price * nanoPrice(percent)) / (100n * one);
}
