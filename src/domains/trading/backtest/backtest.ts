/** A backtest: the result that a strategy would have had. `computation-turns.ts` has its states, `compute-effect.ts` its computation. */
import { defineActor, type EffectsOf, type TurnContext } from '../../../actors/define-actor.ts';
import { computationTurns } from './computation-turns.ts';
import { Backtest, type BacktestRow } from './entity.ts';
import { type BacktestContract, backtest } from './messages.ts';

export function backtestActor(effects: EffectsOf<BacktestContract>) {
  return defineActor<BacktestRow, BacktestContract>({
    ref: backtest,
    entity: Backtest,
    commands: computationTurns('Backtest', emitEnd),
    queries: { get: (state) => state },
    effects,
    idleTimeoutMs: 60_000,
  });
}

function emitEnd({ id, accountId, mode, strategyId, status, result, error }: BacktestRow, ctx: TurnContext): void {
  ctx.emit({
    accountId,
    type: status === 'complete' ? 'backtest.completed' : 'backtest.failed',
    data: {
      backtest_id: id,
      strategy_id: strategyId,
      mode,
      status,
      final_value: result?.final_value ?? null,
      total_return_pct: result?.total_return_pct ?? null,
      error,
    },
  });
}
