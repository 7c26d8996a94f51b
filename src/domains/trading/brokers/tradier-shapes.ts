/**
 * Shapes of Tradier's brokerage API that we read. There is no OpenAPI description and no client of the vendor's own: read from docs.tradier.com as others
 * cite it and from QuantConnect/Lean.Brokerages.Tradier at 4a35a44 (July 2026). Lists of one are an object, empty ones null or the text "null".
 */
import Type, { type Static, type TSchema } from 'typebox';
import { divideHalfEven, nanoText } from '../decimal.ts';
import { msPerDay, parseDate } from '../market/calendar.ts';
import type { Sides } from '../market/quote-of-sides.ts';
import { parseSymbol } from '../market/symbol.ts';
import type { VendorBar } from '../market/vendor-bars.ts';
import { nanoIn } from '../orders/amounts.ts';
import { orderTypes, timesInForce } from '../orders/terms.ts';
import { decimalIn, decimalOrZero, momentIn } from './answers.ts';
import type { VenueOrder, VenuePosition } from './port.ts';
import { shownReason } from './venue-http.ts';

const text = Type.String({ maxLength: 1_000 });
const amount = Type.Union([Type.Number(), text, Type.Null()]);
const id = Type.Union([Type.Integer(), text]);
const optionalText = Type.Optional(Type.Union([text, Type.Null()]));

const Order = Type.Object({
  id,
  symbol: text,
  side: text,
  type: text,
  status: text,
  quantity: amount,
  duration: optionalText,
  class: optionalText,
  tag: optionalText,
  price: Type.Optional(amount),
  stop_price: Type.Optional(amount),
  exec_quantity: Type.Optional(amount),
  avg_fill_price: Type.Optional(amount),
  create_date: optionalText,
  transaction_date: optionalText,
  reason_description: optionalText,
});
export const TradierOrder = Type.Object({ order: Order });
export const TradierOrders = Type.Object({ orders: listOf('order', Order) });
export const TradierPositions = Type.Object({
  positions: listOf('position', Type.Object({ symbol: text, quantity: amount, cost_basis: amount })),
});

/** Either or both: an order without an id was not accepted. */
export const TradierPlaced = Type.Object({
  order: Type.Optional(Type.Object({ id, status: optionalText })),
  errors: Type.Optional(Type.Unknown()),
});

const Power = Type.Object({ stock_buying_power: Type.Optional(amount) });
export const TradierBalances = Type.Object({
  balances: Type.Object({
    account_number: Type.Optional(Type.Union([id, Type.Null()])),
    total_cash: amount,
    total_equity: Type.Optional(amount),
    margin: Type.Optional(Type.Union([Power, Type.Null()])),
    pdt: Type.Optional(Type.Union([Power, Type.Null()])),
    cash: Type.Optional(Type.Union([Type.Object({ cash_available: Type.Optional(amount) }), Type.Null()])),
  }),
});

export const TradierSession = Type.Object({ stream: Type.Object({ url: text, sessionid: text }) });
export const TradierEvent = Type.Object({ event: text });

const number = Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 1e15 }), Type.Null()]));
/** Times in milliseconds. */
const Quote = Type.Object({ symbol: text, bid: number, ask: number, bidsize: number, asksize: number, bid_date: number, ask_date: number });
/** A symbol that the venue does not know is listed only in `unmatched_symbols`. */
export const TradierQuotes = Type.Object({
  quotes: Type.Union([
    Type.Object({ quote: Type.Optional(Type.Union([Type.Array(Quote), Quote, Type.Null()])) }),
    Type.Null(),
    Type.Literal('null'),
  ]),
});

const price = Type.Number({ minimum: 0, maximum: 1e12 });
const Prices = { open: price, high: price, low: price, close: price, volume: Type.Number({ minimum: 0, maximum: 1e15 }) };
const Day = Type.Object({ date: text, ...Prices });
/** In seconds: the beginning of the bar. */
const Slice = Type.Object({ timestamp: Type.Integer({ minimum: 0, maximum: 1e11 }), ...Prices });
export const TradierHistory = Type.Object({ history: listOf('day', Day) });
export const TradierSeries = Type.Object({ series: listOf('data', Slice) });

function listOf(name: string, item: TSchema) {
  const list = Type.Object({ [name]: Type.Union([Type.Array(item), item, Type.Null()]) });
  return Type.Union([list, Type.Null(), Type.Literal('null')]);
}

/** The items of a list in any of its forms. The schema of the whole answer was checked before. */
export function itemsOf<T>(list: unknown, name: string): T[] {
  if (typeof list !== 'object' || list === null) return [];
  const items = (list as Record<string, unknown>)[name];
  if (items === undefined || items === null) return [];
  return (Array.isArray(items) ? items : [items]) as T[];
}

export type TradierOrderShape = Static<typeof Order>;

const ended: Readonly<Record<string, VenueOrder['state']>> = {
  filled: 'filled',
  canceled: 'cancelled',
  cancelled: 'cancelled',
  expired: 'expired',
  rejected: 'rejected',
  error: 'rejected',
};

/** null: not an order for one equity. */
export function orderOf(order: TradierOrderShape): VenueOrder | null {
  const instrument = parseSymbol(order.symbol.replace('/', '.'));
  if (instrument === null || (order.class !== undefined && order.class !== null && order.class !== 'equity')) return null;
  const state = ended[order.status] ?? 'working';
  const side = order.side === 'buy' || order.side === 'buy_to_cover' ? 'buy' : 'sell';
  const orderType = orderTypes.find((type) => type === order.type);
  // `pre` and `post` are sessions that this service does not offer.
  const timeInForce = timesInForce.find((time) => time === order.duration);
  const quantity = decimalIn(order.quantity);
  const isKnown = orderType !== undefined && timeInForce !== undefined && quantity !== null;
  const createdAtMs = momentIn(order.create_date, 0);
  const reason = order.reason_description ?? '';
  const filledQuantity = decimalOrZero(order.exec_quantity);
  return {
    brokerOrderId: String(order.id),
    ourId: ourIdOf(order.tag ?? null),
    ...instrument,
    side,
    terms: isKnown
      ? {
          ...instrument,
          side,
          quantity,
          orderType,
          timeInForce,
          limitPrice: orderType.endsWith('limit') ? decimalIn(order.price) : null,
          stopPrice: orderType.startsWith('stop') ? decimalIn(order.stop_price) : null,
        }
      : null,
    state,
    filledQuantity,
    averagePrice: filledQuantity === '0' ? null : decimalIn(order.avg_fill_price),
    reason: state === 'rejected' ? shownReason(reason) || 'rejected by Tradier' : null,
    createdAtMs,
    updatedAtMs: momentIn(order.transaction_date, createdAtMs),
  };
}

export function positionOf(position: {
  symbol: string;
  quantity: string | number | null;
  cost_basis: string | number | null;
}): VenuePosition | null {
  const instrument = parseSymbol(position.symbol.replace('/', '.'));
  const quantity = decimalIn(position.quantity);
  const cost = decimalIn(position.cost_basis);
  if (instrument === null || quantity === null || quantity === '0') return null;
  const averagePrice = cost === null ? null : nanoText(divideHalfEven(nanoIn(cost) * 1_000_000_000n, nanoIn(quantity)));
  return { ...instrument, quantity, averagePrice };
}

/** null: the venue does not know the symbol. The quote's time is that of the newer side. */
export function quoteIn({ quotes }: Static<typeof TradierQuotes>, symbol: string): Sides | null {
  const found = itemsOf<Static<typeof Quote>>(quotes, 'quote').find((quote) => quote.symbol.replace('/', '.') === symbol);
  if (found === undefined) return null;
  const { bid, ask, bidsize, asksize, bid_date, ask_date } = found;
  return {
    bid: bid ?? 0,
    ask: ask ?? 0,
    bidSize: bidsize ?? 0,
    askSize: asksize ?? 0,
    atMs: Math.max(bid_date ?? Number.NaN, ask_date ?? Number.NaN),
  };
}

export function daysIn({ history }: Static<typeof TradierHistory>): VendorBar[] {
  return itemsOf<Static<typeof Day>>(history, 'day').map(({ date, open, high, low, close, volume }) => {
    return { timeMs: (parseDate(date) ?? Number.NaN) * msPerDay, open, high, low, close, volume };
  });
}

export function slicesIn({ series }: Static<typeof TradierSeries>): VendorBar[] {
  return itemsOf<Static<typeof Slice>>(series, 'data').map(({ timestamp, open, high, low, close, volume }) => {
    return { timeMs: timestamp * 1_000, open, high, low, close, volume };
  });
}

/** A tag may contain only letters, digits and "-". */
export function tagOf(ourId: string): string {
  return ourId.replaceAll('_', '-');
}

function ourIdOf(tag: string | null): string | null {
  const parts = tag === null ? null : /^ord-([0-9a-z]+)$/.exec(tag);
  return parts === null ? null : `ord_${parts[1]}`;
}
