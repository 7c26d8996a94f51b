/**
 * The states of a backtest or a sweep: running → complete | failed. An effect computes it; it may run again after a crash and has the same
 * result.
 *
 * B1 Its end is recorded once, with its event; later results are ignored.
 * B2 Its files are stored before it is complete.
 */
import type { EffectResult, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Computed, NewComputation } from './computation.ts';
import type { ComputationRow } from './entity.ts';
import type { ComputationContract } from './messages.ts';
import { largeFiles } from './stored-results.ts';

/** @param name for messages: 'backtest' */
export function computationTurns<Request, Result>(
  name: string,
  ended: (row: ComputationRow<Request, Result>, ctx: TurnContext) => void = () => {},
) {
  type Row = ComputationRow<Request, Result>;
  type Context = TurnContext<ComputationContract<Request, Result>>;

  function create(state: Row | null, input: NewComputation<Request>, ctx: Context): Turn<Row, Row> {
    if (state !== null) return { state, reply: state };
    const { accountId, mode, strategyId, strategyVersion, request, compute } = input;
    const row: Row = {
      id: ctx.id,
      accountId,
      mode,
      strategyId,
      strategyVersion,
      request,
      status: 'running',
      progress: 0,
      error: null,
      result: null,
      files: null,
      effectId: ctx.run('compute', compute),
      createdAt: ctx.nowMs,
      completedAt: null,
    };
    return { state: row, reply: row };
  }

  function computed(state: Row | null, { outcome }: EffectResult<Computed<Result>>, ctx: Context): Turn<Row | null, void> {
    if (state?.status !== 'running') return { state, reply: undefined };
    const value: Computed<Result> = outcome.kind === 'done' ? outcome.value : { kind: 'failed', error: messageOf(outcome) };
    const row = value.kind === 'failed' ? failed(state, value.error, ctx) : completed(state, value, ctx);
    return { state: row, reply: undefined };
  }

  function progressed(state: Row | null, { percent }: { percent: number }): Turn<Row | null, void> {
    if (state?.status !== 'running' || percent <= state.progress) return { state, reply: undefined };
    return { state: { ...state, progress: percent }, reply: undefined };
  }

  function cancel(state: Row | null, _input: null, ctx: Context): Turn<Row, Row> {
    if (state === null) throw new AppError('not_found', `${name} not found`);
    if (state.status !== 'running') throw new AppError('conflict', `The ${name.toLowerCase()} is ${state.status} already`);
    if (state.effectId !== null) ctx.cancel(state.effectId);
    const row = failed(state, 'It was cancelled', ctx);
    return { state: row, reply: row };
  }

  function forgetFiles(state: Row | null): Turn<Row | null, void> {
    if (!state?.files) return { state, reply: undefined };
    const kept = Object.entries(state.files).filter(([file]) => !largeFiles.some((large) => large === file));
    return { state: { ...state, files: Object.fromEntries(kept) }, reply: undefined };
  }

  function completed(row: Row, { result, files }: Computed<Result> & { kind: 'complete' }, ctx: Context): Row {
    return end({ ...row, status: 'complete', progress: 100, result, files }, ctx);
  }

  function failed(row: Row, error: string, ctx: Context): Row {
    return end({ ...row, status: 'failed', error }, ctx);
  }

  function end(row: Row, ctx: Context): Row {
    const next: Row = { ...row, effectId: null, completedAt: ctx.nowMs };
    ended(next, ctx);
    return next;
  }

  return { create, computed, progressed, cancel, forgetFiles };
}

function messageOf(outcome: { kind: 'failed'; message: string; abandoned?: true } | { kind: 'unknown' }): string {
  if (outcome.kind === 'unknown') return 'It could not be computed';
  return outcome.abandoned ? 'It ended the process that computed it, several times' : outcome.message;
}
