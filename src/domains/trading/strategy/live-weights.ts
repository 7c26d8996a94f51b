/**
 * The decisions of a built-in strategy in a run, by the deciders of backtests: these observe the bars before the last decision, or before the run, and
 * then get each new bar in order, including missed bars. The weight after the newest bar counts.
 */

import { alignCommon } from '../backtest/market.ts';
import type { Series } from '../bars.ts';
import { type BuiltInStrategy, warmUpBars } from './config.ts';
import { Arbitrage, deciderOf, type Held } from './deciders.ts';

/** For a symbol, or for a pair under the name `pairKey`: the newest bar that was decided on, and the holding after it. */
export type Seen = Record<string, { lastMs: number; held: Held }>;
export type LiveWeights = {
  /** The newest bar of all symbols. */
  barMs: number;
  /** The weights of symbols with a new bar. */
  weights: Record<string, number>;
  seen: Seen;
};

export const pairKey = 'pair';

/**
 * null: there is no new bar.
 *
 * @param isAfterStart whether the bar that begins then is one of the run: it was complete only after the start
 */
export function liveWeights(
  strategy: BuiltInStrategy,
  series: readonly Series[],
  seen: Seen,
  isAfterStart: (symbol: string, timeMs: number) => boolean,
): LiveWeights | null {
  const found: LiveWeights = { barMs: 0, weights: {}, seen: { ...seen } };
  const enter = (key: string, time: Float64Array, symbol: string, follow: (from: number, first: number, held: Held) => Held): void => {
    const before = seen[key];
    const isNew = (row: number) => (before === undefined ? isAfterStart(symbol, time[row]!) : time[row]! > before.lastMs);
    let first = time.length;
    while (first > 0 && isNew(first - 1)) first--;
    if (first === time.length) return;
    const held = follow(Math.max(0, first - warmUpBars(strategy)), first, before?.held ?? 0);
    const lastMs = time[time.length - 1]!;
    found.seen[key] = { lastMs, held };
    found.barMs = Math.max(found.barMs, lastMs);
  };

  if (strategy.type === 'arbitrage') {
    const [a, b] = strategy.config.pair as [string, string];
    const market = alignCommon([a, b].map((symbol) => series.find((each) => each.symbol === symbol)!));
    const [closesA, closesB] = market.columns.map(({ close }) => close) as [Float64Array, Float64Array];
    enter(pairKey, market.time, a, (from, first, held) => {
      const decider = new Arbitrage(strategy.config);
      for (let row = from; row < first; row++) decider.observe(closesA[row]!, closesB[row]!);
      decider.held = held;
      for (let row = first; row < market.time.length; row++) {
        const weight = decider.decide(closesA[row]!, closesB[row]!);
        found.weights[a] = weight;
        found.weights[b] = weight === 0 ? 0 : -weight;
      }
      return decider.held;
    });
  } else {
    for (const { symbol, bars } of series)
      enter(symbol, bars.time, symbol, (from, first, held) => {
        const decider = deciderOf(strategy);
        for (let row = from; row < first; row++) decider.observe(bars.close[row]!);
        decider.held = held;
        for (let row = first; row < bars.time.length; row++) found.weights[symbol] = decider.decide(bars.close[row]!);
        return decider.held;
      });
  }
  return found.barMs === 0 ? null : found;
}
