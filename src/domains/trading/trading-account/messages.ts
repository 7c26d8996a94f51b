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

/**
 * The destination of an order. `brokerKey`: `embedded` (with name `embedded`) or `brk_…`. `filledBy: 'embedded'`: paper orders that this
 * service fills.
 */
export type OrderRoute = { brokerKey: string; brokerName: BrokerName; orderMode: OrderMode; filledBy: 'embedded' | 'broker' };

export type PlaceOrder = OrderRoute & {
  /** From `tradingOrderIdOf`: it is on the shard of the trading account. A repeat with the same id returns the stored order. */
  orderId: string;
  clientOrderId: string | null;
  /** Validated for form, symbol, tick and the broker's capabilities. */
  terms: OrderTerms;
  /** The current quote of the order's symbol. */
  quote: Quote;
  /** The account's current settings; the account stores them for its marks. */
  limits: TradingLimits;
  strategyId?: string;
  taskId?: string;
};

/** A leg closes its parent's position: opposite side, no quantity of its own. `terms.quantity` is the parent's. */
export type Leg = { orderId: string; role: LegRole; terms: OrderTerms };

export type OpenPosition = PlaceOrder & { legs: Leg[] };
/** `legs` in the order of the request. */
export type OpenedPosition = { order: TradingOrderRow; legs: TradingOrderRow[] };

export type ReplaceOrder = {
  orderId: string;
  /** The new order's id, from `tradingOrderIdOf`. */
  newOrderId: string;
  clientOrderId: string | null;
  change: ReplaceRequest;
  quote: Quote;
  limits: TradingLimits;
};

/**
 * The result of this turn of a halt: `cancelled` orders have ended with it; `requested` are all that wait for their broker's answer.
 * `left`: the number that following turns cancel; the next call returns the next ones.
 */
export type Halted = { haltedAtMs: number; cancelled: string[]; requested: string[]; left: number };

export type MarkAccount = {
  /** Prices of brokers, which this node's market does not have. By symbol. */
  quotes?: Record<string, Quote>;
  /** Corporate actions that may concern it; each is applied once. */
  actions?: CorporateAction[];
};
/**
 * `more`: too much for one turn; mark again. `changed`: something was written. `open`: orders that are still open here, not at a broker.
 */
export type Marked = { more: boolean; changed: boolean; open: number };

/** A broker's report of one of its orders. The fills are those not reported before. */
export type OrderMoved = Omit<OrderRoute, 'filledBy'> & {
  orderId: string;
  symbol: string;
  assetClass: AssetClass;
  side: Side;
  strategyId: string | null;
  fills: BookedFill[];
  status: OrderStatus;
  /** The total filled quantity. */
  filled: string;
  unknown: boolean;
  /** For an order that this service did not place, with the first message about it: it is entered as open. */
  external?: OpenEntry;
};
/** For each fill: its number in the journal, and the holding after it. */
export type BookedNow = { seq: number; positionQuantity: string };

/**
 * A broker's own figures, which the book adopts: at connecting, or by a person's decision. `averagePrice` null: the broker does not report
 * it, the mark counts.
 */
export type AdoptFigures = Pick<OrderRoute, 'brokerKey' | 'brokerName' | 'orderMode'> & {
  cash: string | null;
  positions: { symbol: string; assetClass: AssetClass; quantity: string; averagePrice: string | null }[];
};

export type TradingAccountContract = {
  commands: {
    /**
     * All checks that need state, then the order, in one commit. Orders of the embedded paper broker become `accepted`, others `submitted`.
     */
    place(input: PlaceOrder): TradingOrderRow;
    /** A parent with up to two legs, which wait until it fills and cancel each other. */
    openPosition(input: OpenPosition): OpenedPosition;
    /**
     * Returns the new order. Refuses (`conflict`) an order that has ended, or is being cancelled or replaced; `not_found` for an order of
     * another account.
     */
    replace(input: ReplaceOrder): TradingOrderRow;
    /** Only a request if a broker has the order; a repeat returns the same. Refuses (`conflict`) an order that has ended. */
    cancel(input: { orderId: string }): TradingOrderRow;
    /** `by`: the user's id. A repeat is the same halt. */
    halt(input: { by: string; reason: string | null }): Halted;
    resume(input: { by: string }): void;
    /**
     * Sent by `MarketWatch`: fills paper orders, applies corporate actions, ends expired orders and blocks, compares the day's result with
     * its limit.
     */
    mark(input: MarkAccount): Marked;
    /** Sent by its own turns: work that a participant's turn could not do, such as cancelling after a breach. */
    settle(input: Record<string, never>): void;
    /** Sent by the account settings. */
    limitsChanged(input: TradingLimits): void;
    /** For co-located transactions of its orders at brokers. */
    orderMoved(input: OrderMoved): BookedNow[];
    /** The book adopts the broker's cash and positions. Creates the book. */
    adopt(input: AdoptFigures): void;
    /**
     * Creates the book of a new connection; if this service fills its orders, with 100,000 of paper cash, else empty until `adopt`. Stores the
     * account at the broker to which the book belongs. Returns the key of the other book that belongs to this account; null: there is none.
     */
    addBook(input: OrderRoute & { venueAccount: string | null }): string | null;
    /** Whether the connection exists: its book ends with it. */
    hasBook(input: { brokerKey: string }): boolean;
    /** Refuses (`conflict`) while its orders are open or have an unknown outcome. */
    removeBook(input: { brokerKey: string }): void;
    /**
     * Ends orders of a connection that is going to be removed, as many as one turn may. Returns the number of orders that are still open.
     *
     * @param reason why their outcome will not be known
     */
    abandonOrders(input: { brokerKey: string; reason: string }): number;
  };
  queries: {
    get(input: null): TradingAccountRow | null;
    /** null: no such book. An account that never traded has an embedded book. */
    summary(input: { brokerKey: string }): AccountSummary | null;
    /** Positions of one book, or of all. Ordered by symbol. */
    positions(input: { brokerKey: string | null }): PositionSummary[];
    /** The effect of an order if it were placed now. Nothing is stored. */
    preview(input: PreviewOrder): OrderPreview;
    /** Ids of orders that may still fill, of one book or of all. */
    openOrders(input: { brokerKey: string | null }): { orderId: string; symbol: string; held: boolean; unknown: boolean }[];
    /** The holdings that a strategy's own orders at one broker have produced; its cash is their proceeds less their cost. */
    strategyBook(input: { strategyId: string; brokerKey: string }): Book;
    /** The symbols whose prices a mark needs; `fromBroker`: those whose last price came from a broker. */
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
  /** Times of the market's clock; null: not blocked. `blockedUntilMs` is the later one. */
  blocked: Record<AssetClass, number | null>;
  blockedUntilMs: number | null;
  halted: boolean;
  /** The time of the oldest price used; without positions that of the market's clock. */
  atMs: number;
};

export type PreviewOrder = OrderRoute & Pick<PlaceOrder, 'terms' | 'quote' | 'limits'>;

/** Amounts to cents, half-even. */
export type OrderPreview = {
  /** Why it would be refused, as a text; null: it would be accepted. A used client id is not checked. */
  refusal: string | null;
  /** It only reduces a position, so the position limit does not apply. */
  reduces: boolean;
  /** The value that the position limit applies to: position and open orders of the same side, without this order and with it. */
  positionValue: string;
  positionValueAfter: string;
  dayPnl: string;
};

export type PositionSummary = {
  /** `pos_…`: the same id for the same book and symbol. */
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
  /** A part of it was adopted from the broker's figures. */
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

/** The key of a strategy's own book at one broker: its paper holdings do not count when it trades real money. */
export function strategyBookKey(strategyId: string, brokerKey: string): string {
  return `${strategyId}/${brokerKey}`;
}

export const defaultLimits: TradingLimits = { maxPositionSize: '25000', dailyLossLimit: '2500', priceCollarPct: 10, marketCollarPct: 1 };
