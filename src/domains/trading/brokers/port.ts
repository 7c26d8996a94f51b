/**
 * The broker port: what this product asks of a broker, in our own words. Vendors' shapes stop in the adapters, which check every answer against a
 * schema, and bound it in size and time. Nothing behind this port sends a request twice: what to do about a lost answer is for `orders/outbound.ts`.
 * Amounts are decimal texts.
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
  /** The id that we sent; null: another program or a person placed it. */
  ourId: string | null;
  symbol: string;
  assetClass: AssetClass;
  side: Side;
  /** null where it has a form that we do not offer; it is listed all the same. */
  terms: OrderTerms | null;
  /** `working`: it may fill, also while a cancel is under way. */
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
  /** null: the venue does not say. */
  averagePrice: string | null;
};

export type VenueAccount = {
  cash: string;
  /** null: the venue does not say. */
  equity: string | null;
  buyingPower: string | null;
  /** The venue takes no orders of this account. */
  blocked: boolean;
};

/** What came of a question to a venue, which changes nothing there and may be asked again. */
export type Answer<T> =
  | { kind: 'known'; value: T }
  /** The venue no longer takes the credentials. */
  | { kind: 'credentials'; reason: string }
  | { kind: 'retry_after'; waitMs: number }
  | { kind: 'unknown'; reason: string };

/**
 * What came of the one post of an order. `credentials`: the venue refused it because of them, so it made no order.
 * `accepted` carries the order where the venue's answer has it.
 */
export type PlaceAnswer =
  | { kind: 'accepted'; brokerOrderId: string; order: VenueOrder | null }
  | { kind: 'credentials'; reason: string }
  | Exclude<PostAnswer, { kind: 'accepted' }>;

/** `absent` is no proof that there is none. */
export type LookUpAnswer = Answer<{ kind: 'found'; order: VenueOrder } | { kind: 'absent' }>;

/** `requested`: the order's state shows the result. `refused`: it cannot be cancelled, mostly because it has ended. */
export type CancelAnswer = { kind: 'requested' } | { kind: 'refused'; reason: string } | Exclude<Answer<never>, { kind: 'known' }>;

/** null: the venue does not know the symbol. `no_data`: there is no market data at this address, or only old. */
export type QuoteAnswer = Answer<Sides | null> | { kind: 'no_data' };

/** null: the venue does not go back that far. */
export type BarsAnswer = Answer<VendorBars | null>;
export type WantedBars = Pick<BarsRequest, 'symbol' | 'timeframe' | 'start' | 'end'>;

/** `cursor` is opaque and goes into the next question; an earlier one gives again what was given after it. */
export type VenueFills = { fills: VenueFill[]; cursor: string; more: boolean };

export type LookUp = {
  ourId: string;
  /** The order that the venue named, if it did. */
  brokerOrderId: string | null;
  symbol: string;
  /** Nothing of this order was sent before. */
  sinceMs: number;
};

export interface BrokerConnection {
  readonly venue: VenueName;
  readonly mode: BrokerMode;
  readonly afterUnknown: AfterUnknown;
  /**
   * Where fills come from. `trades`: `fills` lists them with ids. `orders`: the venue has no ids of trades; what an order says is filled of it is all there is.
   */
  readonly fillSource: 'trades' | 'orders';
  /**
   * The exact body of an order's post: stored before it is sent, and sent as it is each time.
   *
   * @param onShort the order opens or covers a short position: some venues have words of their own for that
   */
  bodyOf(ourId: string, terms: OrderTerms, onShort: boolean): string;
  /** One request, sent once. Never rejects. */
  place(body: string, signal?: AbortSignal): Promise<PlaceAnswer>;
  /** By our id; by the venue's where that is known and the venue has no other way. */
  lookUp(what: LookUp, signal?: AbortSignal): Promise<LookUpAnswer>;
  order(brokerOrderId: string, signal?: AbortSignal): Promise<LookUpAnswer>;
  cancel(brokerOrderId: string, signal?: AbortSignal): Promise<CancelAnswer>;
  /** Open ones; where fills come from orders, those of today that have ended too. */
  currentOrders(signal?: AbortSignal): Promise<Answer<VenueOrder[]>>;
  /** Ascending. null: from `sinceMs` on. */
  fills(after: { cursor: string | null; sinceMs: number }, signal?: AbortSignal): Promise<Answer<VenueFills>>;
  positions(signal?: AbortSignal): Promise<Answer<VenuePosition[]>>;
  /** The cheap call that tries the credentials. */
  account(signal?: AbortSignal): Promise<Answer<VenueAccount>>;
  /** Absent where the venue's market data is a service of its own. */
  quote?(symbol: string, signal?: AbortSignal): Promise<QuoteAnswer>;
  /** Present where `quote` is: the history of the same prices. Symbols that the venue does not know have none. */
  bars?(wanted: WantedBars, signal?: AbortSignal): Promise<BarsAnswer>;
  /** Tells that something may have changed; what, the questions above say. */
  updates(listener: UpdateListener): UpdateStream;
}

export type UpdateListener = {
  /** An order may have changed; null: not said which. */
  changed(order: { brokerOrderId: string | null; ourId: string | null }): void;
  /** From now on changes are streamed; earlier ones have to be polled. */
  connected(): void;
  lost(reason: string): void;
};

export interface UpdateStream {
  close(): void;
}
