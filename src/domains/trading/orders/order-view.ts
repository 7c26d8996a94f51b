/** Orders and fills as callers see them. */
import Type, { type Static, type TSchema } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import type { AccountMode } from '../../../mode.ts';
import { brokerNames } from '../brokers/capabilities.ts';
import { fromNano } from '../decimal.ts';
import { assetClasses } from '../market/symbol.ts';
import type { OrderMode } from '../trading-account/messages.ts';
import type { TradingFillRow, TradingOrderRow } from '../trading-order/entity.ts';
import { nanoIn } from './amounts.ts';
import { averagePrice, orderStatuses, remainingQuantity } from './order-state.ts';
import { orderTypes, sides, timesInForce } from './terms.ts';

const Time = Type.String({ format: 'date-time' });
const orNull = <S extends TSchema>(schema: S, options: { description?: string } = {}) => Type.Union([schema, Type.Null()], options);
export const shownModes = ['paper', 'live', 'test'] as const;
export const TradingMode = Type.Enum([...shownModes], { description: '`live` is real money; `test` is the paper account of test keys' });
export const BrokerId = Type.String({ description: 'A connection, or `embedded`: the paper broker of this service' });

export const OrderView = Type.Object(
  {
    id: Type.String(),
    client_order_id: orNull(Type.String()),
    broker_id: BrokerId,
    broker_name: Type.Enum([...brokerNames]),
    broker_order_id: orNull(Type.String()),
    symbol: Type.String(),
    asset_class: Type.Enum([...assetClasses]),
    side: Type.Enum([...sides]),
    quantity: Type.Number(),
    filled_quantity: Type.Number(),
    remaining_quantity: Type.Number({ description: 'What is not filled, in every state' }),
    order_type: Type.Enum([...orderTypes]),
    limit_price: orNull(Type.Number()),
    stop_price: orNull(Type.Number()),
    time_in_force: Type.Enum([...timesInForce]),
    status: Type.Enum([...orderStatuses], { description: 'None leaves `filled`, `cancelled`, `rejected` and `expired`' }),
    filled_avg_price: orNull(Type.Number(), { description: 'To nine places, half-even' }),
    reject_reason: orNull(Type.String({ description: 'Why it was rejected, or why it ended with `unknown_outcome`' })),
    cancel_requested_at: orNull(Time, { description: 'A cancel is a request: the status stays until the broker ends the order' }),
    replaced_by: orNull(Type.String()),
    replaces: orNull(Type.String()),
    unknown_outcome: Type.Boolean({
      description:
        'Whether the broker has it is not known. An open order is being looked for; of a `cancelled` order the broker did not report how it ended',
    }),
    external: Type.Boolean({ description: 'Placed at the broker by another program or a person' }),
    held: Type.Boolean({
      description: 'It waits here: for the fill of its parent, for its price, or for the end of the order that it replaces',
    }),
    parent_id: orNull(Type.String(), { description: 'The order that opens the position which this one closes' }),
    managed_by: orNull(Type.Enum(['troupe', 'broker']), {
      description: 'Who holds the orders of a bracket; `troupe`: while this service is down they do nothing',
    }),
    mode: TradingMode,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'TradingOrder' },
);
export type OrderView = Static<typeof OrderView>;

export const FillView = Type.Object(
  {
    id: Type.String(),
    order_id: Type.String(),
    symbol: Type.String(),
    side: Type.Enum([...sides]),
    quantity: Type.Number(),
    price: Type.Number(),
    commission: Type.Number(),
    broker_fill_id: orNull(Type.String()),
    at: Time,
  },
  { title: 'Fill' },
);

export function orderView(order: TradingOrderRow): OrderView {
  const { state } = order;
  const average = averagePrice(state.fills);
  return {
    id: order.id,
    client_order_id: order.clientOrderId,
    broker_id: order.brokerKey,
    broker_name: order.brokerName,
    broker_order_id: state.brokerOrderId,
    symbol: order.symbol,
    asset_class: order.assetClass,
    side: order.side,
    quantity: numberOf(order.quantity),
    filled_quantity: numberOf(state.fills.quantity),
    remaining_quantity: numberOf(remainingQuantity(state)),
    order_type: order.orderType,
    limit_price: numberOrNull(order.limitPrice),
    stop_price: numberOrNull(order.stopPrice),
    time_in_force: order.timeInForce,
    status: state.status,
    filled_avg_price: numberOrNull(average),
    reject_reason: state.rejectReason,
    cancel_requested_at: state.cancelRequestedAtMs === null ? null : isoTimestamp(state.cancelRequestedAtMs),
    replaced_by: state.replacedBy,
    replaces: order.replaces,
    unknown_outcome: state.unknownOutcome,
    external: order.external,
    held: order.held,
    parent_id: order.parentId,
    managed_by: order.managedBy,
    mode: shownMode(order),
    created_at: isoTimestamp(order.createdAt),
    updated_at: isoTimestamp(order.updatedAt),
  };
}

/** The answer to a new order: it is stored, and nothing more is known, as for all orders at brokers. */
export function justPlaced(order: TradingOrderRow): OrderView {
  const view = orderView(order);
  return view.status === 'accepted' && !view.held ? { ...view, status: 'submitted' } : view;
}

export function fillView(fill: TradingFillRow): Static<typeof FillView> {
  const { id, orderId, symbol, side, quantity, price, commission, brokerFillId, at } = fill;
  return {
    id,
    order_id: orderId,
    symbol,
    side,
    quantity: numberOf(quantity),
    price: numberOf(price),
    commission: numberOf(commission),
    broker_fill_id: brokerFillId,
    at: isoTimestamp(at),
  };
}

export function shownMode({ mode, orderMode }: Pick<AccountMode, 'mode'> & { orderMode: OrderMode }): (typeof shownModes)[number] {
  return mode === 'test' ? 'test' : orderMode;
}

/** A decimal text as the JSON number that prints the same. */
export function numberOf(text: string): number {
  return fromNano(nanoIn(text));
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : numberOf(text);
}
