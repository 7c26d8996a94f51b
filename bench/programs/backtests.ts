/** Backtests as the service computes them: decisions, fills, trade list, equity, metrics; and code of callers in the sandbox with its check by the engine. */
import { readFileSync } from 'node:fs';
import { simulate } from '../../src/domains/trading/backtest/engine.ts';
import { alignAll, type Market } from '../../src/domains/trading/backtest/market.ts';
import { metricsOf, periodsPerYear } from '../../src/domains/trading/backtest/metrics.ts';
import { runBacktest } from '../../src/domains/trading/backtest/run.ts';
import { targetWeights } from '../../src/domains/trading/backtest/weights.ts';
import type { BuiltInStrategy } from '../../src/domains/trading/strategy/config.ts';
import { openGuest } from '../../src/providers/sandbox/batches.ts';
import { type BarsLoad, measured, seriesOf, yearsOfMinutes } from '../support/bars-load.ts';
import { serveCalls } from '../support/program.ts';

let guestMarket: Market | undefined;
const terms = { initialCapital: 100_000, commissionBps: 1, slippageBps: 1 };

serveCalls({
  /** Each symbol by itself, or all as one portfolio. */
  bars({ load, strategy, together, ms }: { load: BarsLoad; strategy: BuiltInStrategy; together: boolean; ms: number }) {
    const series = seriesOf(load);
    const markets = together ? [alignAll(series)] : series.map((each) => alignAll([each]));
    const bars = markets.reduce((sum, market) => sum + market.time.length * market.symbols.length, 0);
    return measured(ms, bars, () => {
      for (const market of markets) {
        const simulation = simulate(market, targetWeights(strategy, market), market.symbols.length, terms);
        metricsOf(simulation, terms.initialCapital, periodsPerYear(market.time));
      }
    });
  },

  /** A whole run with the start of its process, in processor time of both processes. */
  async guest({ code, years }: { code: string; years: number }) {
    const market = (guestMarket ??= alignAll([yearsOfMinutes(years)]));
    const signal = new AbortController().signal;
    const beganMs = spentMs();
    await runBacktest({ type: 'custom', config: { code } }, market, terms, {
      daily: false,
      openGuest: (options) => openGuest({ ...options, signal }),
    });
    return { perSecond: (market.time.length * 1_000) / (spentMs() - beganMs) };
  },
});

/** Processor time of this process and of those it started that have ended; where the system does not report it, the clock. */
function spentMs(): number {
  const { user, system } = process.cpuUsage();
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return performance.now();
  }
}
