/**
 * The form of an order that callers send, and rules beyond the schema: which prices a type has, and how many decimal places numbers may
 * have. REST, agents and strategies send the same form.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { AppError, type Issue } from '../../../errors.ts';
import { brokerModes } from '../brokers/port.ts';
import { decimalPlaces, nanoOf, nanoText, one } from '../decimal.ts';
import { type Instrument, parseSymbol, symbolPattern, tickOf } from '../market/symbol.ts';
import type { ReplaceRequest } from './replace.ts';
import { defaultTimeInForce, type OrderTerms, type OrderType, orderTypes, sides, timesInForce } from './terms.ts';

/** Most numbers below this are exact to nine decimal places. */
const maxAmount = 1_000_000_000;

const orNull = <S extends TSchema>(schema: S, description: string) => Type.Optional(Type.Union([schema, Type.Null()], { description }));
const Amount = Type.Number({ exclusiveMinimum: 0, maximum: maxAmount });
const ClientOrderId = Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' });
export const SymbolField = Type.String({ pattern: symbolPattern, description: 'An equity such as `AAPL`, a pair such as `BTC-USD`' });
const Quantity = Type.Number({ exclusiveMinimum: 0, maximum: maxAmount, description: 'Shares or coins, at most nine decimals' });

const clientOrderId = orNull(
  ClientOrderId,
  "The caller's own id: 1 to 128 of `A-Za-z0-9_.:-`, unique per account and mode, for ever. It is not sent to brokers",
);
const timeInForce = orNull(Type.Enum([...timesInForce]), 'Default `day`, for crypto `gtc`');
const where = {
  broker_id: orNull(
    Type.String({ minLength: 1, maxLength: 64 }),
    'A broker connection, or `embedded`. Default: the newest connected one of that mode that trades the asset class, else (paper alone) `embedded`',
  ),
  mode: orNull(
    Type.Enum([...brokerModes]),
    '`live` is real money: it needs `live_trading_enabled`, a plan that has it, and a live broker. Default `paper`',
  ),
};

export const OrderForm = Type.Object(
  {
    symbol: SymbolField,
    side: Type.Enum([...sides]),
    quantity: Quantity,
    order_type: Type.Enum([...orderTypes]),
    limit_price: orNull(Amount, 'Of `limit` and `stop_limit` orders, which need it; of no other'),
    stop_price: orNull(Amount, 'Of `stop` and `stop_limit` orders, which need it; of no other'),
    time_in_force: timeInForce,
    client_order_id: clientOrderId,
    ...where,
  },
  { examples: [{ symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'limit', limit_price: 1, time_in_force: 'gtc' }] },
);
export type OrderForm = Static<typeof OrderForm>;

export const ReplaceForm = Type.Object(
  {
    quantity: orNull(Quantity, 'What the new order is for. Default: what remains of the old one'),
    limit_price: orNull(Amount, 'Of an order that has one'),
    stop_price: orNull(Amount, 'Of an order that has one'),
    time_in_force: orNull(Type.Enum([...timesInForce]), 'Default: as before'),
    client_order_id: clientOrderId,
  },
  { examples: [{ limit_price: 1.01 }] },
);
export type ReplaceForm = Static<typeof ReplaceForm>;

export const OpenPositionForm = Type.Object(
  {
    symbol: SymbolField,
    quantity: Quantity,
    side: Type.Enum(['long', 'short']),
    stop_loss: orNull(Amount, 'The price at which a stop order closes the position again'),
    take_profit: orNull(Amount, 'The price at which a limit order closes it'),
    time_in_force: timeInForce,
    client_order_id: clientOrderId,
    ...where,
  },
  { examples: [{ symbol: 'AAPL', quantity: 1, side: 'long', stop_loss: 1, take_profit: 100_000 }] },
);
export type OpenPositionForm = Static<typeof OpenPositionForm>;

const hasLimit: Record<OrderType, boolean> = { market: false, limit: true, stop: false, stop_limit: true };
const hasStop: Record<OrderType, boolean> = { market: false, limit: false, stop: true, stop_limit: true };

/** Throws `invalid`, with all faults. */
export function termsOf(form: OrderForm): OrderTerms {
  const issues: Issue[] = [];
  const instrument = instrumentOf(form.symbol, issues);
  const type = form.order_type;
  const terms: OrderTerms = {
    ...instrument,
    side: form.side,
    quantity: quantityText(form.quantity, issues),
    orderType: type,
    limitPrice: priceOf('limit_price', form.limit_price, hasLimit[type], type, instrument, issues),
    stopPrice: priceOf('stop_price', form.stop_price, hasStop[type], type, instrument, issues),
    timeInForce: form.time_in_force ?? defaultTimeInForce(instrument.assetClass),
  };
  refuse(issues);
  return terms;
}

/**
 * The changes of a replacement. Throws `invalid`, also if there are none.
 *
 * @param of the order that is replaced
 */
export function replaceRequestOf(form: ReplaceForm, of: Pick<OrderTerms, 'symbol' | 'assetClass' | 'orderType'>): ReplaceRequest {
  const { quantity, limit_price: limit, stop_price: stop, time_in_force: validity, client_order_id: clientId } = form;
  const issues: Issue[] = [];
  if ([quantity, limit, stop, validity, clientId].every((value) => value == null))
    issues.push(issue([], 'missing', 'Give at least one of quantity, limit_price, stop_price, time_in_force, client_order_id'));
  const price = (field: PriceField, value: number | null | undefined, has: boolean) =>
    value == null ? undefined : (priceOf(field, value, has, of.orderType, of, issues) ?? undefined);
  const request: ReplaceRequest = {
    quantity: quantity == null ? undefined : quantityText(quantity, issues),
    limitPrice: price('limit_price', limit, hasLimit[of.orderType]),
    stopPrice: price('stop_price', stop, hasStop[of.orderType]),
    timeInForce: validity ?? undefined,
  };
  refuse(issues);
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

export type Bracket = { stopLoss: string | null; takeProfit: string | null };

/** The prices of the legs. Throws `invalid`. */
export function bracketOf({ symbol, side, stop_loss: stop, take_profit: target }: OpenPositionForm): Bracket {
  const issues: Issue[] = [];
  const instrument = instrumentOf(symbol, issues);
  const leg = (field: PriceField, price: number | null | undefined) => (price == null ? null : priceText(field, price, instrument, issues));
  const bracket = { stopLoss: leg('stop_loss', stop), takeProfit: leg('take_profit', target) };
  if (stop != null && target != null && (side === 'long' ? stop >= target : stop <= target)) {
    const rule = `take_profit of a ${side} position is ${side === 'long' ? 'above' : 'below'} its stop_loss`;
    issues.push(issue(['take_profit'], 'value_error', rule, target));
  }
  refuse(issues);
  return bracket;
}

/** A 422 about one field of an order. */
export function invalidOrder(field: string, type: string, msg: string, ctx: Record<string, unknown> = {}, input: unknown = null): AppError {
  return new AppError('invalid', msg, { issues: [issue([field], type, msg, input, ctx)] });
}

type PriceField = 'limit_price' | 'stop_price' | 'stop_loss' | 'take_profit';

function instrumentOf(symbol: string, issues: Issue[]): Instrument {
  const instrument = parseSymbol(symbol);
  if (instrument !== null) return instrument;
  issues.push(issue(['symbol'], 'string_pattern_mismatch', 'An equity such as AAPL, a pair such as BTC-USD', symbol));
  return { symbol, assetClass: 'equity' };
}

function quantityText(quantity: number, issues: Issue[]): string {
  const nano = nanoOf(quantity);
  if (nano !== null && nano > 0n) return nanoText(nano);
  const isFine = decimalPlaces(quantity) > 9;
  const [type, msg] = isFine
    ? (['decimal_max_places', 'Quantities have at most nine decimals'] as const)
    : (['greater_than', 'Input should be greater than 0'] as const);
  issues.push(issue(['quantity'], type, msg, quantity, isFine ? { decimal_places: 9 } : { gt: 0 }));
  return '0';
}

function priceOf(
  field: PriceField,
  price: number | null | undefined,
  isNeeded: boolean,
  type: OrderType,
  instrument: Instrument,
  issues: Issue[],
): string | null {
  if (!isNeeded) {
    if (price != null) issues.push(issue([field], 'extra_forbidden', `A ${type} order has no ${field}`, price, { order_type: type }));
    return null;
  }
  if (price == null) {
    issues.push(issue([field], 'missing', `A ${type} order needs a ${field}`));
    return null;
  }
  return priceText(field, price, instrument, issues);
}

function priceText(field: PriceField, price: number, instrument: Instrument, issues: Issue[]): string {
  const nano = nanoOf(price);
  const tick = tickOf(instrument, nano ?? (price < 1 ? 0n : one));
  if (nano !== null && nano > 0n && nano % tick === 0n) return nanoText(nano);
  const step = nanoText(tick);
  issues.push(
    issue([field], 'price_increment', `Prices of ${instrument.symbol} are multiples of ${step} here`, price, { tick: Number(step) }),
  );
  return '0';
}

function issue(path: string[], type: string, msg: string, input: unknown = null, ctx: Record<string, unknown> = {}): Issue {
  return { loc: ['body', ...path], msg, type, input, ctx };
}

function refuse(issues: Issue[]): void {
  if (issues.length > 0) throw new AppError('invalid', issues[0]!.msg, { issues });
}
