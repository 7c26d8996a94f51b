/** Commands and queries of a backtest. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { BacktestRequest, BacktestResult, Computed, ComputeInput, NewComputation } from './computation.ts';
import type { BacktestRow, ComputationRow } from './entity.ts';

export type ComputationContract<Request, Result, Row = ComputationRow<Request, Result>> = {
  commands: {
    /** Begins the computation. Repeating it changes nothing. */
    create(input: NewComputation<Request>): Row;
    computed(input: EffectResult<Computed<Result>>): void;
    /** The progress. A late or smaller value changes nothing. */
    progressed(input: { percent: number }): void;
    /** Cancels the computation, which then has failed. `conflict` if it has already ended. */
    cancel(input: null): Row;
    /** The large files are no longer in the file store. */
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
