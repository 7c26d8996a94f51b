/**
 * Orders that wait for other orders: the legs of brackets, and replacements of orders that a broker must end first. Updates these orders to match the
 * account's entries; calling it again changes nothing.
 *
 * L1 A leg's quantity is the filled quantity of its parent less that of the other leg. While this is 0, the leg waits.
 * L2 The first fill of a leg ends the rest of its parent: a position that is being closed is not opened further.
 * L3 A leg with quantity 0 whose parent has ended is cancelled.
 * L4 Legs of orders at a broker wait here until their price is touched, the stop first; only one leg of a bracket is at the broker at a time.
 */
import { heldQuantity } from '../book.ts';
import { nanoText } from '../decimal.ts';
import { nanoIn, nanoPrice } from '../orders/amounts.ts';
import { quantityAfterOld } from '../orders/replace.ts';
import { isTouched } from '../paper/fill-rules.ts';
import { isStale } from '../risk.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import { type AccountTurn, contentOf, isDependent } from './account-turn.ts';
import type { LegFacts, OpenEntry } from './entity.ts';
import { isOnShort, paperOrder } from './place.ts';
import { countsFor } from './prices.ts';

type Leg = OpenEntry & { leg: LegFacts };

/** The quantity that a leg may still fill, in billionths. */
export function remainingOfLeg({ leg, filled }: Pick<Leg, 'leg' | 'filled'>): bigint {
  return nanoIn(leg.parentFilled) - nanoIn(leg.exited) - nanoIn(filled);
}

/** The held quantity that an order of this side would close, in billionths. */
export function closable(turn: AccountTurn, { brokerKey, terms }: Pick<OpenEntry, 'brokerKey' | 'terms'>): bigint {
  const held = heldQuantity(turn.bookOf(brokerKey).book, terms.symbol);
  const size = terms.side === 'sell' ? held : -held;
  return size > 0n ? size : 0n;
}

/** @param hasCallsLeft whether the turn may call further orders */
export function updateDependentOrders(turn: AccountTurn, hasCallsLeft: () => boolean): void {
  const dependent = Object.entries(turn.row.open).flatMap(([id, entry]) => (isDependent(entry) || entry.exiting === true ? [id] : []));
  for (const step of [sendReplacement, endExiting, updateLeg, sendTouchedLeg]) {
    for (const orderId of dependent) if (hasCallsLeft()) step(turn, orderId);
  }
}

/** From now on the legs of a parent belong to the order that replaces it. */
export function moveLegs(turn: AccountTurn, parentId: string, to: string): void {
  for (const [id, entry] of Object.entries(turn.row.open)) {
    if (entry.leg?.parentId === parentId) turn.setEntry(id, { ...entry, leg: { ...entry.leg, parentId: to, parentOpen: true } });
  }
}

function sendReplacement(turn: AccountTurn, orderId: string): void {
  const entry = turn.entryOf(orderId);
  if (entry === null || entry.replaces === null || entry.replaces.filledAtEnd === null) return;
  const { replaces, terms } = entry;
  const quantity = quantityAfterOld(terms.quantity, replaces.filled, replaces.filledAtEnd!);
  if (quantity === null) {
    turn.moveOrder(orderId, entry, [], { status: 'rejected', reason: 'the order that it replaces was filled' });
    return;
  }
  moveLegs(turn, replaces.orderId, orderId);
  turn.setEntry(orderId, { ...entry, terms: { ...terms, quantity }, held: false, replaces: null });
  release(turn, orderId, quantity, false);
}

function updateLeg(turn: AccountTurn, orderId: string): void {
  const entry = turn.entryOf(orderId);
  if (entry === null || entry.leg === null || entry.replaces !== null) return;
  const { leg, filled, terms } = entry;
  const remaining = remainingOfLeg({ leg, filled });
  if (remaining <= 0n) {
    if (!leg.parentOpen && !entry.cancelRequested) turn.cancelOrder(orderId);
    return;
  }
  const quantity = nanoText(remaining + nanoIn(filled));
  const isHere = entry.filledBy === 'embedded';
  if (!isHere && !entry.held) return;
  if (quantity === terms.quantity && !(isHere && entry.held)) return;
  const sized = { ...terms, quantity };
  if (!isHere) {
    turn.setEntry(orderId, { ...entry, terms: sized });
    release(turn, orderId, quantity, true);
    return;
  }
  const quote = turn.quoteOf(terms.symbol);
  if (quote === null && entry.held) return;
  const accepted = entry.held ? paperOrder(turn, sized, quote!, 'embedded') : { ...entry, terms: sized };
  turn.setEntry(orderId, { ...entry, ...accepted, filled, held: false });
  release(turn, orderId, quantity, false);
}

function endExiting(turn: AccountTurn, orderId: string): void {
  const entry = turn.entryOf(orderId);
  if (entry?.exiting === true && !entry.cancelRequested) turn.cancelOrder(orderId);
}

function sendTouchedLeg(turn: AccountTurn, orderId: string): void {
  const entry = turn.entryOf(orderId);
  if (entry === null || entry.leg === null || !entry.held || entry.replaces !== null || entry.filledBy === 'embedded') return;
  const remaining = remainingOfLeg({ leg: entry.leg, filled: entry.filled });
  const quote = turn.quoteOf(entry.terms.symbol);
  if (remaining <= 0n || quote === null || quote.session === 'closed' || isStale(quote, turn.marketMs)) return;
  // An invented price must not sell what is held in the market.
  if (!countsFor(entry, quote.source)) return;
  const { terms, leg } = entry;
  const isStop = leg.role === 'stop_loss';
  const content = contentOf(quote, turn.marketMs);
  const price = nanoPrice(terms.side === 'sell' ? quote.bid : quote.ask);
  const limit = terms.limitPrice === null ? null : nanoIn(terms.limitPrice);
  if (isStop ? !isTouched(terms, content) : limit !== null && (terms.side === 'sell' ? price < limit : price > limit)) return;
  const other = Object.entries(turn.row.open).find(([id, open]) => id !== orderId && open.leg !== null && open.group === entry.group);
  if (other !== undefined && !other[1].held) {
    // The other leg is at the broker: it must end first.
    if (isStop && !other[1].cancelRequested) turn.cancelOrder(other[0]);
    return;
  }
  const quantity = nanoText(remaining + nanoIn(entry.filled));
  turn.setEntry(orderId, { ...entry, terms: { ...terms, quantity }, held: false });
  release(turn, orderId, quantity, false, isStop);
}

function release(turn: AccountTurn, orderId: string, quantity: string, held: boolean, asMarket = false): void {
  const { brokerKey, terms } = turn.entryOf(orderId)!;
  turn.calls++;
  const onShort = isOnShort(turn, brokerKey, terms);
  turn.ctx.callColocated(tradingOrder, orderId, 'release', { quantity, held, onShort, asMarket });
}
