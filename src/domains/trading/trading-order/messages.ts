/**
 * Commands and queries of one order. Orders are created, cancelled and replaced through the trading account (`../trading-
 * account/messages.ts`), which calls the first group; the others carry a broker's answers and reports, and change order, book, fill rows
 * and events in one commit.
 */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { CancelAnswer, LookUpAnswer, PlaceAnswer, VenueFill, VenueOrder } from '../brokers/port.ts';
import type { BookedFill } from '../orders/order-fills.ts';
import type { Ending } from '../orders/order-state.ts';
import type { OrderTerms } from '../orders/terms.ts';
import type { BookedNow, LegRole, OrderRoute } from '../trading-account/messages.ts';
import type { TradingOrderRow } from './entity.ts';

export type NewTradingOrder = OrderRoute & {
  tradingAccountId: string;
  clientOrderId: string | null;
  terms: OrderTerms;
  held: boolean;
  parentId: string | null;
  role: LegRole | null;
  replaces: string | null;
  strategyId: string | null;
  taskId: string | null;
  /** It opens or covers a short position: some brokers have separate terms for that. */
  onShort: boolean;
};

/** The result at the embedded paper broker, or in the account. */
export type PaperMoved = {
  fills: { fill: BookedFill; booked: BookedNow }[];
  ended: { status: Ending; reason: string | null } | null;
};

export type TradingOrderContract = {
  commands: {
    // Co-located calls of the trading account.
    /**
     * Stored as `submitted`, with its event; if this service fills it and does not hold it, also as `accepted`; for a broker its body is
     * stored and sent.
     */
    begin(input: NewTradingOrder): { order: TradingOrderRow; isNew: boolean };
    moved(input: PaperMoved): TradingOrderRow;
    /**
     * A leg or a replacement need not wait any longer, or a leg's quantity follows its parent. At a broker the order is sent when it is no
     * longer held.
     */
    release(input: { quantity: string; held: boolean; onShort: boolean; asMarket?: boolean }): TradingOrderRow;
    /** Ends an order that no broker has; otherwise requests the end from the broker. `replacedBy`: the order that replaces it. */
    requestCancel(input: { replacedBy: string | null }): TradingOrderRow;
    /** Its connection is removed: the order ends, as `lost` if the broker may have it (`orders/order-state.ts`). */
    abandon(input: { reason: string }): TradingOrderRow;
    /** A corporate action: quantity, fills and prices after it. */
    adjust(input: { terms: OrderTerms; filled: string }): TradingOrderRow;

    // Reports of a broker. Each may come late, twice and in any order.
    /** Outcome of the effect `post`. */
    posted(input: EffectResult<{ post: number; answer: PlaceAnswer }>): null;
    /** Outcome of the effect `lookUp`. */
    lookedUp(input: EffectResult<{ lookUp: number; answer: LookUpAnswer }>): null;
    /** Outcome of the effect `cancel`. */
    cancelAnswered(input: EffectResult<CancelAnswer>): null;
    /** Sent by a timer: `outbound.dueAtMs` is reached, an end has waited long enough for its fills, or a cancel is to be repeated. */
    wake(input: { of: 'outbound' | 'fills' | 'cancel' }): null;
    /**
     * A poll or reconciliation found the order and these fills. `filledSoFar`: the venue has no trades, only the order's own filled
     * quantity is known.
     */
    seen(input: { order: VenueOrder | null; fills: VenueFill[]; filledSoFar: boolean }): null;
    /**
     * Reconciliation has decided, by its own rules, that the broker never got the order; with `brokerOrderId`, that the broker does not have
     * the order any more that it accepted under this id.
     */
    settledAbsent(input: { reason: string; brokerOrderId?: string }): null;
    /** An order at the broker that this service did not place. A repeat changes nothing. null: the connection was removed meanwhile. */
    adoptOrder(input: AdoptOrder): TradingOrderRow | null;
  };
  queries: {
    get(input: null): TradingOrderRow | null;
  };
  effects: {
    post(input: { brokerId: string; post: number; body: string }): { post: number; answer: PlaceAnswer };
    lookUp(input: { brokerId: string; lookUp: number; symbol: string; brokerOrderId: string | null; sinceMs: number }): {
      lookUp: number;
      answer: LookUpAnswer;
    };
    cancel(input: { brokerId: string; brokerOrderId: string }): CancelAnswer;
  };
};

export type AdoptOrder = OrderRoute & {
  tradingAccountId: string;
  order: VenueOrder;
  /** Its fills are included in the adopted positions: they are not booked. */
  earlier?: boolean;
};

export const tradingOrder = actorRef<TradingOrderContract>('trading_order');

/** Calls to brokers, by the id of the connection. They change no state of this service and never reject. */
export type VenueCalls = {
  /** Sends the body once. */
  place(brokerId: string, body: string, signal: AbortSignal): Promise<PlaceAnswer>;
  lookUp(
    brokerId: string,
    what: { ourId: string; symbol: string; brokerOrderId: string | null; sinceMs: number },
    signal: AbortSignal,
  ): Promise<LookUpAnswer>;
  cancel(brokerId: string, brokerOrderId: string, signal: AbortSignal): Promise<CancelAnswer>;
};
