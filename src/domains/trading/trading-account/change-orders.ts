/** Cancelling and replacing open orders, and halting all of them. */
import { AppError, invalidField } from '../../../errors.ts';
import { nanoText } from '../decimal.ts';
import { nanoIn } from '../orders/amounts.ts';
import { isFinal } from '../orders/order-state.ts';
import { replacementTerms } from '../orders/replace.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import type { AccountTurn } from './account-turn.ts';
import { checkOrder } from './check-order.ts';
import { cancelPending } from './day-loss.ts';
import type { OpenEntry } from './entity.ts';
import { moveLegs, remainingOfLeg } from './legs.ts';
import { applyConsequences, maxCalls } from './mark.ts';
import type { Halted, ReplaceOrder } from './messages.ts';
import { claimClientId, newOrder, openEntry, updateLimits } from './place.ts';

/** Orders that depend on it end in the same turn, unless a broker must end them. */
export function cancelOrder(turn: AccountTurn, orderId: string): TradingOrderRow {
  const order = turn.cancelOrder(orderId);
  applyConsequences(turn);
  return order;
}

/**
 * If no broker has the old order, it ends when the new one begins. Otherwise the new one waits here until the broker has ended the old one;
 * until then the larger of both counts.
 */
export function replaceOrder(turn: AccountTurn, input: ReplaceOrder): TradingOrderRow {
  const { orderId, newOrderId, clientOrderId, change } = input;
  const old = turn.entryOf(orderId);
  if (old === null) throw new AppError('conflict', 'The order has ended');
  if (old.cancelRequested) throw new AppError('conflict', 'The order is being cancelled or replaced');
  updateLimits(turn, input.limits);
  const terms = replacementTerms(old.terms, remainingOf(old), change);
  if ('field' in terms) throw invalidField(['body', terms.field], `An order of this type has no ${terms.field}`, 'extra_forbidden');
  claimClientId(turn, clientOrderId, newOrderId);
  checkOrder(turn, terms, old.brokerKey, orderId);
  const isHere = old.filledBy === 'embedded' || old.held;
  const { leg, strategyId } = old;
  const of = { parentId: leg?.parentId ?? null, role: leg?.role ?? null, strategyId, replaces: orderId, clientOrderId };
  const begins = { ...newOrder(turn, old, terms), ...of, held: isHere ? old.held : true };
  const { order, isNew } = turn.ctx.callColocated(tradingOrder, newOrderId, 'begin', begins);
  if (!isNew || isFinal(order)) return order;
  const group = isHere ? old.group : (old.group ?? newOrderId);
  if (group !== old.group) turn.setEntry(orderId, { ...old, group });
  if (isHere) moveLegs(turn, orderId, newOrderId);
  turn.cancelOrder(orderId, newOrderId);
  const now = turn.entryOf(orderId);
  const replaces = now === null ? null : { orderId, filled: old.filled, filledAtEnd: null };
  turn.setEntry(newOrderId, {
    ...openEntry(turn, old, terms, strategyId),
    leg: leg === null ? null : { ...leg, parentFilled: nanoText(nanoIn(leg.parentFilled) - nanoIn(old.filled)) },
    group,
    held: begins.held,
    replaces,
  });
  return order;
}

export function halt(turn: AccountTurn, { by, reason }: { by: string; reason: string | null }): Halted {
  const { row, ctx } = turn;
  const isFirst = row.haltedAt === null;
  const before = Object.keys(row.open);
  const haltedAtMs = row.haltedAt ?? ctx.nowMs;
  if (isFirst) turn.row = { ...row, haltedAt: haltedAtMs, haltReason: reason, haltCancels: before };
  cancelPending(turn, () => turn.calls < maxCalls);
  const left = turn.row.haltCancels.length;
  const cancelled = before.filter((id) => turn.entryOf(id) === null);
  const requested = before.filter((id) => turn.entryOf(id)?.cancelRequested === true);
  if (isFirst) {
    const waiting = before.filter((id) => turn.entryOf(id) !== null).map((id) => ({ id, reason: 'not cancelled yet' }));
    turn.emitEvent('trading.halted', { by, reason, cancelled, not_cancelled: waiting });
  }
  return { haltedAtMs, cancelled, requested, left };
}

export function resume(turn: AccountTurn, by: string): void {
  if (turn.row.haltedAt === null) return;
  turn.row = { ...turn.row, haltedAt: null, haltReason: null, haltCancels: [] };
  turn.emitEvent('trading.resumed', { by });
}

function remainingOf({ terms, filled, leg }: OpenEntry): string {
  if (leg === null) return nanoText(nanoIn(terms.quantity) - nanoIn(filled));
  const remaining = remainingOfLeg({ leg, filled });
  return remaining > 0n ? nanoText(remaining) : terms.quantity;
}
