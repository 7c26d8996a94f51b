/**
 * Shapes of Alpaca's Trading API that this service reads, and their conversion. Taken from the types that @alpacahq/alpaca-trade-api 4.0.2
 * generates from Alpaca's OpenAPI description (November 2026). Fields that are not used are not checked.
 */
import Type, { type Static } from 'typebox';
import { parseSymbol } from '../market/symbol.ts';
import { type OrderTerms, orderTypes, timesInForce } from '../orders/terms.ts';
import { decimalIn, decimalOrZero, momentIn } from './answers.ts';
import type { VenueFill, VenueOrder, VenuePosition } from './port.ts';

const text = Type.String({ maxLength: 500 });
const optionalText = Type.Optional(Type.Union([text, Type.Null()]));

export const AlpacaOrder = Type.Object({
  id: text,
  client_order_id: optionalText,
  symbol: text,
  asset_class: optionalText,
  side: text,
  type: text,
  time_in_force: text,
  qty: optionalText,
  notional: optionalText,
  limit_price: optionalText,
  stop_price: optionalText,
  status: text,
  filled_qty: optionalText,
  filled_avg_price: optionalText,
  submitted_at: optionalText,
  created_at: optionalText,
  updated_at: optionalText,
});
export const AlpacaOrders = Type.Array(AlpacaOrder);

/** An entry of /v2/account/activities/FILL. */
export const AlpacaFills = Type.Array(
  Type.Object({
    id: text,
    order_id: text,
    symbol: text,
    side: text,
    qty: text,
    price: text,
    transaction_time: text,
  }),
);

export const AlpacaPositions = Type.Array(
  Type.Object({ symbol: text, asset_class: optionalText, qty: text, side: optionalText, avg_entry_price: optionalText }),
);

export const AlpacaAccount = Type.Object({
  id: optionalText,
  cash: text,
  equity: optionalText,
  buying_power: optionalText,
  trading_blocked: Type.Optional(Type.Boolean()),
  account_blocked: Type.Optional(Type.Boolean()),
  trade_suspended_by_user: Type.Optional(Type.Boolean()),
});

/** Frames of the stream: `authorization`, `listening`, `trade_updates`. */
export const AlpacaFrame = Type.Object({ stream: text });
export const AlpacaAuthorized = Type.Object({ data: Type.Object({ status: Type.Literal('authorized') }) });

const ended: Readonly<Record<string, VenueOrder['state']>> = {
  filled: 'filled',
  canceled: 'cancelled',
  expired: 'expired',
  rejected: 'rejected',
  // Another program replaced it there: this order is over, and its successor is a foreign one.
  replaced: 'cancelled',
};

/** null: not an order for shares or coins. */
export function orderOf(order: Static<typeof AlpacaOrder>): VenueOrder | null {
  const instrument = parseSymbol(order.symbol) ?? pairOf(order.symbol, order.asset_class ?? '');
  if (instrument === null) return null;
  const createdAtMs = momentIn(order.submitted_at ?? order.created_at, 0);
  const side = order.side === 'buy' ? 'buy' : 'sell';
  return {
    brokerOrderId: order.id,
    ourId: order.client_order_id ?? null,
    ...instrument,
    side,
    terms: termsOf(order, { ...instrument, side }),
    state: ended[order.status] ?? 'working',
    filledQuantity: decimalOrZero(order.filled_qty),
    averagePrice: decimalIn(order.filled_avg_price),
    reason: order.status === 'rejected' ? 'rejected by Alpaca' : null,
    createdAtMs,
    updatedAtMs: momentIn(order.updated_at, createdAtMs),
  };
}

export function fillOf(fill: Static<typeof AlpacaFills>[number]): VenueFill | null {
  const instrument = parseSymbol(fill.symbol);
  const quantity = decimalIn(fill.qty);
  const price = decimalIn(fill.price);
  if (instrument === null || quantity === null || price === null) return null;
  return {
    venueTradeId: fill.id,
    brokerOrderId: fill.order_id,
    symbol: instrument.symbol,
    // `sell_short` is also a sale.
    side: fill.side === 'buy' ? 'buy' : 'sell',
    quantity,
    price,
    commission: '0',
    atMs: momentIn(fill.transaction_time, 0),
  };
}

export function positionOf(position: Static<typeof AlpacaPositions>[number]): VenuePosition | null {
  const instrument = pairOf(position.symbol, position.asset_class ?? '') ?? parseSymbol(position.symbol);
  const quantity = decimalIn(position.qty);
  if (instrument === null || quantity === null) return null;
  const isShort = position.side === 'short' && !quantity.startsWith('-');
  return { ...instrument, quantity: isShort ? `-${quantity}` : quantity, averagePrice: decimalIn(position.avg_entry_price) };
}

/** Pairs are `BTC/USD` in orders and `BTCUSD` in positions. */
function pairOf(symbol: string, assetClass: string) {
  if (assetClass !== 'crypto' || symbol.includes('/')) return null;
  const parts = /^([A-Z0-9]{1,10}?)(USDC|USDT|USD|EUR)$/.exec(symbol);
  return parts === null ? null : parseSymbol(`${parts[1]}-${parts[2]}`);
}

function termsOf(order: Static<typeof AlpacaOrder>, base: Pick<OrderTerms, 'symbol' | 'assetClass' | 'side'>): OrderTerms | null {
  const orderType = orderTypes.find((type) => type === order.type);
  const timeInForce = timesInForce.find((time) => time === order.time_in_force);
  const quantity = decimalIn(order.qty);
  if (orderType === undefined || timeInForce === undefined || quantity === null) return null;
  return { ...base, quantity, orderType, timeInForce, limitPrice: decimalIn(order.limit_price), stopPrice: decimalIn(order.stop_price) };
}
