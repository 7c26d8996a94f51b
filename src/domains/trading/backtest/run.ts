/** One backtest, from bars to figures. It reads no clock, random number or file: equal input gives equal bytes. */
import type { JobContext } from '../../../providers/compute/port.ts';
import type { Series } from '../bars.ts';
import { codeHash, type Strategy } from '../strategy/config.ts';
import { buyAndHold } from './buy-and-hold.ts';
import { type CurvePoint, cents, thinCurve } from './curve.ts';
import { checkEquity, customWeights } from './custom.ts';
import { engineVersion, type Simulation, simulate, type Terms } from './engine.ts';
import { BacktestFailed } from './failed.ts';
import { alignAll, alignCommon, countBars, type Market } from './market.ts';
import { type Metrics, metricsOf, periodsPerYear, places } from './metrics.ts';
import { targetWeights } from './weights.ts';

export const backtestLimits = {
  /** Bars of all symbols together. */
  bars: 5_000_000,
  sweepRuns: 500,
  /** Concurrent runs of one account; more wait. */
  atOnce: 4,
} as const;

export type Summary = {
  final_value: number;
  total_return_pct: number;
  metrics: Metrics;
  /** The benchmark: buying all symbols in equal shares with the first order, and holding them. */
  benchmark: { final_value: number; total_return_pct: number };
  bars: number;
  periods_per_year: number;
  /** Dates of the first and the last bar, as times. */
  first_ms: number;
  last_ms: number;
  commission_paid: number;
  engine_version: string;
  code_hash: string;
  equity_curve: CurvePoint[];
  equity_curve_step: number;
};

export type Tested = { market: Market; simulation: Simulation; summary: Summary };

/** The bars of the strategy, aligned. Throws `BacktestFailed` if they are not enough for a backtest. */
export function marketOf(strategy: Strategy, series: readonly Series[]): Market {
  if (strategy.type === 'arbitrage') {
    const pair = strategy.config.pair.map((symbol) => series.find((each) => each.symbol === symbol));
    if (pair.length !== 2 || pair.some((each) => each === undefined))
      throw new BacktestFailed('arbitrage needs the bars of both of its symbols');
    return checked(alignCommon(pair as Series[]), 'dates that both symbols have');
  }
  return checked(alignAll(series), 'bars in the period');
}

function checked(market: Market, what: string): Market {
  if (market.symbols.length === 0 || market.time.length < 2) throw new BacktestFailed(`there are fewer than two ${what}`);
  const bars = countBars(market);
  if (bars > backtestLimits.bars)
    throw new BacktestFailed(`${bars} bars are more than the ${backtestLimits.bars} that one backtest may have`);
  return market;
}

export const divisorOf = (strategy: Strategy, market: Market): number => (strategy.type === 'arbitrage' ? 1 : market.symbols.length);

type RunOptions = {
  daily: boolean;
  /** Required for strategies of type custom. */
  openGuest?: JobContext['openGuest'];
  onProgress?: (share: number) => unknown;
};

export async function runBacktest(strategy: Strategy, market: Market, terms: Terms, options: RunOptions): Promise<Tested> {
  const { daily, openGuest, onProgress } = options;
  const divisor = divisorOf(strategy, market);
  let simulation: Simulation;
  if (strategy.type === 'custom') {
    if (openGuest === undefined) throw new BacktestFailed('code cannot be run here');
    const { code } = strategy.config;
    const custom = await customWeights({ code, market, daily, terms, openGuest, ...(onProgress && { onProgress }) });
    simulation = simulate(market, custom.weights, divisor, terms);
    checkEquity(custom.equityHash, simulation.equity);
  } else {
    const weights = targetWeights(strategy, market);
    await onProgress?.(0.5);
    simulation = simulate(market, weights, divisor, terms);
  }
  await onProgress?.(1);
  return { market, simulation, summary: summaryOf(strategy, market, simulation, terms, daily) };
}

function summaryOf(strategy: Strategy, market: Market, simulation: Simulation, terms: Terms, daily: boolean): Summary {
  const { time } = market;
  const { equity } = simulation;
  const { initialCapital } = terms;
  const final = equity[equity.length - 1]!;
  const held = buyAndHold(market, terms);
  if (!Number.isFinite(final) || !Number.isFinite(held)) throw new BacktestFailed('the equity exceeds the range of numbers');
  const periods = periodsPerYear(time);
  const { points, step } = thinCurve(time, equity, daily);
  return {
    final_value: cents(final),
    total_return_pct: places(100 * (final / initialCapital - 1), 4),
    metrics: metricsOf(simulation, initialCapital, periods),
    benchmark: { final_value: cents(held), total_return_pct: places(100 * (held / initialCapital - 1), 4) },
    bars: countBars(market),
    periods_per_year: periods,
    first_ms: time[0]!,
    last_ms: time[time.length - 1]!,
    commission_paid: cents(simulation.commission),
    engine_version: engineVersion,
    code_hash: codeHash(strategy),
    equity_curve: points,
    equity_curve_step: step,
  };
}
