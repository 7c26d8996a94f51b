/** The account and its positions as callers see them. */
import Type, { type Static, type TSchema } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import type { Mode } from '../../../mode.ts';
import { brokerNames } from '../brokers/capabilities.ts';
import { assetClasses } from '../market/symbol.ts';
import { nanoIn } from '../orders/amounts.ts';
import { BrokerId, numberOf, shownMode, TradingMode } from '../orders/order-view.ts';
import type { AccountSummary, PositionSummary, TradingLimits } from './messages.ts';

const Time = Type.String({ format: 'date-time' });
const orNull = <S extends TSchema>(schema: S, options: { description?: string } = {}) => Type.Union([schema, Type.Null()], options);
const USD = (description: string) => Type.Number({ description: `${description}. USD, to cents` });

export const AccountView = Type.Object(
  {
    broker_id: BrokerId,
    cash: USD('What is paid in and earned, less what was paid for positions'),
    equity: USD('Cash and positions: longs at the bid, shorts at the ask'),
    buying_power: USD('Cash that new longs can use'),
    day_pnl: USD('Since the last close of the exchange, of crypto since 00:00 UTC; unrealised results included'),
    max_position_size: Type.Number(),
    daily_loss_limit: Type.Number(),
    blocked_until: orNull(Time, { description: 'The later end of what a loss of the day keeps from new orders; null: nothing is' }),
    blocked: Type.Object({ equity: orNull(Time), crypto: orNull(Time) }, { description: 'When each class is free again; null: it is' }),
    halted: Type.Boolean({ description: 'A person has stopped all orders' }),
    mode: TradingMode,
    at: Type.String({ format: 'date-time', description: 'When the prices were asked for that equity is of' }),
  },
  { title: 'TradingAccount' },
);

export const PositionView = Type.Object(
  {
    id: Type.String({ description: 'The same as long as the symbol is held at the broker, and afterwards' }),
    broker_id: BrokerId,
    broker_name: Type.Enum([...brokerNames]),
    symbol: Type.String(),
    asset_class: Type.Enum([...assetClasses]),
    side: Type.Enum(['long', 'short']),
    quantity: Type.Number({ description: 'Less than 0 for a short position' }),
    avg_entry_price: Type.Number({ description: 'To nine places, half-even' }),
    current_price: Type.Number({ description: 'The bid, of a short position the ask' }),
    unrealized_pnl: USD('What closing it now would earn'),
    market_value: USD('Less than 0 for a short position'),
    external: Type.Boolean({
      description: 'A part of it was taken over from the broker, not bought or sold by an order that is known here',
    }),
    mode: TradingMode,
    at: orNull(Time, { description: 'When the price was asked for' }),
  },
  { title: 'Position' },
);

const timeOrNull = (ms: number | null) => (ms === null ? null : isoTimestamp(ms));

/** @param limits the settings as they are now */
export function accountView(summary: AccountSummary, limits: TradingLimits, mode: Mode): Static<typeof AccountView> {
  const { brokerKey, orderMode, cash, equity, buyingPower, dayPnl, blocked, blockedUntilMs, halted, atMs } = summary;
  return {
    broker_id: brokerKey,
    cash: numberOf(cash),
    equity: numberOf(equity),
    buying_power: numberOf(buyingPower),
    day_pnl: numberOf(dayPnl),
    max_position_size: numberOf(limits.maxPositionSize),
    daily_loss_limit: numberOf(limits.dailyLossLimit),
    blocked_until: timeOrNull(blockedUntilMs),
    blocked: { equity: timeOrNull(blocked.equity), crypto: timeOrNull(blocked.crypto) },
    halted,
    mode: shownMode({ mode, orderMode }),
    at: isoTimestamp(atMs),
  };
}

export function positionView(position: PositionSummary, mode: Mode): Static<typeof PositionView> {
  const {
    id,
    brokerKey,
    brokerName,
    orderMode,
    symbol,
    assetClass,
    quantity,
    averagePrice,
    price,
    unrealised,
    marketValue,
    external,
    atMs,
  } = position;
  return {
    id,
    broker_id: brokerKey,
    broker_name: brokerName,
    symbol,
    asset_class: assetClass,
    side: nanoIn(quantity) < 0n ? 'short' : 'long',
    quantity: numberOf(quantity),
    avg_entry_price: numberOf(averagePrice),
    // Without a price a position counts at its cost.
    current_price: numberOf(price ?? averagePrice),
    unrealized_pnl: numberOf(unrealised),
    market_value: numberOf(marketValue),
    external,
    mode: shownMode({ mode, orderMode }),
    at: timeOrNull(atMs),
  };
}
