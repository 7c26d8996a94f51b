/** The summary figures of a backtest. They are computed from unrounded equity and rounded once, at the end. */
import { dayMs } from '../bars.ts';
import type { Simulation } from './engine.ts';

export type Metrics = {
  /** null: not finite, as for a few short bars, of which a year has very many. */
  cagr_pct: number | null;
  sharpe: number;
  max_drawdown_pct: number;
  longest_drawdown_bars: number;
  trades: number;
  win_rate_pct: number;
  exposure_pct: number;
  turnover: number;
};

/** The deviation that rounding alone gives to equal returns. */
const minDeviation = 1e-13;

/** A bar's share of a year: 252 trading days, or 365 if a bar is on a weekend, times the median number of bars a day. */
export function periodsPerYear(time: Float64Array): number {
  return hasLongBars(time) ? (hasWeekends(time) ? 365 : 252) : periodsOfShortBars(time);
}

/** Bars of a day or longer: no day has two. */
function hasLongBars(time: Float64Array): boolean {
  for (let t = 1; t < time.length; t++) if (time[t]! - time[t - 1]! < dayMs) return false;
  return time.length > 0;
}

function hasWeekends(time: Float64Array): boolean {
  for (let t = 0; t < time.length; t++) if (isOnWeekend(Math.floor(time[t]! / dayMs))) return true;
  return false;
}

/** @param day since 1970-01-01, which was a Thursday */
function isOnWeekend(day: number): boolean {
  const sinceSunday = ((day + 4) | 0) % 7;
  return sinceSunday === 0 || sinceSunday === 6 || sinceSunday === -1;
}

function periodsOfShortBars(time: Float64Array): number {
  let weekends = false;
  const perDay = new Int32Array(time.length);
  let days = 0;
  let uniform = true;
  for (let t = 0; t < time.length; days++) {
    const day = Math.floor(time[t]! / dayMs);
    const end = (day + 1) * dayMs;
    const first = t++;
    while (t < time.length && time[t]! < end) t++;
    perDay[days] = t - first;
    if (t - first !== perDay[0]) uniform = false;
    if (!weekends) weekends = isOnWeekend(day);
  }
  return (weekends ? 365 : 252) * (uniform ? (perDay[0] ?? 1) : median(perDay.subarray(0, days)));
}

export function metricsOf(simulation: Simulation, initialCapital: number, periods: number): Metrics {
  const { equity, trades, heldBars, tradedNotional } = simulation;
  const bars = equity.length;
  const { maxDrawdown, longestDrawdown, mean, deviation, meanEquity } = passOver(equity, initialCapital);
  let wins = 0;
  for (let i = 0; i < trades.count; i++) if (trades.profit[i]! > 0) wins++;
  return {
    cagr_pct: finiteOrNull(places(100 * cagr(equity[bars - 1]! / initialCapital, periods / bars), 4)),
    sharpe: deviation === 0 ? 0 : places((mean / deviation) * Math.sqrt(periods), 4),
    max_drawdown_pct: places(100 * maxDrawdown, 4),
    longest_drawdown_bars: longestDrawdown,
    trades: trades.count,
    win_rate_pct: trades.count === 0 ? 0 : places((100 * wins) / trades.count, 4),
    exposure_pct: places((100 * heldBars) / bars, 4),
    turnover: meanEquity > 0 ? places(tradedNotional / meanEquity, 4) : 0,
  };
}

/** Rounds to this many decimal places, halves upwards; never -0. Beyond 2^53 units of the last place a double is returned unchanged. */
export function places(value: number, digits: number): number {
  const scale = 10 ** digits;
  const scaled = value * scale;
  return Math.abs(scaled) < Number.MAX_SAFE_INTEGER ? Math.round(scaled) / scale + 0 : value;
}

const finiteOrNull = (value: number) => (Number.isFinite(value) ? value : null);

/** An account that has lost everything or more has lost 100 % a year. */
function cagr(growth: number, exponent: number): number {
  return growth > 0 ? growth ** exponent - 1 : -1;
}

type Passed = { maxDrawdown: number; longestDrawdown: number; mean: number; deviation: number; meanEquity: number };

/**
 * One pass over equity, because a second one costs as much: drawdowns and the returns between bars; fewer than two returns have no
 * deviation.
 */
function passOver(equity: Float64Array, initialCapital: number): Passed {
  const count = equity.length - 1;
  const returns = new Float64Array(Math.max(0, count));
  let peak = initialCapital;
  let peakBar = -1;
  let maxDrawdown = 0;
  let longestDrawdown = 0;
  /** The lowest equity since the peak. */
  let lowest = peak;
  let total = 0;
  let sum = 0;
  let before = Number.NaN;
  for (let t = 0; t <= count; t++) {
    const value = equity[t]!;
    sum += value;
    if (t > 0) {
      const gain = value / before - 1;
      returns[t - 1] = gain;
      total += gain;
    }
    before = value;
    if (value >= peak) {
      if (lowest < peak) {
        maxDrawdown = Math.max(maxDrawdown, (peak - lowest) / peak);
        longestDrawdown = Math.max(longestDrawdown, t - 1 - peakBar);
      }
      peak = lowest = value;
      peakBar = t;
    } else if (value < lowest) lowest = value;
  }
  if (lowest < peak) {
    maxDrawdown = Math.max(maxDrawdown, (peak - lowest) / peak);
    longestDrawdown = Math.max(longestDrawdown, count - peakBar);
  }
  return { maxDrawdown, longestDrawdown, ...deviationOf(returns, total), meanEquity: sum / equity.length };
}

function deviationOf(returns: Float64Array, total: number): { mean: number; deviation: number } {
  const count = returns.length;
  if (count < 2) return { mean: 0, deviation: 0 };
  const mean = total / count;
  let squares = 0;
  for (let t = 0; t < count; t++) squares += (returns[t]! - mean) * (returns[t]! - mean);
  const deviation = Math.sqrt(squares / (count - 1));
  // A return from an equity of 0 is not a number; equal returns must not deviate by their rounding.
  const known = deviation > minDeviation && Number.isFinite(mean / deviation);
  return { mean, deviation: known ? deviation : 0 };
}

function median(counts: Int32Array): number {
  const sorted = counts.sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
