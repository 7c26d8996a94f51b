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

/** Checked by `check.ts`. */
export type NewStrategy = {
  accountId: string;
  /** Of the key that makes it. */
  mode: Mode;
  name: string;
  strategy: DecidingPart;
  settings: RunSettings;
  symbols: string[];
};

/** What is left out stays as it is. The type never changes. */
export type StrategyChange = { name?: string; symbols?: string[]; strategy?: DecidingPart; settings?: RunSettings };

export type StartRun = {
  orderMode: OrderMode;
  /** What the checks of the start were made for: `conflict` where there is a newer one. */
  version: number;
  nowMs: number;
  brokers: Run['brokers'];
  /** Where its bars come from; absent: this service's market. */
  source?: Run['source'];
  /** The equity that code sees at first. */
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
};
export type Plan = Pick<Run, 'symbols' | 'brokers'> & {
  accountId: string;
  mode: Mode;
  /** Sizes against this and the run's own results; null: against the equity of the account. */
  capital: number | null;
  /** Of one pair, which is no division by the number of symbols. */
  isPair: boolean;
  weights: Record<string, number>;
  targets: Record<string, Target>;
  /** Null: the first plan of the bar, of all symbols. Else the ones that are continued with. */
  only: string[] | null;
};
export type Planned = { symbols: SymbolPlan[]; brokers: Record<string, string>; skipped: Record<string, string>; nowMs: number };
export type Place = {
  accountId: string;
  mode: Mode;
  orderMode: OrderMode;
  cancels: string[];
  intents: Intent[];
  /** The next bar is complete then: what was not placed before is not placed any more. */
  untilMs: number;
};

export type StrategyContract = {
  commands: {
    /** Repeating it changes nothing. `invalid` where the symbols are not those of its pair. */
    create(input: NewStrategy): StrategyRow;
    /** Makes the next version; a run goes on with the one it was started with. `conflict` after `maxVersions`. */
    change(input: StrategyChange): StrategyRow;
    /** For good. `conflict` while it runs. */
    remove(input: null): void;
    /** `conflict` where it runs, or its last run's orders are still being sent. */
    start(input: StartRun): StrategyRow;
    /** Its open orders are cancelled afterwards; what it holds stays. Stopping what does not run changes nothing. */
    stop(input: null): StrategyRow;
    /** By `StrategyWatch`: the run goes on where it is time. */
    due(input: { nowMs: number }): void;
    /** By timer: tries once more to cancel the open orders of a run that has ended. */
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

/** Each is kept for the backtests that name it. */
export const maxVersions = 1_000;
/** Bars in a row of which the decision failed: then the run ends. */
export const maxFailures = 3;
