/**
 * Commands and queries of one order. Orders are begun, cancelled and replaced through the trading account (`../trading-account/messages.ts`), which calls the
 * first group; the others carry what a broker answered or showed, and change order, book, fill rows and events in one commit.
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
  /** It opens or covers a short position: some brokers have words of their own for that. */
  onShort: boolean;
};

/** What the embedded paper broker, or the account, did with it. */
export type PaperMoved = {
  fills: { fill: BookedFill; booked: BookedNow }[];
  ended: { status: Ending; reason: string | null } | null;
};

export type TradingOrderContract = {
  commands: {
    // Co-located calls of the trading account.
    /** Stored as `submitted`, with its event; filled here and not held, as `accepted` too; at a broker its body is stored and sent. */
    begin(input: NewTradingOrder): { order: TradingOrderRow; isNew: boolean };
    moved(input: PaperMoved): TradingOrderRow;
    /** A leg or a replacement need not wait any more, or a leg's quantity follows its parent. At a broker the order is sent when it is no longer held. */
    release(input: { quantity: string; held: boolean; onShort: boolean; asMarket?: boolean }): TradingOrderRow;
    /** Ends what a broker does not have; asks the broker else. `replacedBy`: the order that takes its place. */
    requestCancel(input: { replacedBy: string | null }): TradingOrderRow;
    /** A corporate action: quantity, fills and prices as they are after it. */
    adjust(input: { terms: OrderTerms; filled: string }): TradingOrderRow;

    // Reports of a broker. Each may come late, twice and in any order.
    /** Outcome of the effect `post`. */
    posted(input: EffectResult<{ post: number; answer: PlaceAnswer }>): null;
    /** Outcome of the effect `lookUp`. */
    lookedUp(input: EffectResult<{ lookUp: number; answer: LookUpAnswer }>): null;
    /** Outcome of the effect `cancel`. */
    cancelAnswered(input: EffectResult<CancelAnswer>): null;
    /** By timer: the time of `outbound.dueAtMs` has come, an end has waited long enough for its fills, or a cancel is to be asked for again. */
    wake(input: { of: 'outbound' | 'fills' | 'cancel' }): null;
    /** A poll or reconciliation saw the order and these of its fills. `filledSoFar`: the venue has no trades, the order's own figures are all there is. */
    seen(input: { order: VenueOrder | null; fills: VenueFill[]; filledSoFar: boolean }): null;
    /** Reconciliation has settled, by its own rules, that the broker never got it. */
    settledAbsent(input: { reason: string }): null;
    /** An order at the broker that this service did not place. Twice is the same. */
    adoptOrder(input: AdoptOrder): TradingOrderRow;
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
  /** What is filled of it came with the positions that were taken over: it is not booked. */
  earlier?: boolean;
};

export const tradingOrder = actorRef<TradingOrderContract>('trading_order');

/** Calls to brokers, by the id of the connection. They change nothing here and never reject. */
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
