/**
 * The broker port: what this service needs of a broker, in its own terms. Vendors' shapes stay in the adapters, which check every answer
 * against a schema, and bound its size and time. Nothing behind this port sends a request twice: `orders/outbound.ts` decides what to do
 * about a lost answer. Amounts are decimal texts.
 */

import type { BarsRequest } from '../market/port.ts';
import type { Sides } from '../market/quote-of-sides.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { VendorBars } from '../market/vendor-bars.ts';
import type { Ending } from '../orders/order-state.ts';
import type { AfterUnknown, PostAnswer } from '../orders/outbound.ts';
import type { OrderTerms, Side } from '../orders/terms.ts';

export const venueNames = ['alpaca', 'tradier', 'coinbase'] as const;
export type VenueName = (typeof venueNames)[number];
export const brokerModes = ['paper', 'live'] as const;
export type BrokerMode = (typeof brokerModes)[number];

/** An order as the venue has it. */
export type VenueOrder = {
  brokerOrderId: string;
  /** The id that we sent; null: placed by another program or a person. */
  ourId: string | null;
  symbol: string;
  assetClass: AssetClass;
  side: Side;
  /** null for an order type that this service does not offer; the order is listed all the same. */
  terms: OrderTerms | null;
  /** `working`: it may fill, also while a cancel is pending. */
  state: 'working' | 'filled' | Ending;
  filledQuantity: string;
  /** null: nothing is filled. */
  averagePrice: string | null;
  reason: string | null;
  createdAtMs: number;
  updatedAtMs: number;
};

export type VenueFill = {
  venueTradeId: string;
  brokerOrderId: string;
  symbol: string;
  side: Side;
  quantity: string;
  price: string;
  commission: string;
  atMs: number;
};

/** `quantity` is negative for a short position. */
export type VenuePosition = {
  symbol: string;
  assetClass: AssetClass;
  quantity: string;
  /** null: the venue does not report it. */
  averagePrice: string | null;
};

export type VenueAccount = {
  /** The venue's own id of the account, the same for all credentials of the account; null: the venue does not report it. */
  id: string | null;
  cash: string;
  /** null: the venue does not report it. */
  equity: string | null;
  buyingPower: string | null;
  /** The venue accepts no orders of this account. */
  blocked: boolean;
};

/** The result of a query to a venue, which changes nothing there and may be repeated. */
export type Answer<T> =
  | { kind: 'known'; value: T }
  /** The venue no longer accepts the credentials. */
  | { kind: 'credentials'; reason: string }
  | { kind: 'retry_after'; waitMs: number }
  | { kind: 'unknown'; reason: string };

/**
 * The result of an order's one post. `credentials`: the venue refused the credentials, so it made no order. `accepted` contains the order
 * if the venue's answer has it.
 */
export type PlaceAnswer =
  | { kind: 'accepted'; brokerOrderId: string; order: VenueOrder | null }
  | { kind: 'credentials'; reason: string }
  | Exclude<PostAnswer, { kind: 'accepted' }>;

/** `absent` is no proof that the order does not exist. */
export type LookUpAnswer = Answer<{ kind: 'found'; order: VenueOrder } | { kind: 'absent' }>;

/** `requested`: the order's state shows the result. `refused`: it cannot be cancelled, mostly because it has ended. */
export type CancelAnswer = { kind: 'requested' } | { kind: 'refused'; reason: string } | Exclude<Answer<never>, { kind: 'known' }>;

/** null: the venue does not know the symbol. `no_data`: there is no current market data at this address. */
export type QuoteAnswer = Answer<Sides | null> | { kind: 'no_data' };

/** null: the venue's history does not go back that far. */
export type BarsAnswer = Answer<VendorBars | null>;
export type WantedBars = Pick<BarsRequest, 'symbol' | 'timeframe' | 'start' | 'end'>;

/** `cursor` is opaque and is sent with the next query; an earlier cursor returns again everything after it. */
export type VenueFills = { fills: VenueFill[]; cursor: string; more: boolean };

export type LookUp = {
  ourId: string;
  /** The order that the venue named, if any. */
  brokerOrderId: string | null;
  symbol: string;
  /** Nothing was sent for this order before. */
  sinceMs: number;
};

export interface BrokerConnection {
  readonly venue: VenueName;
  readonly mode: BrokerMode;
  readonly afterUnknown: AfterUnknown;
  /**
   * The source of fills. `trades`: `fills` lists them with ids. `orders`: the venue has no ids of trades; only the filled quantity of
   * orders is known.
   */
  readonly fillSource: 'trades' | 'orders';
  /**
   * The exact body of an order's post: stored before it is sent, and sent as it is each time.
   *
   * @param onShort the order opens or covers a short position: some venues have sides of their own for that
   */
  bodyOf(ourId: string, terms: OrderTerms, onShort: boolean): string;
  /** Sends one request, once. Never rejects. */
  place(body: string, signal?: AbortSignal): Promise<PlaceAnswer>;
  /** Queries an order by our id; by the venue's id if it is known and the venue has no other way. */
  lookUp(what: LookUp, signal?: AbortSignal): Promise<LookUpAnswer>;
  order(brokerOrderId: string, signal?: AbortSignal): Promise<LookUpAnswer>;
  cancel(brokerOrderId: string, signal?: AbortSignal): Promise<CancelAnswer>;
  /** Open orders; if fills come from orders, also today's ended orders. */
  currentOrders(signal?: AbortSignal): Promise<Answer<VenueOrder[]>>;
  /** In ascending order. null: from `sinceMs` on. */
  fills(after: { cursor: string | null; sinceMs: number }, signal?: AbortSignal): Promise<Answer<VenueFills>>;
  positions(signal?: AbortSignal): Promise<Answer<VenuePosition[]>>;
  /** The cheap call that tests the credentials. */
  account(signal?: AbortSignal): Promise<Answer<VenueAccount>>;
  /** Absent if the venue's market data is a separate service. */
  quote?(symbol: string, signal?: AbortSignal): Promise<QuoteAnswer>;
  /** Present if `quote` is: the history of the same prices. Symbols that the venue does not know have none. */
  bars?(wanted: WantedBars, signal?: AbortSignal): Promise<BarsAnswer>;
  /** Notifies that something may have changed; the queries above return what. */
  updates(listener: UpdateListener): UpdateStream;
}

export type UpdateListener = {
  /** Orders may have changed. */
  changed(): void;
  /** From now on changes are streamed; earlier ones must be polled. */
  connected(): void;
  lost(reason: string): void;
};

export interface UpdateStream {
  close(): void;
}
