/**
 * The states of an order: a union, and one function that makes every allowed transition and refuses all others. Independent of brokers, time and storage.
 *
 *   submitted → accepted → partially_filled → filled
 *       └──────────┴──────────────┴→ cancelled | rejected | expired
 *
 * O1 No event leaves a final state; only the filled quantity still grows, because late fills are always booked.
 * O2 A cancel and a replace are requests: the state stays until the venue ends the order.
 * O3 The event of an end is emitted once all fills that the venue counted have arrived, so that it contains them; `end_without_fills` ends the wait.
 * O4 Every fill gives exactly one change, and `filled` comes with the fill that completes the order.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { nanoText } from '../decimal.ts';
import { larger, nanoIn } from './amounts.ts';
import {
  averagePrice,
  type BookedFill,
  type Cumulative,
  noFills,
  OrderFills,
  type Trade,
  takeCumulative,
  takeTrade,
} from './order-fills.ts';

export const orderStatuses = ['submitted', 'accepted', 'partially_filled', 'filled', 'cancelled', 'rejected', 'expired'] as const;
export type OrderStatus = (typeof orderStatuses)[number];
const endings = ['cancelled', 'rejected', 'expired'] as const;
/** How an order can end, other than filled. */
export type Ending = (typeof endings)[number];

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Status = Type.Enum(orderStatuses);
const End = Type.Object({
  status: Type.Enum(endings),
  reason: nullable(Type.String()),
  filledQuantity: Type.String(),
});

export const OrderState = Type.Object({
  status: Status,
  quantity: Type.String(),
  fills: OrderFills,
  brokerOrderId: nullable(Type.String()),
  rejectReason: nullable(Type.String()),
  cancelRequestedAtMs: nullable(Type.Integer()),
  replacedBy: nullable(Type.String()),
  unknownOutcome: Type.Boolean(),
  /** The end that the venue reported, while fills that the venue counts have not arrived. */
  end: nullable(End),
});
export type OrderState = Static<typeof OrderState>;

export type OrderEvent =
  | { kind: 'accepted'; brokerOrderId: string }
  | { kind: 'trade'; trade: Trade }
  | { kind: 'filled_so_far'; cumulative: Cumulative }
  /** `filledQuantity`: the filled quantity that the venue counts at the end. */
  | { kind: 'ended'; status: Ending; reason: string | null; filledQuantity: string }
  /** The fills for which an end waits have not arrived in time. */
  | { kind: 'end_without_fills' }
  /** The broker will not report how the order ended: it ends as cancelled, and its outcome stays unknown. */
  | { kind: 'lost'; reason: string }
  | { kind: 'outcome_unknown' }
  | { kind: 'cancel_requested'; atMs: number }
  | { kind: 'replace_requested'; by: string; atMs: number };

/** The input of events: one entry for each change of status and each fill, in order. */
export type OrderChange = { kind: 'status'; status: OrderStatus } | { kind: 'fill'; status: OrderStatus; fill: BookedFill };

export type OrderMove =
  | { kind: 'moved'; order: OrderState; changes: OrderChange[] }
  /** The event has nothing new. */
  | { kind: 'same'; order: OrderState }
  /** The request cannot be fulfilled any more, or is already in progress. */
  | { kind: 'refused'; because: 'final' | 'cancel_requested' | 'replace_requested' };

export function newOrder(quantity: string): OrderState {
  return {
    status: 'submitted',
    quantity,
    fills: noFills(),
    brokerOrderId: null,
    rejectReason: null,
    cancelRequestedAtMs: null,
    replacedBy: null,
    unknownOutcome: false,
    end: null,
  };
}

export function isFinal({ status }: Pick<OrderState, 'status'>): boolean {
  return status === 'filled' || (endings as readonly string[]).includes(status);
}

export function filledQuantity(order: OrderState): string {
  return order.fills.quantity;
}

/** The quantity that is not filled, in every state. */
export function remainingQuantity({ quantity, fills }: Pick<OrderState, 'quantity' | 'fills'>): string {
  return nanoText(larger(nanoIn(quantity) - nanoIn(fills.quantity), 0n));
}

export { averagePrice };

export function moveOrder(order: OrderState, event: OrderEvent): OrderMove {
  switch (event.kind) {
    case 'accepted':
      return accept(order, event.brokerOrderId);
    case 'trade': {
      const { fills, fill } = takeTrade(order.fills, event.trade);
      return book(order, fills, fill);
    }
    case 'filled_so_far': {
      const { fills, fill } = takeCumulative(order.fills, event.cumulative);
      return book(order, fills, fill);
    }
    case 'ended':
      return end(order, { status: event.status, reason: event.reason, filledQuantity: event.filledQuantity });
    case 'end_without_fills':
      return order.end === null ? { kind: 'same', order } : close(order, order.end, []);
    case 'lost':
      return lose(order, event.reason);
    case 'outcome_unknown':
      if (isFinal(order) || order.status !== 'submitted' || order.unknownOutcome) return { kind: 'same', order };
      return { kind: 'moved', order: { ...order, unknownOutcome: true }, changes: [] };
    case 'cancel_requested':
      if (isFinal(order)) return { kind: 'refused', because: 'final' };
      if (order.cancelRequestedAtMs !== null) return { kind: 'same', order };
      return { kind: 'moved', order: { ...order, cancelRequestedAtMs: event.atMs }, changes: [] };
    case 'replace_requested':
      if (isFinal(order)) return { kind: 'refused', because: 'final' };
      if (order.replacedBy !== null) return { kind: 'refused', because: 'replace_requested' };
      if (order.cancelRequestedAtMs !== null) return { kind: 'refused', because: 'cancel_requested' };
      return { kind: 'moved', order: { ...order, replacedBy: event.by, cancelRequestedAtMs: event.atMs }, changes: [] };
  }
}

function accept(order: OrderState, brokerOrderId: string): OrderMove {
  // A venue never gives one order two ids; the first is kept, so that a cancel goes to the order that gets the fills.
  const known = { ...order, brokerOrderId: order.brokerOrderId ?? brokerOrderId, unknownOutcome: false };
  if (order.status !== 'submitted') {
    const isNew = order.brokerOrderId === null || order.unknownOutcome;
    return isNew ? { kind: 'moved', order: known, changes: [] } : { kind: 'same', order };
  }
  return { kind: 'moved', order: { ...known, status: 'accepted' }, changes: [{ kind: 'status', status: 'accepted' }] };
}

/** A fill proves that the venue accepted the order, so one that arrives before the venue's answer is booked as well. */
function book(order: OrderState, fills: OrderFills, fill: BookedFill | null): OrderMove {
  if (fill === null) return fills === order.fills ? { kind: 'same', order } : { kind: 'moved', order: { ...order, fills }, changes: [] };
  const isComplete = nanoIn(fills.quantity) >= nanoIn(order.quantity);
  const status = isFinal(order) ? order.status : isComplete ? 'filled' : 'partially_filled';
  const booked: OrderState = { ...order, fills, status, unknownOutcome: false, end: isComplete ? null : order.end };
  const changes: OrderChange[] = order.status === 'submitted' ? [{ kind: 'status', status: 'accepted' }] : [];
  changes.push({ kind: 'fill', status, fill });
  const isAwaited = booked.end !== null && nanoIn(fills.quantity) >= nanoIn(booked.end.filledQuantity);
  return isAwaited ? close(booked, booked.end!, changes) : { kind: 'moved', order: booked, changes };
}

function end(order: OrderState, ending: Static<typeof End>): OrderMove {
  if (isFinal(order)) return { kind: 'same', order };
  if (nanoIn(ending.filledQuantity) <= nanoIn(order.fills.quantity)) return close(order, ending, []);
  if (order.end !== null && order.end.status === ending.status && order.end.filledQuantity === ending.filledQuantity)
    return { kind: 'same', order };
  return { kind: 'moved', order: { ...order, unknownOutcome: false, end: ending }, changes: [] };
}

function lose(order: OrderState, reason: string): OrderMove {
  if (isFinal(order)) return { kind: 'same', order };
  // The broker reported the end; only fills are missing.
  if (order.end !== null) return close(order, order.end, []);
  const lost: OrderState = { ...order, status: 'cancelled', rejectReason: reason, unknownOutcome: true };
  return { kind: 'moved', order: lost, changes: [{ kind: 'status', status: 'cancelled' }] };
}

function close(order: OrderState, { status, reason }: Static<typeof End>, changes: OrderChange[]): OrderMove {
  const closed: OrderState = {
    ...order,
    status,
    rejectReason: status === 'rejected' ? (reason ?? 'rejected by the broker') : order.rejectReason,
    unknownOutcome: false,
    end: null,
  };
  return { kind: 'moved', order: closed, changes: [...changes, { kind: 'status', status }] };
}
