/**
 * The embedded paper broker's fill rules: pure functions from an order and the contents of its symbol's quote to fills. Pessimistic on purpose: no fill
 * at a price that was quoted before the order, the spread is paid, and an order fills at most a tenth of the traded volume.
 *
 * P1 Nothing fills at the content that the order was accepted on; each later content fills at most `volumeShare` of its volume.
 * P2 A stop is triggered by `last` and fills at the next content, so a gap is a loss; a stop_limit is a limit order from then on.
 * P3 A limit buy fills at the ask when that is at the limit or under it, a limit sell at the bid. Volume 0 fills nothing.
 * P4 Outside sessions nothing fills; a day order ends at the close of its session; ioc ends with the first content.
 */
import { divideHalfEven, nanoText, one, roundToStep } from '../decimal.ts';
import { tickOf } from '../market/symbol.ts';
import { nanoIn, nanoPrice, smaller } from '../orders/amounts.ts';
import type { OrderTerms, TimeInForce } from '../orders/terms.ts';

/** One content of a symbol's quote. Contents of a source have ascending sequences. */
export type Content = {
  bid: number;
  ask: number;
  last: number;
  volume: number;
  /** The market's clock. */
  atMs: number;
  session: 'open' | 'closed';
  sequence: number;
};

/** A paper order as its broker keeps it. */
export type PaperOrder = {
  terms: OrderTerms;
  filled: string;
  /** The last content on which it was tried. */
  sequence: number;
  /** A stop whose price was reached. Always true for other types. */
  triggered: boolean;
  /** The close of its session; null: it does not expire. */
  expiresAtMs: number | null;
};

export type PaperFill = { quantity: string; price: string; atMs: number };
export type PaperEnding = 'filled' | 'cancelled' | 'expired';
export type PaperStep = { order: PaperOrder; fill: PaperFill | null; ended: PaperEnding | null };

/**
 * Accepts an order. A stop on the wrong side of the market is triggered at once.
 *
 * @param expiresAtMs of a day order, as `expiryOf` says
 */
export function acceptPaper(terms: OrderTerms, at: Content, expiresAtMs: number | null): PaperOrder {
  return { terms, filled: '0', sequence: at.sequence, triggered: !isStop(terms) || isTouched(terms, at), expiresAtMs };
}

/**
 * When an order expires.
 *
 * @param nextCloseMs the close of the session that is open, or of the next one; null where trading never closes
 */
export function expiryOf(timeInForce: TimeInForce, nextCloseMs: number | null): number | null {
  return timeInForce === 'day' ? nextCloseMs : null;
}

/** How much of a content's volume may fill at most: a tenth, in billionths. */
export function volumeShare(volume: number): bigint {
  return nanoPrice(volume) / 10n;
}

/**
 * Tries to fill an order on a content. Trying the same content again fills nothing.
 *
 * @param available what other orders have left of the content's share, in billionths; default: all of it
 */
export function stepPaper(order: PaperOrder, content: Content, available: bigint = volumeShare(content.volume)): PaperStep {
  if (isExpired(order, content.atMs)) return { order, fill: null, ended: 'expired' };
  if (content.sequence <= order.sequence) return { order, fill: null, ended: null };
  const seen = { ...order, sequence: content.sequence };
  const isImmediate = order.terms.timeInForce === 'ioc';
  if (content.session === 'closed') return { order: seen, fill: null, ended: isImmediate ? 'cancelled' : null };
  if (!order.triggered) {
    // An ioc stop waits until it is triggered; then it has one content.
    return { order: { ...seen, triggered: isTouched(order.terms, content) }, fill: null, ended: null };
  }
  const fill = fillOf(seen, content, available);
  const filled = fill === null ? nanoIn(seen.filled) : nanoIn(seen.filled) + nanoIn(fill.quantity);
  const after = { ...seen, filled: nanoText(filled) };
  if (filled >= nanoIn(order.terms.quantity)) return { order: after, fill, ended: 'filled' };
  return { order: after, fill, ended: isImmediate ? 'cancelled' : null };
}

export function isExpired({ expiresAtMs }: PaperOrder, marketMs: number): boolean {
  return expiresAtMs !== null && marketMs >= expiresAtMs;
}

/**
 * A resting order after a split: quantity times the ratio, prices divided by it and put on the tick on the side that does not favour the order. Nothing is
 * left where the quantity rounds to 0.
 *
 * @param ratio new shares for each old one, in billionths
 */
export function splitPaper(order: PaperOrder, ratio: bigint): PaperOrder | null {
  const { terms } = order;
  const times = (text: string) => nanoText(divideHalfEven(nanoIn(text) * ratio, one));
  const quantity = times(terms.quantity);
  if (nanoIn(quantity) === 0n) return null;
  const divided = (text: string | null) => {
    if (text === null) return null;
    const price = divideHalfEven(nanoIn(text) * one, ratio);
    const tick = tickOf(terms, price);
    const onTick = roundToStep(price, tick, terms.side === 'buy' ? 'down' : 'up');
    return nanoText(onTick === 0n ? tick : onTick);
  };
  const adjusted = { ...terms, quantity, limitPrice: divided(terms.limitPrice), stopPrice: divided(terms.stopPrice) };
  return { ...order, terms: adjusted, filled: times(order.filled) };
}

function fillOf({ terms, filled }: PaperOrder, { bid, ask, atMs }: Content, available: bigint): PaperFill | null {
  const price = nanoPrice(terms.side === 'buy' ? ask : bid);
  if (terms.limitPrice !== null) {
    const limit = nanoIn(terms.limitPrice);
    if (terms.side === 'buy' ? price > limit : price < limit) return null;
  }
  const quantity = smaller(nanoIn(terms.quantity) - nanoIn(filled), available);
  return quantity > 0n ? { quantity: nanoText(quantity), price: nanoText(price), atMs } : null;
}

function isStop({ orderType }: OrderTerms): boolean {
  return orderType === 'stop' || orderType === 'stop_limit';
}

/** Whether the last price has reached a stop's price. */
export function isTouched({ side, stopPrice }: OrderTerms, { last }: Content): boolean {
  const stop = nanoIn(stopPrice!);
  return side === 'buy' ? nanoPrice(last) >= stop : nanoPrice(last) <= stop;
}
