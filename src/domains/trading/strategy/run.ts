/** What a run of a strategy in the market remembers, and how a bar goes from decision to orders. */

import type { Timeframe } from '../market/port.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { Side } from '../orders/terms.ts';
import type { Seen } from './live-weights.ts';

/** What is wanted of a symbol. */
export type Target = {
  /** From -1 to 1. */
  weight: number;
  /** What that came to when it was sized: a decimal text, negative for a short; null: it could not be sized yet. */
  quantity: string | null;
  /** The strategy has held it: until the weight changes nothing more is ordered. */
  reached: boolean;
};

/** An order that a run has decided on. It is stored before it is placed, and always placed as it is here. */
export type Intent = { orderId: string; symbol: string; side: Side; quantity: string; brokerKey: string };

/** What became of it. `refused`: the words of the refusal; it is not tried again on this bar. */
export type PlacedIntent = Intent & { refused: string | null };

/** The newest bar that was decided on. */
export type RunBar = {
  barMs: number;
  /** Symbols whose orders are not all sent: an open order has to end first, or a position has to be closed before the other side is opened. */
  unfinished: string[];
  /** By symbol: how many orders it has led to. */
  legs: Record<string, number>;
  orders: PlacedIntent[];
  /** Symbols that could not be traded, with the reason. */
  skipped: Record<string, string>;
};

/**
 * What goes on now. `idle`: the next bar is waited for. `deciding`, `planning`, `placing`: an effect runs. `waiting`: orders of the bar are still open.
 * `… again`: an effect failed and is begun again when that is due.
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
  /** Of the strategy that was started; a change of the strategy does not change its run. */
  version: number;
  timeframe: Timeframe;
  symbols: string[];
  /** By the market's clock: bars that were complete then are not of the run. */
  startedMs: number;
  /** Which connection takes its orders, by asset class. */
  brokers: Partial<Record<AssetClass, string>>;
  /** Its bars are those of the broker whose prices count for the account; absent: this service's own. */
  source?: 'broker';
  /** What it sizes against, with its own results added; null: the equity of the account. */
  capital: number | null;
  /** What the book that code sees begins with. */
  capitalOfCode: number;
  seen: Seen;
  /** What was decided last, by symbol. */
  weights: Record<string, number>;
  targets: Record<string, Target>;
  bar: RunBar | null;
  stage: Stage;
  /** Bars in a row whose decision failed, and the last failure. */
  failures: number;
  lastFailure: string | null;
  /** Tries in a row that brought nothing: each waits longer. */
  tries: number;
  /** When the next bar is complete, and the last moment that the run was notified, both by the market's clock. */
  nextMs: number;
  clockMs: number;
};
