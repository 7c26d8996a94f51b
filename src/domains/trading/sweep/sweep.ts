/** A sweep: backtests of one strategy over a grid of parameters. Its states are those of a backtest (`../backtest/computation-turns.ts`). */
import { defineActor, type EffectsOf } from '../../../actors/define-actor.ts';
import { computationTurns } from '../backtest/computation-turns.ts';
import { Sweep, type SweepRow } from './entity.ts';
import { type SweepContract, sweep } from './messages.ts';

export function sweepActor(effects: EffectsOf<SweepContract>) {
  return defineActor<SweepRow, SweepContract>({
    ref: sweep,
    entity: Sweep,
    commands: computationTurns('Sweep'),
    queries: { get: (state) => state },
    effects,
    idleTimeoutMs: 60_000,
  });
}
