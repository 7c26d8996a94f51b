/** The text that a person reads before approving an agent's order, and whether it still holds when the order is placed. Pure. */
import type { Mode } from '../../../mode.ts';
import { centsOfProduct, nanoOf, nanoText, one } from '../decimal.ts';
import type { Quote } from '../market/port.ts';
import { nanoIn, nanoPrice, sizeOf } from '../orders/amounts.ts';
import type { Prepared } from '../orders/order-entry.ts';
import { numberOf, shownMode } from '../orders/order-view.ts';
import type { OrderTerms } from '../orders/terms.ts';
import type { OrderPreview, TradingLimits } from '../trading-account/messages.ts';

/** An order as it would be placed now. `mode`: the principal's mode. */
export type CheckedOrder = Prepared & { terms: OrderTerms; preview: OrderPreview; mode: Mode };

/** What the text named that no edit may change without a new text, and the price on which it is based. */
export type Basis = { symbol: string; side: string; orderType: string; orderMode: string; brokerKey: string; price: number };

export function basisOf({ terms: { symbol, side, orderType }, route: { orderMode, brokerKey }, quote }: CheckedOrder): Basis {
  return { symbol, side, orderType, orderMode, brokerKey, price: priceNow(side, quote) };
}

/** A few lines: mode in capitals, the order, its value, and what remains of both limits. */
export function textOf({ terms, quote, route, preview, limits, mode }: CheckedOrder): string {
  const { symbol, side, quantity, orderType, limitPrice, stopPrice, timeInForce } = terms;
  const shown = shownMode({ mode, orderMode: route.orderMode });
  const prices = [stopPrice === null ? '' : `, stop ${stopPrice}`, limitPrice === null ? '' : `, limit ${limitPrice}`].join('');
  const market = priceNow(side, quote);
  const price = limitPrice ?? stopPrice ?? nanoText(nanoPrice(market));
  const estimate = usd(nanoText(centsText(nanoIn(quantity) * nanoIn(price))));
  const { position, loss } = limitsLeft(preview, limits);
  const effect = preview.reduces
    ? 'It reduces the position.'
    : `Position limit: ${usd(preview.positionValueAfter)} of ${usd(limits.maxPositionSize)} with this order, ${usd(position)} left.`;
  return [
    `${shown.toUpperCase()} order${shown === 'live' ? ' with real money' : ''}: ${side} ${quantity} ${symbol}, ${orderType}${prices}, ${timeInForce}, at ${route.brokerName}.`,
    `Estimate: ${estimate}; ${side === 'buy' ? 'ask' : 'bid'} ${market}, market ${quote.session}.`,
    effect,
    `Day's loss limit: result ${usd(preview.dayPnl)}, ${usd(loss)} left of ${usd(limits.dailyLossLimit)}.`,
  ].join('\n');
}

/**
 * Why a new approval is needed; null: the approval still holds. A price has moved too far if it moved, in either direction, by more than
 * the collar of the order's type: that of limit prices for orders with one, else that of market orders.
 */
export function approvalFault(approved: unknown, order: CheckedOrder): string | null {
  const { terms, quote, limits } = order;
  const { price, ...kind } = approved as Basis;
  const { price: _, ...kindNow } = basisOf(order);
  // An approval by a node of an earlier version names less: a new one is needed.
  const changed = (Object.keys(kindNow) as (keyof typeof kindNow)[]).filter((name) => kind[name] !== kindNow[name]);
  if (changed.length > 0) return `The order that was approved differs in: ${changed.map((name) => kindNames[name]).join(', ')}.`;
  const now = priceNow(terms.side, quote);
  const collarPct = terms.limitPrice === null ? limits.marketCollarPct : limits.priceCollarPct;
  const moved = sizeOf(nanoPrice(now) - nanoPrice(price));
  if (moved * 100n * one <= nanoPrice(price) * (nanoOf(collarPct) ?? 0n)) return null;
  const percent = (100 * (now - price)) / price;
  return `The price has moved by ${percent.toFixed(2)} % since this was approved, from ${price} to ${now}: more than the collar of ${collarPct} %.`;
}

const kindNames = { symbol: 'symbol', side: 'side', orderType: 'order_type', orderMode: 'mode', brokerKey: 'broker' } as const;

/** What remains of both limits, for the tool's answer. */
export function limitsView(preview: OrderPreview, limits: TradingLimits) {
  const { position, loss } = limitsLeft({ ...preview, positionValueAfter: preview.positionValue }, limits);
  return {
    max_position_size: numberOf(limits.maxPositionSize),
    position_value: numberOf(preview.positionValue),
    position_size_remaining: numberOf(position),
    daily_loss_limit: numberOf(limits.dailyLossLimit),
    day_pnl: numberOf(preview.dayPnl),
    daily_loss_remaining: numberOf(loss),
  };
}

function limitsLeft(preview: OrderPreview, limits: TradingLimits): { position: string; loss: string } {
  const left = (amount: bigint) => nanoText(amount > 0n ? amount : 0n);
  return {
    position: left(nanoIn(limits.maxPositionSize) - nanoIn(preview.positionValueAfter)),
    loss: left(nanoIn(limits.dailyLossLimit) + nanoIn(preview.dayPnl)),
  };
}

function priceNow(side: string, { bid, ask }: Pick<Quote, 'bid' | 'ask'>): number {
  return side === 'buy' ? ask : bid;
}

/** Billionths of whole cents. */
function centsText(product: bigint): bigint {
  return centsOfProduct(product) * (one / 100n);
}

function usd(text: string): string {
  return `${Number(text).toFixed(2)} USD`;
}
