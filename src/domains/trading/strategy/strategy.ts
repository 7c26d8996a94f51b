/**
 * A strategy: what it decides by, in numbered versions, and its run in the market.
 *
 * S1 Every change is a new version, and no version ever changes.
 * S2 A run uses the version that it was started with (`run-turns.ts`).
 */

import { type ActorDefinition, defineActor, type EffectsOf, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { checkSymbolsOf } from './check.ts';
import { Strategy, type StrategyRow, StrategyVersion } from './entity.ts';
import { strategyInputs } from './inputs.ts';
import { maxVersions, type NewStrategy, type StrategyChange, type StrategyContract, strategy } from './messages.ts';
import { decided, due, endRun, placed, planned, startRun, withdraw, withdrawn } from './run-turns.ts';
import { decidingPart } from './versions.ts';

type State = StrategyRow | null;
type Context = TurnContext<StrategyContract>;

export function strategyActor(effects: EffectsOf<StrategyContract>): ActorDefinition<StrategyRow, StrategyContract> {
  return defineActor<StrategyRow, StrategyContract>({
    ref: strategy,
    entity: Strategy,
    inputs: strategyInputs,
    effects,
    commands: {
      create,
      change,
      remove,
      start: (state, input, ctx) => shown(startRun(existing(state), input, ctx)),
      stop: (state, _input, ctx) => shown(endRun(existing(state), null, ctx)),
      due: moving((row, { nowMs }, ctx) => due(row, nowMs, ctx)),
      withdrawAgain: moving((row, _input, ctx) => {
        if (row.status !== 'running') withdraw(row, ctx);
        return row;
      }),
      decided: moving(decided),
      planned: moving(planned),
      placed: moving(placed),
      withdrawn: moving(withdrawn),
    },
    queries: { get: (state) => (state === null || state.deletedAt !== null ? null : state) },
  });
}

function shown(row: StrategyRow): Turn<StrategyRow, StrategyRow> {
  return { state: row, reply: row };
}

/** For commands without a reply; they change nothing if there is no strategy. */
function moving<Input>(move: (row: StrategyRow, input: Input, ctx: Context) => StrategyRow) {
  return (state: State, input: Input, ctx: Context): Turn<State, void> => ({
    state: state === null ? null : move(state, input, ctx),
    reply: undefined,
  });
}

function create(state: State, input: NewStrategy, ctx: Context): Turn<StrategyRow, StrategyRow> {
  if (state !== null) return { state, reply: state };
  const { accountId, mode, name, symbols, settings } = input;
  const { type, config } = input.strategy;
  checkSymbolsOf(input.strategy, symbols);
  const made: StrategyRow = {
    id: ctx.id,
    accountId,
    mode,
    name,
    type,
    symbols,
    config,
    settings,
    version: 1,
    status: 'stopped',
    orderMode: 'paper',
    run: null,
    dueAt: null,
    error: null,
    createdAt: ctx.nowMs,
    updatedAt: ctx.nowMs,
    deletedAt: null,
  };
  return keepVersion(made, ctx);
}

function change(
  state: State,
  { name, symbols, strategy: deciding, settings }: StrategyChange,
  ctx: Context,
): Turn<StrategyRow, StrategyRow> {
  const known = existing(state);
  if (known.version >= maxVersions) throw new AppError('conflict', `A strategy has at most ${maxVersions} versions`);
  const next: StrategyRow = {
    ...known,
    name: name ?? known.name,
    symbols: symbols ?? known.symbols,
    config: deciding?.config ?? known.config,
    settings: settings ?? known.settings,
    version: known.version + 1,
    updatedAt: ctx.nowMs,
  };
  checkSymbolsOf(decidingPart(next), next.symbols);
  return keepVersion(next, ctx);
}

function remove(state: State, _input: null, ctx: Context): Turn<StrategyRow, void> {
  const known = existing(state);
  if (known.status === 'running') throw new AppError('conflict', 'The strategy is running: stop it first');
  return { state: { ...known, deletedAt: ctx.nowMs }, reply: undefined };
}

function keepVersion(row: StrategyRow, ctx: Context): Turn<StrategyRow, StrategyRow> {
  const { id: strategyId, version, accountId, name, type, symbols, config, settings, updatedAt: createdAt } = row;
  ctx.append(StrategyVersion, { strategyId, version, accountId, name, type, symbols, config, settings, createdAt });
  return { state: row, reply: row };
}

function existing(state: State): StrategyRow {
  if (state === null || state.deletedAt !== null) throw new AppError('not_found', 'Strategy not found');
  return state;
}
