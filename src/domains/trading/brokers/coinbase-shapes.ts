/**
 * Shapes of Coinbase's Advanced Trade API that we read. There is no client of the vendor's own on npm for it and no OpenAPI description that we have: read
 * from the recorded bodies in nautechsystems/nautilus_trader at a95c804 (crates/adapters/coinbase, July 2026). A decimal that is not there is an empty text.
 */
import Type, { type Static } from 'typebox';
import { divide, nanoText } from '../decimal.ts';
import type { Sides } from '../market/quote-of-sides.ts';
import { parseSymbol } from '../market/symbol.ts';
import type { VendorBar } from '../market/vendor-bars.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { OrderTerms, Side } from '../orders/terms.ts';
import { decimalIn, decimalOrZero, momentIn } from './answers.ts';
import type { VenueFill, VenueOrder, VenuePosition } from './port.ts';
import { shownReason } from './venue-http.ts';

const text = Type.String({ maxLength: 1_000 });
const optionalText = Type.Optional(Type.Union([text, Type.Null()]));

const Order = Type.Object({
  order_id: text,
  product_id: text,
  side: text,
  status: text,
  client_order_id: optionalText,
  product_type: optionalText,
  order_configuration: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  created_time: optionalText,
  last_fill_time: optionalText,
  filled_size: optionalText,
  average_filled_price: optionalText,
  reject_reason: optionalText,
  reject_message: optionalText,
  cancel_message: optionalText,
});
export const CoinbaseOrder = Type.Object({ order: Order });
export const CoinbaseOrders = Type.Object({ orders: Type.Array(Order), has_next: Type.Optional(Type.Boolean()), cursor: optionalText });

export const CoinbasePlaced = Type.Object({
  success: Type.Boolean(),
  order_id: optionalText,
  success_response: Type.Optional(
    Type.Union([Type.Object({ order_id: text, client_order_id: optionalText, product_id: optionalText, side: optionalText }), Type.Null()]),
  ),
  error_response: Type.Optional(
    Type.Union([
      Type.Object({
        error: optionalText,
        message: optionalText,
        error_details: optionalText,
        preview_failure_reason: optionalText,
        new_order_failure_reason: optionalText,
      }),
      Type.Null(),
    ]),
  ),
});

export const CoinbaseCancelled = Type.Object({
  results: Type.Array(Type.Object({ success: Type.Boolean(), order_id: optionalText, failure_reason: optionalText })),
});

const Level = Type.Object({ price: text, size: text });
export const CoinbaseBook = Type.Object({
  pricebook: Type.Object({ product_id: text, bids: Type.Array(Level), asks: Type.Array(Level), time: text }),
});

const Candle = Type.Object({ start: text, open: text, high: text, low: text, close: text, volume: text });
/** Newest first. */
export const CoinbaseCandles = Type.Object({ candles: Type.Array(Candle) });

const Fill = Type.Object({
  trade_id: text,
  order_id: text,
  product_id: text,
  side: text,
  price: text,
  size: text,
  trade_type: optionalText,
  commission: optionalText,
  size_in_quote: Type.Optional(Type.Boolean()),
  trade_time: optionalText,
  sequence_timestamp: optionalText,
});
export const CoinbaseFills = Type.Object({ fills: Type.Array(Fill), cursor: optionalText });

const Balance = Type.Object({ value: text });
export const CoinbaseAccounts = Type.Object({
  accounts: Type.Array(
    Type.Object({
      currency: text,
      available_balance: Balance,
      hold: Type.Optional(Type.Union([Balance, Type.Null()])),
      type: optionalText,
      retail_portfolio_id: optionalText,
    }),
  ),
  has_next: Type.Optional(Type.Boolean()),
  cursor: optionalText,
});
/** Read in the vendor's OpenAPI description. */
export const CoinbaseKeyPermissions = Type.Object({ portfolio_uuid: optionalText });
export type CoinbaseBalance = Static<typeof CoinbaseAccounts>['accounts'][number];

/** The user channel sends cumulative states, without ids of trades. */
export const CoinbaseMessage = Type.Object({ channel: Type.Optional(text), type: Type.Optional(text) });

const ended: Readonly<Record<string, VenueOrder['state']>> = {
  FILLED: 'filled',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  FAILED: 'rejected',
};
/** USD and USDC are one book there; both are cash. */
export const cashCurrencies: readonly string[] = ['USD', 'USDC'];

/** null: not an order for a known pair. */
export function orderOf(order: Static<typeof Order>): VenueOrder | null {
  const instrument = parseSymbol(order.product_id);
  if (instrument === null) return null;
  const side: Side = order.side === 'BUY' ? 'buy' : 'sell';
  const state = ended[order.status] ?? 'working';
  const filledQuantity = decimalOrZero(order.filled_size);
  const createdAtMs = momentIn(order.created_time, 0);
  const reason = [order.reject_message, order.reject_reason].find((text) => text !== undefined && text !== null && text !== '');
  return {
    brokerOrderId: order.order_id,
    ourId: order.client_order_id === '' ? null : (order.client_order_id ?? null),
    ...instrument,
    side,
    terms: termsOf(order.order_configuration ?? {}, { ...instrument, side }),
    state,
    filledQuantity,
    averagePrice: filledQuantity === '0' ? null : decimalIn(order.average_filled_price),
    reason: state === 'rejected' ? shownReason(reason ?? 'rejected by Coinbase') : null,
    createdAtMs,
    updatedAtMs: momentIn(order.last_fill_time, createdAtMs),
  };
}

/** null: a correction, or an unknown pair. */
export function fillOf(fill: Static<typeof Fill>): VenueFill | null {
  const instrument = parseSymbol(fill.product_id);
  const size = decimalIn(fill.size);
  const price = decimalIn(fill.price);
  if (instrument === null || size === null || price === null || price === '0') return null;
  if (typeof fill.trade_type === 'string' && fill.trade_type !== 'FILL') return null;
  return {
    venueTradeId: fill.trade_id,
    brokerOrderId: fill.order_id,
    symbol: instrument.symbol,
    side: fill.side === 'BUY' ? 'buy' : 'sell',
    quantity: fill.size_in_quote === true ? nanoText(divide(nanoIn(size), nanoIn(price))) : size,
    price,
    commission: decimalOrZero(fill.commission),
    atMs: momentIn(fill.trade_time ?? fill.sequence_timestamp, 0),
  };
}

/** The holding of a coin, reserved or free. null: nothing, or not a coin. */
export function positionOf(balance: CoinbaseBalance): VenuePosition | null {
  if (cashCurrencies.includes(balance.currency) || (balance.type ?? '').includes('FIAT')) return null;
  const instrument = parseSymbol(`${balance.currency}-USD`);
  const quantity = heldOf(balance);
  return instrument === null || quantity === '0' ? null : { ...instrument, quantity, averagePrice: null };
}

export function heldOf({ available_balance, hold }: CoinbaseBalance): string {
  return nanoText(nanoIn(decimalOrZero(available_balance.value)) + nanoIn(decimalOrZero(hold?.value)));
}

/** The part of a request that states type and validity together. */
export function configurationOf({ orderType, timeInForce, side, quantity, limitPrice, stopPrice }: OrderTerms): Record<string, object> {
  const base_size = quantity;
  const limit_price = limitPrice;
  switch (orderType) {
    case 'market':
      return { market_market_ioc: { base_size } };
    case 'limit':
      if (timeInForce === 'ioc') return { sor_limit_ioc: { base_size, limit_price } };
      return { limit_limit_gtc: { base_size, limit_price, post_only: false } };
    default: {
      const stop_direction = side === 'buy' ? 'STOP_DIRECTION_STOP_UP' : 'STOP_DIRECTION_STOP_DOWN';
      return { stop_limit_stop_limit_gtc: { base_size, limit_price, stop_price: stopPrice, stop_direction } };
    }
  }
}

const forms: Readonly<Record<string, Pick<OrderTerms, 'orderType' | 'timeInForce'>>> = {
  market_market_ioc: { orderType: 'market', timeInForce: 'ioc' },
  sor_limit_ioc: { orderType: 'limit', timeInForce: 'ioc' },
  limit_limit_gtc: { orderType: 'limit', timeInForce: 'gtc' },
  stop_limit_stop_limit_gtc: { orderType: 'stop_limit', timeInForce: 'gtc' },
};

function termsOf(configuration: Record<string, unknown>, base: Pick<OrderTerms, 'symbol' | 'assetClass' | 'side'>): OrderTerms | null {
  const [name, fields] = Object.entries(configuration).find(([key]) => Object.hasOwn(forms, key)) ?? [];
  if (name === undefined || typeof fields !== 'object' || fields === null) return null;
  const { base_size, limit_price, stop_price } = fields as Record<string, unknown>;
  const decimal = (value: unknown) => (typeof value === 'string' ? decimalIn(value) : null);
  const quantity = decimal(base_size);
  return quantity === null
    ? null
    : { ...base, ...forms[name]!, quantity, limitPrice: decimal(limit_price), stopPrice: decimal(stop_price) };
}

export function quoteIn({ pricebook: { bids, asks, time } }: Static<typeof CoinbaseBook>): Sides {
  const [bid, ask] = [bids[0], asks[0]];
  return {
    bid: Number(decimalOrZero(bid?.price)),
    ask: Number(decimalOrZero(ask?.price)),
    bidSize: Number(decimalOrZero(bid?.size)),
    askSize: Number(decimalOrZero(ask?.size)),
    atMs: momentIn(time, Number.NaN),
  };
}

export function candlesIn({ candles }: Static<typeof CoinbaseCandles>): VendorBar[] {
  return candles.map(({ start, open, high, low, close, volume }) => {
    const [o, h, l, c, v] = [open, high, low, close, volume].map((amount) => Number(decimalIn(amount) ?? Number.NaN));
    return { timeMs: Number(start) * 1_000, open: o!, high: h!, low: l!, close: c!, volume: v! };
  });
}
