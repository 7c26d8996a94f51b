/** The bars that backtests are measured over, and how: in processor time, since a backtest is computed on one core. */
import type { Series } from '../../src/domains/trading/bars.ts';
import { minuteTimes, randomBars } from '../../test/domains/trading/backtest/random-bars.ts';

export type BarsLoad = 'minutes' | 'days' | 'dense';

/** A year of one-minute bars of one symbol, also in prices that turn about at every bar, and ten years of days of a hundred. */
export function seriesOf(load: BarsLoad): Series[] {
  if (load === 'days') return Array.from({ length: 100 }, (_, s) => ({ symbol: `S${s}`, bars: randomBars({ seed: s, bars: 2_520 }) }));
  const time = minuteTimes(252);
  const bars = randomBars({ seed: 1, bars: time.length, volatility: 0.001 });
  if (load === 'dense') bars.close.forEach((_, i) => (bars.close[i] = i % 2 === 0 ? 100 : 101));
  return [{ symbol: 'A', bars: { ...bars, time } }];
}

/** So many years of one-minute bars. */
export function yearsOfMinutes(years: number): Series {
  const time = minuteTimes(252 * years);
  return { symbol: 'A', bars: { ...randomBars({ seed: 1, bars: time.length, volatility: 0.001 }), time } };
}

export async function measured(ms: number, bars: number, work: () => unknown): Promise<{ perSecond: number }> {
  const beganMs = performance.now();
  const began = process.cpuUsage();
  let done = 0;
  do {
    await work();
    done += bars;
  } while (performance.now() - beganMs < ms);
  const { user, system } = process.cpuUsage(began);
  return { perSecond: (done * 1e6) / (user + system) };
}
