/**
 * Commands and queries of an account's trading in one mode; the id is `tradingAccountIdOf`. It is the one place where risk is decided and books change.
 * A refusal is an `AppError` and leaves no trace, so the same `client_order_id` and idempotency key may try again: `conflict` (409) for a used client
 * id, a halt, a block, an unknown outcome, a stale quote; `invalid` (422) with issues for risk. Amounts are decimal texts.
 */
import { actorRef } from '../../../actors/define-actor.ts';
import { colocatedId } from '../../../cluster/address.ts';
import { idInMode } from '../../../mode.ts';
import type { Book } from '../book.ts';
import type { BrokerName } from '../brokers/capabilities.ts';
import type { CorporateAction, Quote } from '../market/port.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { BookedFill } from '../orders/order-fills.ts';
import type { OrderStatus } from '../orders/order-state.ts';
import type { ReplaceRequest } from '../orders/replace.ts';
import type { OrderTerms, Side } from '../orders/terms.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import type { LegRole, OpenEntry, OrderMode, TradingAccountRow, TradingLimits } from './entity.ts';

export type { LegRole, OrderMode, TradingLimits };

/** Where an order goes. `brokerKey`: `embedded` (with name `embedded`) or `brk_…`. `filledBy: 'embedded'`: paper orders that never leave the house. */
export type OrderRoute = { brokerKey: string; brokerName: BrokerName; orderMode: OrderMode; filledBy: 'embedded' | 'broker' };

export type PlaceOrder = OrderRoute & {
  /** From `tradingOrderIdOf`: it lives on the shard of the trading account. Asked again with the same id, it answers with the order that was placed. */
  orderId: string;
  clientOrderId: string | null;
  /** Checked for form, symbol, tick and the broker's capabilities. */
  terms: OrderTerms;
  /** Of the order's symbol, as it is now. */
  quote: Quote;
  /** The account's settings as they are now; they stay known to the account for its marks. */
  limits: TradingLimits;
  strategyId?: string;
  taskId?: string;
};

/** A leg closes what its parent opens: other side, no quantity of its own. `terms.quantity` is that of the parent. */
export type Leg = { orderId: string; role: LegRole; terms: OrderTerms };

export type OpenPosition = PlaceOrder & { legs: Leg[] };
/** `legs` in the order they were asked for. */
export type OpenedPosition = { order: TradingOrderRow; legs: TradingOrderRow[] };

export type ReplaceOrder = {
  orderId: string;
  /** Of the new order, from `tradingOrderIdOf`. */
  newOrderId: string;
  clientOrderId: string | null;
  change: ReplaceRequest;
  quote: Quote;
  limits: TradingLimits;
};

/**
 * What this turn of a halt did: `cancelled` have ended with it; `requested` are all that wait for their broker's word. `left`: so many more are cancelled by
 * following turns; the next call returns the next ones.
 */
export type Halted = { haltedAtMs: number; cancelled: string[]; requested: string[]; left: number };

export type MarkAccount = {
  /** Prices that this node's market does not have: of brokers. By symbol. */
  quotes?: Record<string, Quote>;
  /** Corporate actions that may concern it; each is applied once. */
  actions?: CorporateAction[];
};
/** `more`: there was too much for one turn; mark again. `changed`: something was written. `open`: orders that are open here after it, not at a broker. */
export type Marked = { more: boolean; changed: boolean; open: number };

/** What a broker did with one of its orders. The fills are those that were not reported before. */
export type OrderMoved = Omit<OrderRoute, 'filledBy'> & {
  orderId: string;
  symbol: string;
  assetClass: AssetClass;
  side: Side;
  strategyId: string | null;
  fills: BookedFill[];
  status: OrderStatus;
  /** Filled of it in all. */
  filled: string;
  unknown: boolean;
  /** Of an order that was not placed here, with the first message about it: it is entered as open. */
  external?: OpenEntry;
};
/** Of each fill: its number in the journal, and what is held after it. */
export type BookedNow = { seq: number; positionQuantity: string };

/** A broker's own figures, which the book takes over: at connecting, or by a person's decision. `averagePrice` null: the broker does not say, the mark counts. */
export type AdoptFigures = Pick<OrderRoute, 'brokerKey' | 'brokerName' | 'orderMode'> & {
  cash: string | null;
  positions: { symbol: string; assetClass: AssetClass; quantity: string; averagePrice: string | null }[];
};

export type TradingAccountContract = {
  commands: {
    /** All checks that need state, then the order, in one commit. Orders of the embedded paper broker are `accepted`, others `submitted`. */
    place(input: PlaceOrder): TradingOrderRow;
    /** A parent with up to two legs, which wait until it fills and end each other. */
    openPosition(input: OpenPosition): OpenedPosition;
    /** Answers with the new order. Refuses (`conflict`) an order that has ended, or is being cancelled or replaced; `not_found` one of another account. */
    replace(input: ReplaceOrder): TradingOrderRow;
    /** A request where a broker has the order; asked twice it answers the same. Refuses (`conflict`) an order that has ended. */
    cancel(input: { orderId: string }): TradingOrderRow;
    /** `by`: the user's id. Twice is the same halt. */
    halt(input: { by: string; reason: string | null }): Halted;
    resume(input: { by: string }): void;
    /** By `MarketWatch`: fills paper orders, applies corporate actions, ends what is over, compares the day's result with its limit. */
    mark(input: MarkAccount): Marked;
    /** Sent by its own turns: what a turn of a participant could not do, such as cancelling after a breach. */
    settle(input: Record<string, never>): void;
    /** Sent by the account's settings. */
    limitsChanged(input: TradingLimits): void;
    /** For co-located transactions of its orders at brokers. */
    orderMoved(input: OrderMoved): BookedNow[];
    /** The book's cash and positions become the broker's. Creates the book. */
    adopt(input: AdoptFigures): void;
    /** Creates the book of a new connection; filled here, with 100,000 of paper cash, else empty until `adopt`. */
    addBook(input: OrderRoute): void;
    /** Refuses (`conflict`) while orders of it are open or unknown. */
    removeBook(input: { brokerKey: string }): void;
  };
  queries: {
    get(input: null): TradingAccountRow | null;
    /** null: no such book. An account that never traded has its embedded one. */
    summary(input: { brokerKey: string }): AccountSummary | null;
    /** Of one book, or of all. Ordered by symbol. */
    positions(input: { brokerKey: string | null }): PositionSummary[];
    /** What an order would do if it were placed now. Nothing is kept of it. */
    preview(input: PreviewOrder): OrderPreview;
    /** Ids of what may still fill, of one book or of all. */
    openOrders(input: { brokerKey: string | null }): { orderId: string; symbol: string; held: boolean; unknown: boolean }[];
    /** What a strategy's own orders at one broker have made of an empty book; its cash is what they brought less what they cost. */
    strategyBook(input: { strategyId: string; brokerKey: string }): Book;
    /** The symbols that a mark needs prices of; `fromBroker`: those whose last price came from a broker. */
    watchedSymbols(input: null): { symbols: string[]; fromBroker: string[] };
  };
};

export type AccountSummary = {
  brokerKey: string;
  brokerName: BrokerName;
  orderMode: OrderMode;
  /** To cents, half-even. */
  cash: string;
  equity: string;
  buyingPower: string;
  dayPnl: string;
  limits: TradingLimits;
  /** Moments of the market's clock; null: free. `blockedUntilMs` is the later one. */
  blocked: Record<AssetClass, number | null>;
  blockedUntilMs: number | null;
  halted: boolean;
  /** The moment of the oldest price that counted; without positions that of the market's clock. */
  atMs: number;
};

export type PreviewOrder = OrderRoute & Pick<PlaceOrder, 'terms' | 'quote' | 'limits'>;

/** Amounts to cents, half-even. */
export type OrderPreview = {
  /** Why it would be refused, in words; null: it would be taken. A used client id is not looked at. */
  refusal: string | null;
  /** It only takes from a position, so the limit of positions does not concern it. */
  reduces: boolean;
  /** What the limit of positions is compared with: position and open orders of the order's side, without this one and with it. */
  positionValue: string;
  positionValueAfter: string;
  dayPnl: string;
};

export type PositionSummary = {
  /** `pos_…`: the same for the same book and symbol. */
  id: string;
  brokerKey: string;
  brokerName: BrokerName;
  orderMode: OrderMode;
  symbol: string;
  assetClass: AssetClass;
  /** Negative: short. */
  quantity: string;
  averagePrice: string;
  /** At the bid, shorts at the ask; null: no price is known. */
  price: string | null;
  marketValue: string;
  unrealised: string;
  /** A part of it was taken over from the broker's figures. */
  external: boolean;
  atMs: number | null;
};

export const tradingAccount = actorRef<TradingAccountContract>('trading_account');

/** Of an account and the mode of its principal. */
export const tradingAccountIdOf = idInMode;

/** Derives an order's id from this one (`newId('ord_', accountId)`), so that it lives on the shard of its trading account. */
export function tradingOrderIdOf<Id extends string>(tradingAccountId: string, id: Id): Id {
  return colocatedId(id, 'trading_order', { kind: tradingAccount.kind, id: tradingAccountId });
}

/** The key of a strategy's own book at one broker: what it holds on paper is not there when it trades with real money. */
export function strategyBookKey(strategyId: string, brokerKey: string): string {
  return `${strategyId}/${brokerKey}`;
}

export const defaultLimits: TradingLimits = { maxPositionSize: '25000', dailyLossLimit: '2500', priceCollarPct: 10, marketCollarPct: 1 };
