/**
 * The turns of a run: a bar is complete → decide → plan → place → the next bar. Each step is an effect, and its outcome is committed before the next one
 * begins.
 *
 * T1 Orders are stored, with ids that follow from strategy, bar and symbol, in the commit that begins to place them, and are placed as they are stored:
 *    however often a step is repeated, a bar is traded once.
 * T2 Only bars that are complete after the start are decided on. Of bars that were missed, all are observed and the newest one counts.
 * T3 A decision that fails counts against the strategy; a refused order, a halt and a source that does not answer do not. A decision that gets too little
 *    processor time is repeated, and counts as failed when `maxTriesOfStalled` tries on one bar brought nothing: it has used up processor time each time.
 */

import type { EffectResult, TurnContext } from '../../../actors/define-actor.ts';
import { backoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import { tradingAccountIdOf, tradingOrderIdOf } from '../trading-account/messages.ts';
import type { Decided } from './decide-messages.ts';
import type { StrategyRow } from './entity.ts';
import { maxFailures, type Planned, type StartRun, type StrategyContract } from './messages.ts';
import { nextBarEndOf } from './next-bar.ts';
import { barEndOf, runOrderId } from './order-id.ts';
import type { SymbolPlan } from './plan.ts';
import type { Intent, PlacedIntent, Run, RunBar, Stage } from './run.ts';

type Context = TurnContext<StrategyContract>;
/** A row with a run. */
type Running = StrategyRow & { run: Run };

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
const withdrawAgainMs = 30_000;
const maxTriesOfStalled = 3;

/** Throws `conflict` if it cannot be started now. */
export function startRun(row: StrategyRow, { orderMode, version, nowMs, brokers, source, equity }: StartRun, ctx: Context): StrategyRow {
  if (row.status === 'running') throw new AppError('conflict', 'The strategy is running already');
  if (row.run?.stage.at === 'placing')
    throw new AppError('conflict', 'The orders of its last run are still being sent', { retryAfterS: 1 });
  if (version !== row.version) throw new AppError('conflict', 'The strategy was changed meanwhile', { retryAfterS: 1 });
  const timeframe = row.settings.timeframe ?? '1d';
  const capital = row.settings.capital ?? null;
  const run: Run = {
    version,
    timeframe,
    symbols: row.symbols,
    startedMs: nowMs,
    brokers,
    ...(source !== undefined && { source }),
    capital,
    capitalOfCode: capital ?? equity,
    seen: {},
    weights: {},
    targets: {},
    bar: null,
    stage: { at: 'idle' },
    failures: 0,
    lastFailure: null,
    tries: 0,
    nextMs: nextBarEndOf(row.symbols, timeframe, nowMs),
    clockMs: nowMs,
  };
  ctx.unschedule('withdraw');
  return { ...row, run, status: 'running', orderMode, dueAt: run.nextMs, error: null, updatedAt: ctx.nowMs };
}

/** Ends the run. Orders being sent are cancelled after they are sent; the others at once. */
export function endRun(row: StrategyRow, error: string | null, ctx: Context): StrategyRow {
  const { run } = row;
  if (row.status !== 'running' || run === null) return row;
  const ended: StrategyRow = { ...row, status: error === null ? 'stopped' : 'error', error, dueAt: null, updatedAt: ctx.nowMs };
  if (error !== null) {
    const data = { reason: 'strategy_stopped', strategy_id: row.id, mode: row.mode === 'test' ? 'test' : row.orderMode, error };
    ctx.emit({ accountId: row.accountId, type: 'trading.attention', data });
  }
  if (run.stage.at === 'placing') return ended;
  if (run.stage.at === 'deciding' || run.stage.at === 'planning') ctx.cancel(run.stage.effectId);
  withdraw(row, ctx);
  return { ...ended, run: { ...run, stage: { at: 'idle' } } };
}

export function withdraw({ accountId, mode }: StrategyRow, ctx: Context): void {
  ctx.run('withdraw', { accountId, mode });
}

export function withdrawn(row: StrategyRow, { outcome }: EffectResult<null>, ctx: Context): StrategyRow {
  if (outcome.kind !== 'done' && row.status !== 'running') ctx.schedule('withdraw', ctx.nowMs + withdrawAgainMs, 'withdrawAgain', {});
  return row;
}

/** The run does what is due. */
export function due(given: StrategyRow, nowMs: number, ctx: Context): StrategyRow {
  if (!isRunning(given) || given.dueAt === null || nowMs < given.dueAt) return given;
  const row = withRun(given, { clockMs: nowMs });
  const { stage, nextMs } = row.run;
  switch (stage.at) {
    case 'placing again':
      return place(row, stage, ctx);
    case 'waiting':
    case 'planning again':
      // The newest bar counts.
      return nowMs < nextMs ? plan(row, stage.at === 'waiting' ? (row.run.bar?.unfinished ?? []) : null, ctx) : decide(row, ctx);
    case 'idle':
    case 'deciding again':
      return decide(row, ctx);
    default:
      // An effect runs; its outcome advances the run.
      return { ...given, dueAt: null };
  }
}

export function decided(
  row: StrategyRow,
  { effectId, outcome }: EffectResult<{ decided: Decided; nowMs: number }>,
  ctx: Context,
): StrategyRow {
  if (!isRunning(row) || !isStageOf(row, 'deciding', effectId)) return row;
  if (outcome.kind === 'failed' && outcome.abandoned)
    return failed(row, 'its decision ended the process that computed it', row.run.clockMs, ctx);
  if (outcome.kind !== 'done') return retryStage(row, { at: 'deciding again' });
  const { decided: found, nowMs } = outcome.value;
  const { run } = row;
  const nextMs = nextBarEndOf(run.symbols, run.timeframe, nowMs);
  switch (found.kind) {
    case 'decided': {
      const { barMs, seen, weights } = found;
      const bar: RunBar = { barMs, unfinished: [], legs: {}, orders: [], skipped: {} };
      const next = { seen, weights: { ...run.weights, ...weights }, bar, failures: 0, lastFailure: null, tries: 0, nextMs, clockMs: nowMs };
      return plan(withRun(row, next), null, ctx);
    }
    case 'no_bar': {
      // A source may have it slightly later.
      const waiting = retryStage(withRun(row, { nextMs, clockMs: nowMs }), { at: 'deciding again' });
      return { ...waiting, dueAt: Math.min(waiting.dueAt!, nextMs) };
    }
    case 'failed':
      return failed(row, found.error, nowMs, ctx);
    case 'stalled':
      if (run.tries + 1 >= maxTriesOfStalled) return failed(row, found.error, nowMs, ctx);
      return retryStage(withRun(row, { nextMs, clockMs: nowMs }), { at: 'deciding again' });
    default:
      return retryStage(row, { at: 'deciding again' });
  }
}

export function planned(row: StrategyRow, { effectId, outcome }: EffectResult<Planned>, ctx: Context): StrategyRow {
  if (!isRunning(row) || !isStageOf(row, 'planning', effectId)) return row;
  if (outcome.kind === 'failed' && outcome.abandoned) return nextBar(row, { unfinished: [] });
  if (outcome.kind !== 'done') return retryStage(row, { at: 'planning again' });
  const { symbols, brokers, skipped, nowMs } = outcome.value;
  const { run } = row;
  const bar = run.bar!;
  const legs = { ...bar.legs };
  const intents = symbols.flatMap((each) => intentOf(row, bar.barMs, legs, brokers[each.symbol]!, each));
  const cancels = symbols.flatMap((each) => each.cancels);
  const targets = { ...run.targets, ...Object.fromEntries(symbols.map(({ symbol, target }) => [symbol, target])) };
  const unfinished = symbols.flatMap(({ symbol, unfinished: isUnfinished }) => (isUnfinished ? [symbol] : []));
  const next = withRun(row, { targets, clockMs: nowMs, bar: { ...bar, legs, unfinished, skipped: { ...bar.skipped, ...skipped } } });
  return intents.length === 0 && cancels.length === 0 ? nextBar(next, {}) : place(next, { cancels, intents }, ctx);
}

export function placed(
  row: StrategyRow,
  { effectId, outcome }: EffectResult<{ orders: PlacedIntent[]; nowMs: number }>,
  ctx: Context,
): StrategyRow {
  const { run } = row;
  if (run === null || run.stage.at !== 'placing' || run.stage.effectId !== effectId) return row;
  const { cancels, intents } = run.stage;
  const orders = outcome.kind === 'done' ? outcome.value.orders : [];
  const clockMs = outcome.kind === 'done' ? outcome.value.nowMs : run.clockMs;
  const bar = { ...run.bar!, orders: [...run.bar!.orders, ...orders] };
  const known: Running = { ...row, run: { ...run, bar, clockMs } };
  if (!isRunning(known)) {
    withdraw(known, ctx);
    return withRun(known, { stage: { at: 'idle' } });
  }
  // The next bar's plan sees whether they were placed; running the effect again could end another process.
  if (outcome.kind === 'failed' && outcome.abandoned) return nextBar(known, { unfinished: [] });
  if (outcome.kind !== 'done') return retryStage(known, { at: 'placing again', cancels, intents });
  const refused = new Set(orders.filter((order) => order.refused !== null).map(({ symbol }) => symbol));
  return nextBar(known, { unfinished: bar.unfinished.filter((symbol) => !refused.has(symbol)) });
}

function intentOf(row: Running, barMs: number, legs: Record<string, number>, brokerKey: string, { symbol, order }: SymbolPlan): Intent[] {
  if (order === null) return [];
  const { accountId, id: strategyId, run } = row;
  const leg = legs[symbol] ?? 0;
  legs[symbol] = leg + 1;
  const id = runOrderId({ accountId, strategyId, barMs, symbol, leg }, barEndOf(symbol, run.timeframe, barMs));
  return [{ orderId: tradingOrderIdOf(tradingAccountIdOf(row), id), symbol, brokerKey, ...order }];
}

function decide(row: Running, ctx: Context): StrategyRow {
  const { accountId, mode, run } = row;
  const { version, symbols, startedMs, seen, capitalOfCode: capital, source, brokers } = run;
  const input = { accountId, mode, version, symbols, startedMs, seen, capital, brokers, ...(source !== undefined && { source }) };
  return beginStage(row, { at: 'deciding', effectId: ctx.run('decide', input) });
}

function plan(row: Running, only: string[] | null, ctx: Context): StrategyRow {
  const { accountId, mode, type, run } = row;
  const { symbols, brokers, capital, weights, targets } = run;
  const input = { accountId, mode, symbols, brokers, capital, isPair: type === 'arbitrage', weights, targets, only };
  return beginStage(row, { at: 'planning', effectId: ctx.run('plan', input) });
}

function place(row: Running, { cancels, intents }: { cancels: string[]; intents: Intent[] }, ctx: Context): StrategyRow {
  const { accountId, mode, orderMode, run } = row;
  const effectId = ctx.run('place', { accountId, mode, orderMode, cancels, intents, untilMs: run.nextMs });
  return beginStage(row, { at: 'placing', effectId, cancels, intents });
}

function failed(row: Running, error: string, nowMs: number, ctx: Context): StrategyRow {
  const { run } = row;
  const failures = run.failures + 1;
  const nextMs = nextBarEndOf(run.symbols, run.timeframe, nowMs);
  const next = withRun(row, { failures, lastFailure: error, nextMs, clockMs: nowMs, tries: 0, stage: { at: 'idle' } });
  return failures < maxFailures ? { ...next, dueAt: nextMs } : endRun(next, error, ctx);
}

/** The bar is finished, or its open orders are awaited. */
function nextBar(row: Running, changes: Pick<Partial<RunBar>, 'unfinished'>): StrategyRow {
  const bar = { ...row.run.bar!, ...changes };
  const next = withRun(row, { bar });
  if (bar.unfinished.length > 0) return retryStage(next, { at: 'waiting' });
  return { ...withRun(next, { stage: { at: 'idle' }, tries: 0 }), dueAt: row.run.nextMs };
}

function retryStage(row: Running, stage: Stage): StrategyRow {
  const { tries, clockMs } = row.run;
  return { ...withRun(row, { stage, tries: tries + 1 }), dueAt: clockMs + backoffMs(tries, firstRetryMs, maxRetryMs) };
}

function beginStage(row: Running, stage: Stage): StrategyRow {
  return { ...withRun(row, { stage }), dueAt: null };
}

function withRun(row: Running, changes: Partial<Run>): Running {
  return { ...row, run: { ...row.run, ...changes } };
}

function isRunning(row: StrategyRow): row is Running {
  return row.status === 'running' && row.run !== null;
}

function isStageOf({ run }: Running, at: 'deciding' | 'planning', effectId: string): boolean {
  return run.stage.at === at && run.stage.effectId === effectId;
}
