/** The state of a strategy's run in the market, and the steps of a bar from decision to orders. */

import type { Timeframe } from '../market/port.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { Side } from '../orders/terms.ts';
import type { Seen } from './live-weights.ts';

/** The target of a symbol. */
export type Target = {
  /** From -1 to 1. */
  weight: number;
  /** The size of the target when it was computed: a decimal text, negative for a short; null: not yet possible. */
  quantity: string | null;
  /** The strategy has reached it: until the weight changes nothing more is ordered. */
  reached: boolean;
};

/** An order that a run has decided on. It is stored before it is placed, and always placed as stored. */
export type Intent = { orderId: string; symbol: string; side: Side; quantity: string; brokerKey: string };

/** Its result. `refused`: the text of the refusal; it is not tried again on this bar. */
export type PlacedIntent = Intent & { refused: string | null };

/** The newest bar that was decided on. */
export type RunBar = {
  barMs: number;
  /**
   * Symbols whose orders are not all sent: an open order must end first, or a position must be closed before the opposite one is opened.
   */
  unfinished: string[];
  /** The number of orders by symbol. */
  legs: Record<string, number>;
  orders: PlacedIntent[];
  /** Symbols that could not be traded, with the reason. */
  skipped: Record<string, string>;
};

/**
 * The current stage. `idle`: the next bar is awaited. `deciding`, `planning`, `placing`: an effect runs. `waiting`: orders of the bar are
 * still open. `… again`: an effect failed and is repeated when due.
 */
export type Stage =
  | { at: 'idle' }
  | { at: 'deciding'; effectId: string }
  | { at: 'planning'; effectId: string }
  | { at: 'placing'; effectId: string; cancels: string[]; intents: Intent[] }
  | { at: 'waiting' }
  | { at: 'deciding again' | 'planning again' }
  | { at: 'placing again'; cancels: string[]; intents: Intent[] };

export type Run = {
  /** The version that was started; a change of the strategy does not change its run. */
  version: number;
  timeframe: Timeframe;
  symbols: string[];
  /** By the market's clock: bars that were complete before this are not part of the run. */
  startedMs: number;
  /** The connection that gets its orders, by asset class. */
  brokers: Partial<Record<AssetClass, string>>;
  /** The broker whose bars it uses, because its prices count for the account; absent: this service's own bars. */
  source?: 'broker';
  /** Orders are sized against this plus the run's own results; null: the equity of the account. */
  capital: number | null;
  /** The initial state of the book that code sees. */
  capitalOfCode: number;
  seen: Seen;
  /** The last decision, by symbol. */
  weights: Record<string, number>;
  targets: Record<string, Target>;
  bar: RunBar | null;
  stage: Stage;
  /** Consecutive bars with a failed decision, and the last failure. */
  failures: number;
  lastFailure: string | null;
  /** Consecutive tries without a result: each waits longer. */
  tries: number;
  /** When the next bar is complete, and when the run was last notified, both by the market's clock. */
  nextMs: number;
  clockMs: number;
};
