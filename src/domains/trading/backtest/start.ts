/** Backtests and sweeps on a node: their actors and routes. */
import type { Platform, StartedDomain } from '../../domain.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { backtestRoutes } from '../routes/backtests.ts';
import { sweepRoutes } from '../routes/sweeps.ts';
import { sweep } from '../sweep/messages.ts';
import { sweepActor } from '../sweep/sweep.ts';
import { backtestActor } from './backtest.ts';
import { computeBacktest, computeSweep } from './compute-effect.ts';
import { backtest } from './messages.ts';
import { BacktestRunner } from './runner.ts';
import { StoredResults } from './stored-results.ts';

export function startBacktests(platform: Platform, market: LocalMarket): Required<Pick<StartedDomain, 'actors' | 'routes'>> {
  const { actors, files, compute } = platform;
  const results = new StoredResults(files);
  const parts = { actors, files, results, runner: new BacktestRunner(compute) };
  const effects = { backtest: { compute: computeBacktest(parts, backtest) }, sweep: { compute: computeSweep(parts, sweep) } };
  return {
    actors: [backtestActor(effects.backtest), sweepActor(effects.sweep)],
    routes: [...backtestRoutes({ ...platform, market, results }), ...sweepRoutes({ ...platform, market, results })],
  };
}
