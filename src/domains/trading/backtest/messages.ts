/** Commands and queries of a backtest. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { BacktestRequest, BacktestResult, Computed, ComputeInput, NewComputation } from './computation.ts';
import type { BacktestRow, ComputationRow } from './entity.ts';

export type ComputationContract<Request, Result, Row = ComputationRow<Request, Result>> = {
  commands: {
    /** Begins to compute. Repeating it changes nothing. */
    create(input: NewComputation<Request>): Row;
    computed(input: EffectResult<Computed<Result>>): void;
    /** How far it is. What comes late, or says less, changes nothing. */
    progressed(input: { percent: number }): void;
    /** Ends what is computed; it has failed then. `conflict` where it has ended already. */
    cancel(input: null): Row;
    /** The large files are not in the file store any more. */
    forgetFiles(input: null): void;
  };
  queries: {
    /** null: there is none. */
    get(input: null): Row | null;
  };
  effects: {
    compute(input: ComputeInput): Computed<Result>;
  };
};

export type BacktestContract = ComputationContract<BacktestRequest, BacktestResult, BacktestRow>;

export const backtest = actorRef<BacktestContract>('backtest');
