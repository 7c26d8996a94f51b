/** Backtests and sweeps on a node: their actors and routes. */
import type { Platform, StartedDomain } from '../../domain.ts';
import type { TradingParts } from '../open.ts';
import { backtestRoutes } from '../routes/backtests.ts';
import { sweepRoutes } from '../routes/sweeps.ts';
import { sweep } from '../sweep/messages.ts';
import { sweepActor } from '../sweep/sweep.ts';
import { backtestActor } from './backtest.ts';
import { computeBacktest, computeSweep } from './compute-effect.ts';
import { backtest } from './messages.ts';
import { BacktestRunner } from './runner.ts';
import { StoredResults } from './stored-results.ts';

export type StartedBacktests = Required<Pick<StartedDomain, 'actors' | 'routes'>> & { runner: BacktestRunner };

export function startBacktests(platform: Platform, { market, stats }: Pick<TradingParts, 'market' | 'stats'>): StartedBacktests {
  const { actors, database, files, compute, log } = platform;
  const results = new StoredResults(files);
  const runner = new BacktestRunner(compute, stats);
  const parts = { actors, database, files, log, results, runner };
  const effects = { backtest: { compute: computeBacktest(parts, backtest) }, sweep: { compute: computeSweep(parts, sweep) } };
  return {
    runner,
    actors: [backtestActor(effects.backtest), sweepActor(effects.sweep)],
    routes: [...backtestRoutes({ ...platform, market, results }), ...sweepRoutes({ ...platform, market, results })],
  };
}
