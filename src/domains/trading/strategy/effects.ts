/** The effects of a run: deciding, planning, placing orders and cancelling them. Each may be repeated. */
import type { EffectsOf } from '../../../actors/define-actor.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import { type Compute, type Job, JobStalled, JobStopped } from '../../../providers/compute/port.ts';
import type { Database } from '../../../storage/database.ts';
import type { BarsFrom } from '../backtest/job-messages.ts';
import type { Series } from '../bars.ts';
import { isoDate, utcDay } from '../market/calendar.ts';
import type { LocalMarket } from '../market/local-market.ts';
import type { BarsRequest } from '../market/port.ts';
import { parseSymbol } from '../market/symbol.ts';
import { cancelOrder } from '../orders/change-order.ts';
import type { OrderEntryParts } from '../orders/order-entry.ts';
import { placeOrder } from '../orders/place-order.ts';
import { tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import { warmUpBars } from './config.ts';
import type { Decided, DecideJobInput } from './decide-messages.ts';
import { type Decide, type Place, type Plan, type StrategyContract, strategy } from './messages.ts';
import { classesOf, dateBefore } from './next-bar.ts';
import { ownOpenOrders, planRun } from './plan-effect.ts';
import type { Intent, PlacedIntent } from './run.ts';
import { decidingPart, findVersion } from './versions.ts';

export type StrategyEffectParts = {
  database: Database;
  compute: Compute;
  market: Pick<LocalMarket, 'clock' | 'ready'>;
  orderEntry: OrderEntryParts;
};

const module = new URL('./decide-job.ts', import.meta.url);
const builtInJob: Job<DecideJobInput, Decided> = { name: 'decision of a strategy', module, timeMs: 15_000, wallMs: 300_000 };
/** Code has its own limits, in the sandbox; these are the limits of the surrounding jobs. */
const codeJob: Job<DecideJobInput, Decided> = { name: 'decision of code', module, timeMs: 80_000, wallMs: 300_000 };
const checkJob: Job<DecideJobInput, Decided> = { name: 'check of code', module, timeMs: 10_000, wallMs: 300_000 };
/** At most this many missed bars are observed. */
const maxMissed = 10_000;
const maxBarsOfCode = 100_000;

/** Refusals that a caller would get for the order; any other error may be temporary. */
const refusals: readonly ErrorCode[] = ['conflict', 'invalid', 'plan_required', 'forbidden', 'not_found'];

export function strategyEffects(parts: StrategyEffectParts): EffectsOf<StrategyContract> {
  const { market, orderEntry } = parts;
  const nowMs = () => market.clock.nowMs();
  const common = { repeatable: () => true } as const;
  return {
    decide: {
      ...common,
      outcome: 'decided',
      // Bars are read first, and the job waits for its turn.
      timeoutMs: codeJob.wallMs + 100_000,
      async run(input, { actorId, signal }) {
        await market.ready;
        // Bars that are complete now: the next decision time follows from the same moment.
        const atMs = nowMs();
        return { decided: await decide(parts, actorId, input, atMs, signal), nowMs: atMs };
      },
    },
    plan: {
      ...common,
      outcome: 'planned',
      timeoutMs: 60_000,
      lane: 'vital',
      async run(input, { actorId }) {
        await market.ready;
        return planRun(orderEntry, actorId, input, nowMs);
      },
    },
    place: {
      ...common,
      outcome: 'placed',
      timeoutMs: 120_000,
      lane: 'vital',
      async run(input, { actorId }) {
        await market.ready;
        await cancelAll(orderEntry, input, input.cancels);
        const orders: PlacedIntent[] = [];
        for (const intent of input.intents) orders.push({ ...intent, refused: await place(orderEntry, actorId, input, intent, nowMs) });
        return { orders, nowMs: nowMs() };
      },
    },
    withdraw: {
      ...common,
      outcome: 'withdrawn',
      timeoutMs: 60_000,
      lane: 'vital',
      async run(owner, { actorId }) {
        const row = await orderEntry.actors.query(strategy, actorId, 'get', null);
        // The strategy was restarted: the new run examines the open orders itself.
        if (row?.status === 'running') return null;
        await cancelAll(
          orderEntry,
          owner,
          ownOpenOrders(await orderEntry.actors.query(tradingAccount, tradingAccountIdOf(owner), 'get', null), actorId),
        );
        return null;
      },
    },
  };
}

/** Whether a caller's code can be used; null, or its fault. Throws `overloaded` and `unavailable`, and the signal's reason. */
export async function codeFault(compute: Compute, account: string, code: string, signal: AbortSignal): Promise<string | null> {
  const found = await decidedBy(compute, checkJob, { task: 'check', code }, account, signal);
  return found.kind === 'failed' ? found.error : null;
}

async function decide(
  { database, compute, orderEntry }: StrategyEffectParts,
  strategyId: string,
  { accountId, mode, version, symbols, startedMs, seen, capital, source, brokers = {} }: Decide,
  nowMs: number,
  signal: AbortSignal,
): Promise<Decided> {
  const row = await findVersion(database, { accountId, id: strategyId }, version);
  if (row === null) throw new Error(`${strategyId} has no version ${version}`);
  const deciding = decidingPart(row);
  const { timeframe = '1d', warm_up_bars: warmUp = 0 } = row.settings;
  const isCode = deciding.type === 'custom';
  const [before, maxBars] = isCode ? [warmUp, maxBarsOfCode] : [warmUpBars(deciding), maxMissed + warmUpBars(deciding)];
  // Code sees its whole run again; other types continue from the last bar of each symbol.
  const lastBars = isCode ? [] : Object.values(seen).map(({ lastMs }) => lastMs);
  // A symbol without a bar so far may get its first one at any time after the start.
  const fromMs = lastBars.length < (deciding.type === 'arbitrage' ? 1 : symbols.length) ? startedMs : Math.min(...lastBars);
  // Only the needed bars of a broker are requested: each request counts against its limits.
  const classes = source === undefined ? undefined : classesOf(symbols);
  const [start, earliest] = [
    dateBefore(before, timeframe, Math.min(fromMs, nowMs), classes),
    dateBefore(maxBars, timeframe, nowMs, classes),
  ];
  const period = { timeframe, start: start < earliest ? earliest : start, end: isoDate(utcDay(nowMs)) };
  const bars: BarsFrom =
    source === undefined
      ? { kind: 'embedded', symbols, ...period, nowMs }
      : {
          kind: 'columns',
          series: await barsOfBroker(orderEntry, { accountId, mode, brokers }, symbols, period, signal),
          daily: timeframe === '1d',
        };
  const input: DecideJobInput = {
    task: 'decide',
    strategy: deciding,
    bars,
    timeframe,
    startedMs,
    seen,
    capital,
    warmUp,
  };
  return decidedBy(compute, isCode ? codeJob : builtInJob, input, accountId, signal);
}

/** Throws `unavailable` if the broker's bars are unavailable now: a run that began with them uses no others. */
async function barsOfBroker(
  { prices }: OrderEntryParts,
  { brokers, ...owner }: AccountMode & Pick<Plan, 'brokers'>,
  symbols: readonly string[],
  period: Pick<BarsRequest, 'timeframe' | 'start' | 'end'>,
  signal: AbortSignal,
): Promise<Series[]> {
  const series: Series[] = [];
  for (const symbol of symbols) {
    const brokerKey = brokers[parseSymbol(symbol)!.assetClass];
    const found = await prices.barsOf?.(owner, { symbol, ...period, adjusted: true, signal }, brokerKey);
    if (found === undefined || found === null || found === 'own')
      throw new AppError('unavailable', `The broker returned no bars of ${symbol}`);
    series.push({ symbol, bars: found.bars });
  }
  return series;
}

async function decidedBy(
  compute: Compute,
  job: Job<DecideJobInput, Decided>,
  input: DecideJobInput,
  account: string,
  signal: AbortSignal,
): Promise<Decided> {
  try {
    return await compute.run(job, input, { account, signal });
  } catch (error) {
    if (error instanceof JobStalled && input.task === 'decide') return { kind: 'stalled', error: error.message };
    if (!(error instanceof JobStopped)) throw error;
    // Code runs in a process below the one that ended: it is not known to be at fault.
    if (error.reason === 'crash' && input.task === 'check')
      throw new AppError('unavailable', 'The code could not be checked', { retryAfterS: 1 });
    return { kind: 'failed', error: `the decision was stopped: ${error.message}` };
  }
}

/** null, or why the order is refused. Throws errors that may be temporary. */
async function place(
  orderEntry: OrderEntryParts,
  strategyId: string,
  of: Place,
  intent: Intent,
  nowMs: () => number,
): Promise<string | null> {
  const { orderId, symbol, side, quantity, brokerKey } = intent;
  const { accountId, mode, orderMode } = of;
  if (nowMs() >= of.untilMs) {
    const known = await orderEntry.actors.query(tradingOrder, orderId, 'get', null);
    return known === null ? 'the next bar was complete before it could be sent' : null;
  }
  const form = { symbol, side, quantity: Number(quantity), order_type: 'market', broker_id: brokerKey, mode: orderMode } as const;
  try {
    await placeOrder(orderEntry, { accountId, mode, strategyId }, form, { orderId, commandId: undefined });
    return null;
  } catch (error) {
    if (error instanceof AppError && refusals.includes(error.code)) return error.message;
    throw error;
  }
}

async function cancelAll(orderEntry: OrderEntryParts, owner: AccountMode, orderIds: readonly string[]): Promise<void> {
  for (const orderId of orderIds) {
    try {
      await cancelOrder(orderEntry, { accountId: owner.accountId, mode: owner.mode }, orderId);
    } catch (error) {
      // It has ended meanwhile.
      if (!(error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found'))) throw error;
    }
  }
}
