/** A day's loss that reaches the limit: it blocks its book, emits an event, and cancels every open order of the book. */
import { isoTimestamp } from '../../../clock.ts';
import { fromNano } from '../decimal.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { AccountTurn } from './account-turn.ts';
import { breachOf } from './day-result.ts';
import { priceNow } from './prices.ts';

export function checkDayLoss(turn: AccountTurn): void {
  const { row, marketMs } = turn;
  for (const [brokerKey, of] of Object.entries(row.books)) {
    const breach = breachOf(of, row.limits.dailyLossLimit, priceNow(turn, of), marketMs);
    if (breach === null) continue;
    const { cents, blocked } = breach;
    const cancelling = Object.entries(turn.row.open).flatMap(([id, entry]) => (entry.brokerKey === brokerKey ? [id] : []));
    turn.setBook(brokerKey, { ...of, blocked, cancelling });
    const until = Math.max(blocked.equity ?? 0, blocked.crypto ?? 0);
    turn.emitEvent('trading.blocked', {
      mode: row.mode === 'test' ? 'test' : of.orderMode,
      broker_id: brokerKey,
      day_pnl: Number(cents) / 100,
      daily_loss_limit: fromNano(nanoIn(row.limits.dailyLossLimit)),
      blocked_until: isoTimestamp(until),
    });
  }
}

/** Cancels the orders that a breach or a halt must cancel, as many as one turn may. */
export function cancelPending(turn: AccountTurn, hasCallsLeft: () => boolean): void {
  for (const [brokerKey, { cancelling }] of Object.entries(turn.row.books)) {
    if (cancelling.length === 0) continue;
    const left = cancelAll(turn, cancelling, hasCallsLeft);
    turn.setBook(brokerKey, { ...turn.bookOf(brokerKey), cancelling: left });
  }
  const { haltCancels } = turn.row;
  if (haltCancels.length > 0) {
    const left = cancelAll(turn, haltCancels, hasCallsLeft);
    turn.row = { ...turn.row, haltCancels: left };
  }
}

/** The orders left for another turn. */
function cancelAll(turn: AccountTurn, orderIds: readonly string[], hasCallsLeft: () => boolean): string[] {
  return orderIds.filter((orderId) => {
    const entry = turn.entryOf(orderId);
    if (entry === null || entry.cancelRequested) return false;
    if (!hasCallsLeft()) return true;
    turn.cancelOrder(orderId);
    return false;
  });
}
