/** The embedded paper broker for one account: tries its open orders on the current content. */
import { nanoText } from '../decimal.ts';
import type { Quote } from '../market/port.ts';
import { nanoIn, smaller } from '../orders/amounts.ts';
import type { BookedFill } from '../orders/order-fills.ts';
import { isExpired, type PaperOrder, stepPaper, volumeShare } from '../paper/fill-rules.ts';
import type { PaperMoved } from '../trading-order/messages.ts';
import { type AccountTurn, contentOf } from './account-turn.ts';
import type { OpenEntry } from './entity.ts';
import { closable, remainingOfLeg } from './legs.ts';

/**
 * In the order of placement. An order that the content does not change is left untouched, so that a content without effect writes nothing:
 * trying it again would change nothing, because the volume used by other orders is stored.
 */
export function fillPaperOrders(turn: AccountTurn, hasCallsLeft: () => boolean): void {
  for (const orderId of Object.keys(turn.row.open)) {
    const entry = turn.entryOf(orderId);
    if (entry !== null && entry.filledBy === 'embedded' && !entry.held && hasCallsLeft()) tryOrder(turn, orderId, entry);
  }
}

function tryOrder(turn: AccountTurn, orderId: string, entry: OpenEntry): void {
  const quote = turn.quoteOf(entry.terms.symbol);
  if (quote === null) {
    if (isExpired(entry, turn.marketMs)) turn.moveOrder(orderId, entry, [], { status: 'expired', reason: null });
    return;
  }
  const available = availableTo(turn, entry, quote);
  if (available === null) {
    // Its position was closed by another order: it would open the opposite one.
    turn.cancelOrder(orderId);
    return;
  }
  const { order, fill, ended } = stepPaper(asPaper(entry), contentOf(quote, turn.marketMs), available);
  if (fill === null && ended === null && order.triggered === entry.triggered) return;
  turn.setEntry(orderId, { ...entry, sequence: order.sequence, triggered: order.triggered });
  if (fill === null && ended === null) return;
  if (fill !== null) useShare(turn, quote, nanoIn(fill.quantity));
  const key = `paper ${turn.row.entries + 1}`;
  const fills: BookedFill[] = fill === null ? [] : [{ ...fill, key, venueTradeId: null, commission: '0' }];
  const ending: PaperMoved['ended'] = ended === null || ended === 'filled' ? null : { status: ended, reason: null };
  turn.moveOrder(orderId, entry, fills, ending);
}

/** The volume of the content that is left for it, in billionths; null: it is a leg without a position to close. */
function availableTo(turn: AccountTurn, entry: OpenEntry, quote: Quote): bigint | null {
  const share = Object.hasOwn(turn.row.shares, quote.symbol) ? turn.row.shares[quote.symbol]! : null;
  const used = share?.sequence === quote.sequence ? nanoIn(share.used) : 0n;
  const left = volumeShare(quote.volume) - used;
  if (entry.leg === null) return left;
  const held = closable(turn, entry);
  return held === 0n ? null : smaller(left, smaller(held, remainingOfLeg({ leg: entry.leg, filled: entry.filled })));
}

function useShare(turn: AccountTurn, { symbol, sequence }: Quote, quantity: bigint): void {
  const share = Object.hasOwn(turn.row.shares, symbol) ? turn.row.shares[symbol]! : null;
  const used = nanoText(quantity + (share?.sequence === sequence ? nanoIn(share.used) : 0n));
  turn.row = { ...turn.row, shares: { ...turn.row.shares, [symbol]: { sequence, used } } };
}

function asPaper({ terms, filled, sequence, triggered, expiresAtMs }: OpenEntry): PaperOrder {
  return { terms, filled, sequence, triggered, expiresAtMs };
}
