/** Moves of an order's row, and their records: one event for each change, with the order after that change, and one row for each fill. */
import type { TurnContext } from '../../../actors/define-actor.ts';
import { idInMode } from '../../../mode.ts';
import { fromNano } from '../decimal.ts';
import { tradingIds } from '../ids.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { BookedFill } from '../orders/order-fills.ts';
import { averagePrice, moveOrder, type OrderChange, type OrderEvent, type OrderState, remainingQuantity } from '../orders/order-state.ts';
import type { BookedNow } from '../trading-account/messages.ts';
import { TradingFill, type TradingOrderRow } from './entity.ts';
import type { TradingOrderContract } from './messages.ts';

type Context = TurnContext<TradingOrderContract>;

/** A change, and the order after it. */
export type OrderStep = { row: TradingOrderRow; change: OrderChange };
export type Moves = { row: TradingOrderRow; steps: OrderStep[] };

export function withState(row: TradingOrderRow, state: OrderState, nowMs: number): TradingOrderRow {
  return { ...row, state, status: state.status, quantity: state.quantity, updatedAt: nowMs };
}

/** A repeated event, and one that is no longer possible, changes nothing. */
export function moveRow(from: TradingOrderRow, events: readonly OrderEvent[], nowMs: number): Moves {
  let row = from;
  const steps: OrderStep[] = [];
  for (const event of events) {
    const move = moveOrder(row.state, event);
    if (move.kind !== 'moved') continue;
    row = withState(row, move.order, nowMs);
    // Of several changes at once the earlier ones show their own status.
    for (const change of move.changes) steps.push({ row: withState(row, { ...move.order, status: change.status }, nowMs), change });
  }
  return { row, steps };
}

export function fillsIn(steps: readonly OrderStep[]): BookedFill[] {
  return steps.flatMap(({ change }) => (change.kind === 'fill' ? [change.fill] : []));
}

/** @param booked of each fill in the steps, in order */
export function emitSteps(steps: readonly OrderStep[], booked: readonly BookedNow[], ctx: Context): void {
  let fills = 0;
  for (const { row, change } of steps) {
    if (change.kind === 'status') {
      emit(row, change.status, ctx);
      continue;
    }
    const { fill } = change;
    const at = booked[fills++]!;
    const id = ctx.newId(tradingIds.fill, row.accountId);
    ctx.append(TradingFill, {
      id,
      tradingAccountId: idInMode(row),
      seq: at.seq,
      orderId: row.id,
      brokerKey: row.brokerKey,
      strategyId: row.strategyId,
      symbol: row.symbol,
      side: row.side,
      quantity: fill.quantity,
      price: fill.price,
      commission: fill.commission,
      key: fill.key,
      brokerFillId: fill.venueTradeId,
      positionQuantity: at.positionQuantity,
      at: fill.atMs,
      createdAt: ctx.nowMs,
    });
    const isComplete = nanoIn(row.state.fills.quantity) >= nanoIn(row.quantity);
    const shown = { id, quantity: number(fill.quantity), price: number(fill.price), position_quantity: number(at.positionQuantity) };
    emit(row, isComplete ? 'filled' : 'partially_filled', ctx, shown);
  }
}

/** The order, its broker or its symbol needs a person's attention. */
export function callAttention(
  row: TradingOrderRow,
  reason: 'unknown_outcome' | 'lost_order' | 'stuck_cancel' | 'overfilled',
  ctx: Context,
): void {
  const data = { mode: modeShown(row), reason, broker_id: row.brokerKey, order_id: row.id, symbol: row.symbol };
  ctx.emit({ accountId: row.accountId, type: 'trading.attention', data });
}

function emit(row: TradingOrderRow, type: string, ctx: Context, fill?: object): void {
  const { state } = row;
  const average = averagePrice(state.fills);
  ctx.emit({
    accountId: row.accountId,
    type: `trade.${type}`,
    data: {
      order_id: row.id,
      client_order_id: row.clientOrderId,
      symbol: row.symbol,
      side: row.side,
      mode: modeShown(row),
      broker_id: row.brokerKey,
      broker_name: row.brokerName,
      status: row.status,
      quantity: number(row.quantity),
      filled_quantity: number(state.fills.quantity),
      remaining_quantity: number(remainingQuantity(state)),
      filled_avg_price: average === null ? null : number(average),
      external: row.external,
      ...(state.rejectReason !== null && { reject_reason: state.rejectReason }),
      ...(fill !== undefined && { fill }),
    },
  });
}

/** The mode that callers see: `test` for orders placed with a test key. */
export function modeShown({ mode, orderMode }: Pick<TradingOrderRow, 'mode' | 'orderMode'>): 'test' | 'paper' | 'live' {
  return mode === 'test' ? 'test' : orderMode;
}

function number(text: string): number {
  return fromNano(nanoIn(text));
}
