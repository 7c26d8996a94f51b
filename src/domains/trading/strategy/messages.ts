/** Commands and queries of a strategy. */

import { actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { Strategy as DecidingPart } from './config.ts';
import type { StrategyRow } from './entity.ts';
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

export type StrategyContract = {
  commands: {
    /** Repeating it changes nothing. `invalid` where the symbols are not those of its pair. */
    create(input: NewStrategy): StrategyRow;
    /** Makes the next version; a run goes on with the one it was started with. `conflict` after `mostVersions`. */
    change(input: StrategyChange): StrategyRow;
    /** For good. `conflict` while it runs. */
    remove(input: null): void;
  };
  queries: {
    /** null: there is none, or it is deleted. Every version is in the table `strategy_version` (`versions.ts`). */
    get(input: null): StrategyRow | null;
  };
};

export const strategy = actorRef<StrategyContract>('strategy');

/** Each is kept for the backtests that name it. */
export const mostVersions = 1_000;
