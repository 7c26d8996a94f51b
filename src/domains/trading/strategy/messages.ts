/** Commands and queries of a strategy. Moments named `nowMs` and `…Ms` in inputs are by the market's clock. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { Strategy as DecidingPart } from './config.ts';
import type { Decided } from './decide-messages.ts';
import type { OrderMode, StrategyRow } from './entity.ts';
import type { Seen } from './live-weights.ts';
import type { SymbolPlan } from './plan.ts';
import type { Intent, PlacedIntent, Run, Target } from './run.ts';
import type { RunSettings } from './settings.ts';

/** Validated by `check.ts`. */
export type NewStrategy = {
  accountId: string;
  /** The mode of the key that makes it. */
  mode: Mode;
  name: string;
  strategy: DecidingPart;
  settings: RunSettings;
  symbols: string[];
};

/** Omitted fields stay unchanged. The type never changes. */
export type StrategyChange = { name?: string; symbols?: string[]; strategy?: DecidingPart; settings?: RunSettings };

export type StartRun = {
  orderMode: OrderMode;
  /** The version that the start's checks were made for: `conflict` if there is a newer one. */
  version: number;
  nowMs: number;
  brokers: Run['brokers'];
  /** The source of its bars; absent: this service's market. */
  source?: Run['source'];
  /** The initial equity that code sees. */
  equity: number;
};

export type Decide = {
  accountId: string;
  mode: Mode;
  version: number;
  symbols: string[];
  startedMs: number;
  seen: Seen;
  capital: number;
  source?: Run['source'];
  /** Absent in decisions that an earlier version began: then the newest connected brokers have the prices. */
  brokers?: Run['brokers'];
};
export type Plan = Pick<Run, 'symbols' | 'brokers'> & {
  accountId: string;
  mode: Mode;
  /** Orders are sized against this plus the run's own results; null: against the equity of the account. */
  capital: number | null;
  /** A single pair is not divided by the number of symbols. */
  isPair: boolean;
  weights: Record<string, number>;
  targets: Record<string, Target>;
  /** null: the first plan of the bar, for all symbols. Otherwise the symbols to continue with. */
  only: string[] | null;
};
export type Planned = { symbols: SymbolPlan[]; brokers: Record<string, string>; skipped: Record<string, string>; nowMs: number };
export type Place = {
  accountId: string;
  mode: Mode;
  orderMode: OrderMode;
  cancels: string[];
  intents: Intent[];
  /** When the next bar is complete; orders of this bar are not placed after that. */
  untilMs: number;
};

export type StrategyContract = {
  commands: {
    /** Repeating it changes nothing. `invalid` if the symbols are not those of its pair. */
    create(input: NewStrategy): StrategyRow;
    /** Makes the next version; a run continues with the version it started with. `conflict` after `maxVersions`. */
    change(input: StrategyChange): StrategyRow;
    /** Deletes it permanently. `conflict` while it runs. */
    remove(input: null): void;
    /** `conflict` if it runs, or its last run's orders are still being sent. */
    start(input: StartRun): StrategyRow;
    /** Its open orders are then cancelled; its positions stay. Stopping a strategy that does not run changes nothing. */
    stop(input: null): StrategyRow;
    /** Sent by `StrategyWatch`: the run does what is due. */
    due(input: { nowMs: number }): void;
    /** Sent by a timer: tries again to cancel the open orders of a run that has ended. */
    withdrawAgain(input: Record<string, never>): void;
    // Outcomes of effects.
    decided(input: EffectResult<{ decided: Decided; nowMs: number }>): void;
    planned(input: EffectResult<Planned>): void;
    placed(input: EffectResult<{ orders: PlacedIntent[]; nowMs: number }>): void;
    withdrawn(input: EffectResult<null>): void;
  };
  queries: {
    /** null: there is none, or it is deleted. Every version is in the table `strategy_version` (`versions.ts`). */
    get(input: null): StrategyRow | null;
  };
  effects: {
    decide(input: Decide): { decided: Decided; nowMs: number };
    plan(input: Plan): Planned;
    place(input: Place): { orders: PlacedIntent[]; nowMs: number };
    /** Cancels the strategy's open orders. */
    withdraw(input: { accountId: string; mode: Mode }): null;
  };
};

export const strategy = actorRef<StrategyContract>('strategy');

/** Each version is kept for the backtests that name it. */
export const maxVersions = 1_000;
/** The number of consecutive bars with a failed decision after which the run ends. */
export const maxFailures = 3;
