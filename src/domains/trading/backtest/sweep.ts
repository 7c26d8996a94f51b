/**
 * Many backtests over a grid of parameters. The best of many runs overstates the strategy, so the answer contains the number of runs and the result
 * of choosing by past bars alone (walk-forward): the bars are split into equal parts, and each part except the first counts the run that was best
 * over all earlier parts.
 */
import Value from 'typebox/value';
import type { Issue } from '../../../errors.ts';
import { type BuiltInStrategy, configForms, configIssues } from '../strategy/config.ts';
import { type Simulation, simulate, type Terms } from './engine.ts';
import { cutMarket, type Market } from './market.ts';
import { type Metrics, metricsOf, periodsPerYear, places } from './metrics.ts';
import { backtestLimits, divisorOf } from './run.ts';
import { targetWeights } from './weights.ts';

/** The values to try of each parameter. */
export type Grid = Readonly<Record<string, readonly number[]>>;
export type Parameters = Readonly<Record<string, number>>;
export const rankings = ['sharpe', 'total_return_pct', 'cagr_pct', 'max_drawdown_pct'] as const;
export type Ranking = (typeof rankings)[number];

export type Figures = { final_value: number; total_return_pct: number; metrics: Metrics };
export type SweepRun = {
  parameters: Parameters;
  whole: Figures;
  folds: { before: Figures; after: Figures }[];
};
/** Times of the first and the last bar of an out-of-sample part. */
export type Part = { first_ms: number; last_ms: number };
export type Fold = { parameters: Parameters; in_sample: Figures; out_of_sample: Figures } & Part;
export type Sweep = {
  tried: number;
  ranked_by: Ranking;
  best_run: { parameters: Parameters } & Figures;
  runs: ({ parameters: Parameters } & Figures)[];
  walk_forward: {
    folds: Fold[];
    /** The folds chained: each begins with the equity at the end of the previous one. */
    out_of_sample_return_pct: number;
  };
};

export const walkForwardParts = 5;

/** Every combination; the last parameter changes fastest. */
export function combinations(grid: Grid): Parameters[] {
  return Object.entries(grid).reduce<Parameters[]>(
    (all, [name, values]) => all.flatMap((parameters) => values.map((value) => ({ ...parameters, [name]: value }))),
    [{}],
  );
}

/** The faults of a grid, found before anything is computed. The places of the issues begin with `at`. */
export function gridIssues(strategy: BuiltInStrategy, grid: Grid, at: readonly string[]): Issue[] {
  const issue = (loc: string[], msg: string, type: string, ctx = {}): Issue => ({
    loc: [...at, ...loc],
    msg,
    type,
    input: loc.length === 0 ? grid : (grid[loc[0]!] ?? null),
    ctx,
  });
  const names = Object.keys(grid);
  const known = strategy.type === 'momentum' ? ['lookback'] : ['lookback', 'z_entry', 'z_exit'];
  const unexpected = names.filter((name) => !known.includes(name));
  if (unexpected.length > 0)
    return unexpected.map((name) =>
      issue([name], `${strategy.type} has no parameter ${name} to vary`, 'unknown_parameter', { allowed: known }),
    );
  const runs = names.reduce((product, name) => product * grid[name]!.length, names.length === 0 ? 0 : 1);
  if (runs < 1) return [issue([], 'A sweep needs at least one value of at least one parameter', 'too_short')];
  if (runs > backtestLimits.sweepRuns)
    return [
      issue([], `${runs} combinations are more than ${backtestLimits.sweepRuns}`, 'too_many_runs', {
        limit: backtestLimits.sweepRuns,
        runs,
      }),
    ];
  for (const parameters of combinations(grid)) {
    const { type, config } = withParameters(strategy, parameters);
    if (!Value.Check(configForms[type], config))
      return [issue([], `The combination ${JSON.stringify(parameters)} is not a valid configuration of ${type}`, 'invalid_parameter')];
    const [first] = configIssues({ type, config } as BuiltInStrategy, []);
    if (first !== undefined)
      return [issue([first.loc.at(-1)!], `${first.msg}, in the combination ${JSON.stringify(parameters)}`, first.type)];
  }
  return [];
}

export function withParameters(strategy: BuiltInStrategy, parameters: Parameters): BuiltInStrategy {
  return { ...strategy, config: { ...strategy.config, ...parameters } } as BuiltInStrategy;
}

/** One combination, over all bars and, for the walk-forward, over the parts. */
export function sweepRun(strategy: BuiltInStrategy, parameters: Parameters, market: Market, terms: Terms): SweepRun {
  const varied = withParameters(strategy, parameters);
  const over = (part: Market) => figuresOf(simulate(part, targetWeights(varied, part), divisorOf(varied, part), terms), part, terms);
  const folds = partBounds(market).map(([from, to]) => ({
    before: over(cutMarket(market, 0, from)),
    after: over(cutMarket(market, from, to)),
  }));
  return { parameters, whole: over(market), folds };
}

/** Combines the runs of a sweep. Of equal runs the earlier one ranks first. */
export function rankSweep(runs: readonly SweepRun[], parts: readonly Part[], by: Ranking): Sweep {
  const best = bestBy(runs, by, ({ whole }) => whole);
  let growth = 1;
  const folds = parts.map((part, at): Fold => {
    const chosen = bestBy(runs, by, (run) => run.folds[at]!.before);
    const { before, after } = chosen.folds[at]!;
    growth *= 1 + after.total_return_pct / 100;
    return { parameters: chosen.parameters, in_sample: before, out_of_sample: after, ...part };
  });
  return {
    tried: runs.length,
    ranked_by: by,
    best_run: { parameters: best.parameters, ...best.whole },
    runs: runs.map(({ parameters, whole }) => ({ parameters, ...whole })),
    walk_forward: { folds, out_of_sample_return_pct: places(100 * (growth - 1), 4) },
  };
}

export function partsOf(market: Market): Part[] {
  return partBounds(market).map(([from, to]) => ({ first_ms: market.time[from]!, last_ms: market.time[to - 1]! }));
}

/** The rows of each part except the first; none if parts would have fewer than two bars. */
function partBounds({ time }: Market): [from: number, to: number][] {
  if (time.length < 2 * walkForwardParts) return [];
  const at = (part: number) => Math.floor((time.length * part) / walkForwardParts);
  return Array.from({ length: walkForwardParts - 1 }, (_, part) => [at(part + 1), at(part + 2)]);
}

function bestBy(runs: readonly SweepRun[], by: Ranking, figures: (run: SweepRun) => Figures): SweepRun {
  const worth = (run: SweepRun) => {
    const { total_return_pct, metrics } = figures(run);
    if (by === 'total_return_pct') return total_return_pct;
    return by === 'max_drawdown_pct' ? -metrics.max_drawdown_pct : (metrics[by] ?? total_return_pct);
  };
  return runs.reduce((best, run) => (worth(run) > worth(best) ? run : best));
}

function figuresOf(simulation: Simulation, { time }: Market, terms: Terms): Figures {
  const final = simulation.equity[time.length - 1]!;
  return {
    final_value: places(final, 2),
    total_return_pct: places(100 * (final / terms.initialCapital - 1), 4),
    metrics: metricsOf(simulation, terms.initialCapital, periodsPerYear(time)),
  };
}
