/** Orders and their fills. Amounts are decimal texts of at most nine places. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { BrokerName } from '../brokers/capabilities.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { OrderState, OrderStatus } from '../orders/order-state.ts';
import type { OutboundState } from '../orders/outbound.ts';
import type { OrderType, Side, TimeInForce } from '../orders/terms.ts';
import type { LegRole, OrderMode } from '../trading-account/entity.ts';

export const TradingOrder = defineEntity({
  name: 'TradingOrder',
  tableName: 'trading_order',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    /** Mode of its principal. */
    mode: p.text().$type<Mode>(),
    orderMode: p.text().$type<OrderMode>(),
    clientOrderId: p.text().strictNullable(),
    /** `embedded` or the id of a connection. */
    brokerKey: p.text(),
    brokerName: p.text().$type<BrokerName>(),
    /** Who fills it: paper orders of a broker without a paper venue are filled by this service. */
    filledBy: p.text().$type<'embedded' | 'broker'>(),
    symbol: p.text(),
    assetClass: p.text().$type<AssetClass>(),
    side: p.text().$type<Side>(),
    quantity: p.text(),
    orderType: p.text().$type<OrderType>(),
    limitPrice: p.text().strictNullable(),
    stopPrice: p.text().strictNullable(),
    timeInForce: p.text().$type<TimeInForce>(),
    /** As in `state`, for lists. */
    status: p.text().$type<OrderStatus>(),
    state: json<OrderState>(),
    /** For an order at a broker, once it is to be sent: the exact body, and the state of sending. */
    body: p.text().strictNullable(),
    outbound: json<OutboundState>().strictNullable(),
    /**
     * Cancel requests to the broker; null: none. `isLate`: the order had ended here, because the broker did not have it. `isAbandoned`: its
     * connection was removed, so no further answer of the broker counts.
     */
    cancelling: json<{ tries: number; attention: boolean; isLate?: boolean; isAbandoned?: boolean }>().strictNullable(),
    /** When it was first due to be sent. */
    sentAt: epochMs().strictNullable(),
    /** Held by this service until its parent fills, its price is reached, or the order that it replaces has ended. */
    held: p.boolean(),
    parentId: p.text().strictNullable(),
    role: p.text().$type<LegRole>().strictNullable(),
    /** Who holds the legs of a bracket; null: it is not a bracket. */
    managedBy: p.text().$type<'troupe' | 'broker'>().strictNullable(),
    replaces: p.text().strictNullable(),
    /** Placed at the broker by another program or a person. */
    external: p.boolean(),
    strategyId: p.text().strictNullable(),
    taskId: p.text().strictNullable(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
  },
});
export type TradingOrderRow = InferEntity<typeof TradingOrder>;

/** One fill, stored once. Never changed: a split changes orders and positions, not past fills. */
export const TradingFill = defineEntity({
  name: 'TradingFill',
  tableName: 'trading_fill',
  readonly: true,
  properties: {
    id: p.text().primary(),
    tradingAccountId: p.text(),
    /** Its number in the journal of its trading account. */
    seq: p.integer(),
    orderId: p.text(),
    brokerKey: p.text(),
    strategyId: p.text().strictNullable(),
    symbol: p.text(),
    side: p.text().$type<Side>(),
    quantity: p.text(),
    price: p.text(),
    commission: p.text(),
    /** Unique within its order. */
    key: p.text(),
    brokerFillId: p.text().strictNullable(),
    /** The holding of the symbol after it; negative: short. */
    positionQuantity: p.text(),
    /** When it was filled, by the market's clock or the broker's. */
    at: epochMs(),
    createdAt: epochMs(),
  },
});
export type TradingFillRow = InferEntity<typeof TradingFill>;
