/**
 * Converts target weights to orders: the difference between the quantity of each weight and the holding that the strategy's own orders have produced.
 * Pure.
 *
 * P1 Nothing is ordered while the weight is unchanged and its quantity was reached: drift is not corrected, as in backtests.
 * P2 An open order of the strategy is cancelled, and has ended, before another of its symbol is sent, unless the open order leads to the target.
 * P3 Orders that add to a position are cut to the account's position limit and buying power; orders that reduce a position never are.
 */
import { fromNano, multiply, nanoText, one, roundedToNano, roundToStep } from '../decimal.ts';
import { larger, nanoIn, nanoPrice, sizeOf, smaller } from '../orders/amounts.ts';
import type { Side } from '../orders/terms.ts';
import type { Target } from './run.ts';

/** Quantities and amounts are billionths; quantities of shorts are negative. */
export type PlannedSymbol = {
  symbol: string;
  weight: number;
  /** null: it never had one. */
  before: Target | null;
  /** Held by the strategy's own orders. */
  held: bigint;
  /** Its own open orders; quantities of sells are negative. */
  open: readonly { orderId: string; remaining: bigint }[];
  /** The holding of the whole account at that broker, and the sums of its open orders of either side. */
  account: { held: bigint; buys: bigint; sells: bigint };
  quote: { bid: number; ask: number };
  /** The broker's capabilities: one order may close a position and open the opposite one; the step of quantities. */
  flips: boolean;
  lot: bigint;
  /** A continuation on the same bar: the target was sized before. */
  continues: boolean;
};
export type Sizing = {
  /** The value of a weight of 1 of all symbols together. */
  equity: bigint;
  /** The number of symbols that share it. */
  divisor: number;
  maxPosition: bigint;
  buyingPower: bigint;
  marketCollarPct: number;
};
export type SymbolPlan = {
  symbol: string;
  target: Target;
  /** null: nothing is ordered now. */
  order: { side: Side; quantity: string } | null;
  cancels: string[];
  /** More must be ordered on this bar once these orders have ended. */
  unfinished: boolean;
  /** Why less is ordered than the weight requires. */
  cutBy: 'max_position_size' | 'buying_power' | null;
};

/** Smaller changes of a holding are not worth their spread. */
const minValue = one;
/** Price movement between the plan and the account's check. */
const mayMovePct = 0.5;

export function planSymbols(symbols: readonly PlannedSymbol[], sizing: Sizing): SymbolPlan[] {
  let power = sizing.buyingPower;
  // Sells do not wait for buys.
  const inOrder = [...symbols].sort((a, b) => Number(a.weight > 0) - Number(b.weight > 0));
  const plans = new Map<string, SymbolPlan>();
  for (const each of inOrder) {
    const { plan, spent } = planOne(each, { ...sizing, buyingPower: power });
    power -= spent;
    plans.set(each.symbol, plan);
  }
  return symbols.map(({ symbol }) => plans.get(symbol)!);
}

function planOne(of: PlannedSymbol, sizing: Sizing): { plan: SymbolPlan; spent: bigint } {
  const { symbol, weight, before, held, quote } = of;
  const nothing = (target: Target) => ({ plan: { symbol, target, order: null, cancels: [], unfinished: false, cutBy: null }, spent: 0n });
  const pending = of.open.reduce((sum, { remaining }) => sum + remaining, 0n);
  if (before !== null && before.weight === weight) {
    if (before.reached || isAt(before, held)) return nothing({ ...before, reached: true });
    if (isAt(before, held + pending)) return nothing(before);
  }
  const requested = of.continues && before?.quantity != null ? nanoIn(before.quantity) : wantedOf(of, sizing);
  const { wanted, cutBy } = cut(of, requested, sizing);
  const quantity = nanoText(isLater(requested, wanted, cutBy, sizing) ? requested : wanted);
  const target: Target = { weight, quantity, reached: isAt({ quantity }, held) };
  if (of.open.length > 0)
    return { plan: { symbol, target, order: null, cancels: of.open.map(({ orderId }) => orderId), unfinished: true, cutBy }, spent: 0n };

  const isDust = wanted !== 0n && held !== 0n && multiply(sizeOf(wanted - held), nanoPrice(quote.bid)) < minValue;
  if (isDust) return nothing({ ...target, reached: true });
  const isFlip = wanted !== 0n && held !== 0n && wanted > 0n !== held > 0n;
  const delta = isFlip && !of.flips ? -held : wanted - held;
  const size = exactNumber(sizeOf(delta));
  if (size === 0n) return nothing(target);
  const order = { side: delta > 0n ? ('buy' as const) : ('sell' as const), quantity: nanoText(size) };
  const spent = delta > 0n ? multiply(larger(size - larger(-of.account.held, 0n), 0n), withCollar(nanoPrice(quote.ask), sizing)) : 0n;
  return { plan: { symbol, target, order, cancels: [], unfinished: isFlip && !of.flips, cutBy }, spent };
}

function isAt({ quantity }: Pick<Target, 'quantity'>, held: bigint): boolean {
  return quantity !== null && nanoIn(quantity) === held;
}

/**
 * Whether the part that was cut off is still wanted on later bars: a purchase that waits for the money of a sale is. A part cut off by the
 * margin for market orders or by the position limit is not: the rest would be bought in ever smaller orders.
 */
function isLater(requested: bigint, wanted: bigint, cutBy: SymbolPlan['cutBy'], sizing: Sizing): boolean {
  return cutBy === 'buying_power' && sizeOf(requested - wanted) * 100n * one > sizeOf(requested) * 2n * marginPct(sizing);
}

/** The quantity of the weight at the current price: in shares, rounded toward 0. */
function wantedOf({ weight, quote, held, lot }: PlannedSymbol, { equity, divisor }: Sizing): bigint {
  if (weight === 0 || equity <= 0n) return 0n;
  const value = (weight * fromNano(equity)) / divisor;
  const isBuy = value / quote.ask > fromNano(held);
  const quantity = roundedToNano(value / (isBuy ? quote.ask : quote.bid));
  const size = roundToStep(sizeOf(quantity), lot, 'down');
  return quantity < 0n ? -size : size;
}

function cut(of: PlannedSymbol, wanted: bigint, sizing: Sizing): { wanted: bigint; cutBy: SymbolPlan['cutBy'] } {
  const { held, account, quote, lot } = of;
  const buys = wanted > held;
  const price = withCollar(nanoPrice(buys ? quote.ask : quote.bid), sizing);
  const plain = nanoPrice(buys ? quote.ask : quote.bid);
  // The account's opposite holding is reduced first, and reducing is not limited.
  const opposite = larger(buys ? -account.held : account.held, 0n);
  const same = larger(buys ? account.held : -account.held, 0n);
  // Its own open orders are cancelled before anything is sent.
  const ownOpen = of.open.reduce((sum, { remaining }) => sum + larger(buys ? remaining : -remaining, 0n), 0n);
  const others = larger((buys ? account.buys : account.sells) - ownOpen, 0n);
  const room = larger(sizing.maxPosition - multiply(same, plain) - multiply(others, price), 0n);
  const maxByLimit = opposite + roundToStep((room * one) / price, lot, 'down');
  const maxByPower = buys ? opposite + roundToStep((larger(sizing.buyingPower, 0n) * one) / price, lot, 'down') : maxByLimit;
  const requested = sizeOf(wanted - held);
  const maxQuantity = smaller(maxByLimit, maxByPower);
  // A strategy may always reduce its own position, whatever else the account holds.
  const reducing = held !== 0n && held > 0n !== buys ? smaller(sizeOf(held), requested) : 0n;
  const allowed = larger(maxQuantity, reducing);
  if (requested <= allowed) return { wanted, cutBy: null };
  return { wanted: buys ? held + allowed : held - allowed, cutBy: maxByLimit <= maxByPower ? 'max_position_size' : 'buying_power' };
}

/** The value that the account gives a market order if the price has moved slightly; rounded up. */
function withCollar(price: bigint, sizing: Sizing): bigint {
  return price + multiply(price, marginPct(sizing)) / 100n + 1n;
}

/** In billionths of a percent. */
function marginPct({ marketCollarPct }: Sizing): bigint {
  return nanoPrice(marketCollarPct + mayMovePct);
}

/** Orders carry numbers: digits that a number cannot represent are left for the next bar. */
function exactNumber(quantity: bigint): bigint {
  for (let step = 1n; ; step *= 10n) {
    const rounded = (quantity / step) * step;
    if (roundedToNano(fromNano(rounded)) === rounded) return rounded;
  }
}
