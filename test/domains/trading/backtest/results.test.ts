/** Backtests calculated by hand, and their results: figures, curve, files. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { curveCsv, curveSvg, money, thinCurve } from '../../../../src/domains/trading/backtest/curve.ts';
import { simulate, type Terms } from '../../../../src/domains/trading/backtest/engine.ts';
import { alignAll, alignCommon } from '../../../../src/domains/trading/backtest/market.ts';
import { metricsOf, periodsPerYear } from '../../../../src/domains/trading/backtest/metrics.ts';
import { marketOf, runBacktest } from '../../../../src/domains/trading/backtest/run.ts';
import { combinations, type Grid, gridIssues, partsOf, rankSweep, sweepRun } from '../../../../src/domains/trading/backtest/sweep.ts';
import { tradesCsv } from '../../../../src/domains/trading/backtest/trades-csv.ts';
import { type BarColumns, dataHash } from '../../../../src/domains/trading/bars.ts';
import { dividendsOf } from '../../../../src/domains/trading/market/bars.ts';
import type { BuiltInStrategy, Strategy } from '../../../../src/domains/trading/strategy/config.ts';
import { minuteTimes, randomBars } from './random-bars.ts';

const dayMs = 86_400_000;
/** Days from Monday, 2024-01-01 on; opens and closes as given. */
function days(prices: [open: number, close: number][], at: number[] = prices.map((_, i) => i)): BarColumns {
  const column = (value: (i: number) => number) => Float64Array.from(prices, (_, i) => value(i));
  return {
    time: column((i) => Date.UTC(2024, 0, 1) + at[i]! * dayMs),
    open: column((i) => prices[i]![0]),
    high: column((i) => Math.max(...prices[i]!)),
    low: column((i) => Math.min(...prices[i]!)),
    close: column((i) => prices[i]![1]),
    volume: column(() => 1_000),
  };
}
const free: Terms = { initialCapital: 1_000, commissionBps: 0, slippageBps: 0 };
const one = (bars: BarColumns) => alignAll([{ symbol: 'A', bars }]);
const text = (pieces: Iterable<Uint8Array>) => Buffer.concat([...pieces]).toString();

test('a weight is an order for the next open, pays slippage and commission, and the last one is dropped', () => {
  const market = one(
    days([
      [10, 10],
      [10, 12],
      [20, 20],
      [20, 30],
    ]),
  );
  const { equity, trades } = simulate(market, [Float64Array.of(1, 1, 0, 1)], 1, free);
  assert.deepEqual([...equity], [1_000, 1_200, 2_000, 2_000]);
  assert.deepEqual([trades.count, trades.profit[0], trades.entryPrice[0], trades.exitPrice[0]], [1, 1_000, 10, 20]);
  // 1 % slippage, 1 % commission: 1000 / (10.1 · 1.01) shares, sold at 19.8 less 1 %.
  const costly = simulate(market, [Float64Array.of(1, 1, 0, 0)], 1, { initialCapital: 1_000, commissionBps: 100, slippageBps: 100 });
  const shares = 1_000 / (10.1 * 1.01);
  assert.ok(Math.abs(costly.equity[3]! - shares * 19.8 * 0.99) < 1e-9);
  assert.ok(Math.abs(costly.equity[1]! - shares * 12) < 1e-9);
});

test('a flip ends one trade and begins another, a reduction trades the difference, and drift is not corrected', () => {
  const market = one(
    days([
      [10, 10],
      [10, 10],
      [12, 12],
      [15, 15],
      [15, 10],
    ]),
  );
  const { equity, trades } = simulate(market, [Float64Array.of(1, 1, -1, -1, -1)], 1, free);
  // 100 shares bought at 10; at 15 the account is worth 1500 and sells 200.
  assert.deepEqual([...equity], [1_000, 1_000, 1_200, 1_500, 2_000]);
  assert.deepEqual([...trades.side], [1, -1]);
  assert.deepEqual([...trades.exitBar], [3, -1]);
  assert.deepEqual([...trades.profit], [500, 500]);
  const half = simulate(market, [Float64Array.of(1, 1, 0.5, 0.5, 0.5)], 1, free);
  // At 15: 50 of 100 shares are sold; the rest stays 50 shares at any price.
  assert.deepEqual([...half.equity], [1_000, 1_000, 1_200, 1_500, 1_250]);
  assert.deepEqual([half.trades.count, half.trades.quantity[0], half.tradedNotional], [1, 100, 1_750]);
});

test('an account that has lost everything opens no further positions', () => {
  const market = one(
    days([
      [10, 10],
      [10, 10],
      [30, 30],
      [5, 5],
      [5, 5],
      [5, 5],
    ]),
  );
  const { equity } = simulate(market, [Float64Array.of(-1, -1, 0, 1, 1, 1)], 1, free);
  // 100 sold short at 10; at the close of 30 the account has -1000; bought back at the open of 5.
  assert.deepEqual([...equity], [1_000, 1_000, -1_000, 1_500, 1_500, 1_500]);
  const ruined = simulate(market, [Float64Array.of(-1, 1, 1, 1, 0.5, 0.5)], 1, free);
  assert.deepEqual([...ruined.equity], [1_000, 1_000, -1_000, -1_000, -1_000, -1_000]);
});

test('a dividend is paid for holdings at the close before, and charged for short positions', () => {
  const series = [
    {
      symbol: 'A',
      bars: days([
        [10, 10],
        [10, 10],
        [10, 10],
      ]),
      dividends: [{ timeMs: Date.UTC(2024, 0, 3), amount: 0.5 }],
    },
  ];
  const run = (weight: number) => simulate(alignAll(series), [new Float64Array(3).fill(weight)], 1, free);
  assert.deepEqual([...run(1).equity], [1_000, 1_000, 1_050]);
  assert.equal(run(1).trades.profit[0], 50);
  assert.deepEqual([...run(-1).equity], [1_000, 1_000, 950]);
  const action = { id: 'x', symbol: 'A', effectiveMs: 5 };
  const actions = [
    { ...action, date: '2024-01-02', type: 'dividend', amount: 1 },
    { ...action, date: '2024-01-03', type: 'split', ratio: 4 },
    { ...action, date: '2024-01-04', type: 'dividend', amount: 1 },
    { ...action, date: '2024-01-05', type: 'dividend', amount: 1, effectiveMs: 6 },
  ] as const;
  const paid = dividendsOf(actions, { daily: true, adjusted: true, nowMs: 5 });
  assert.deepEqual(paid, [
    { timeMs: Date.UTC(2024, 0, 2), amount: 0.25 },
    { timeMs: Date.UTC(2024, 0, 4), amount: 1 },
  ]);
  const unadjusted = dividendsOf(actions, { daily: false, adjusted: false, nowMs: 6 });
  assert.deepEqual(
    unadjusted.map(({ amount }) => amount),
    [1, 1, 1],
  );
});

test('symbols share the equity; one without a bar keeps its last close, and its order waits for its next bar', () => {
  const a = days([
    [10, 10],
    [10, 10],
    [10, 10],
    [10, 20],
  ]);
  const b = days(
    [
      [5, 5],
      [5, 6],
    ],
    [0, 3],
  );
  const market = alignAll([
    { symbol: 'A', bars: a },
    { symbol: 'B', bars: b },
  ]);
  const { equity, trades } = simulate(market, [new Float64Array(4).fill(1), new Float64Array(4).fill(1)], 2, free);
  assert.deepEqual([...equity], [1_000, 1_000, 1_000, 1_600]);
  assert.deepEqual([...trades.entryBar], [1, 3]);
  assert.deepEqual(
    [
      ...alignCommon([
        { symbol: 'A', bars: a },
        { symbol: 'B', bars: b },
      ]).time,
    ],
    [...b.time],
  );
});

test('metrics by hand', () => {
  const market = one(
    days([
      [100, 100],
      [100, 110],
      [110, 99],
      [99, 99],
      [99, 121],
    ]),
  );
  const simulation = simulate(market, [new Float64Array(5).fill(1)], 1, { ...free, initialCapital: 100 });
  const periods = periodsPerYear(market.time);
  assert.equal(periods, 252);
  const returns = [0.1, -0.1, 0, 121 / 99 - 1];
  const mean = returns.reduce((sum, value) => sum + value, 0) / 4;
  const deviation = Math.sqrt(returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 3);
  assert.deepEqual(metricsOf(simulation, 100, periods), {
    cagr_pct: Math.round((1.21 ** (252 / 5) - 1) * 1e6) / 1e4,
    sharpe: Math.round((mean / deviation) * Math.sqrt(252) * 1e4) / 1e4,
    max_drawdown_pct: 10,
    longest_drawdown_bars: 2,
    trades: 1,
    win_rate_pct: 100,
    exposure_pct: 80,
    turnover: Math.round((100 / ((100 + 110 + 99 + 99 + 121) / 5)) * 1e4) / 1e4,
  });
  assert.equal(periodsPerYear(days([[1, 1]], [5]).time), 365, 'a Saturday');
  assert.equal(periodsPerYear(minuteTimes(3)), 252 * 390);
  const flat = simulate(market, [new Float64Array(5)], 1, free);
  assert.deepEqual(Object.values(metricsOf(flat, 1_000, 252)), [0, 0, 0, 0, 0, 0, 0, 0]);
});

test('too few bars, figures beyond doubles and an incomplete pair fail with the reason', async () => {
  const momentum: Strategy = { type: 'momentum', config: { lookback: 1 } };
  const pair: Strategy = { type: 'arbitrage', config: { pair: ['A', 'B'], z_entry: 1, z_exit: 0 } };
  assert.throws(() => marketOf(momentum, [{ symbol: 'A', bars: days([[1, 1]]) }]), {
    name: 'BacktestFailed',
    message: 'there are fewer than two bars in the period',
  });
  assert.throws(
    () =>
      marketOf(pair, [
        {
          symbol: 'A',
          bars: days([
            [1, 1],
            [1, 1],
          ]),
        },
      ]),
    /needs the bars of both/,
  );
  const far = [
    {
      symbol: 'A',
      bars: days([
        [1, 1],
        [1, 1],
      ]),
    },
    {
      symbol: 'B',
      bars: days(
        [
          [1, 1],
          [1, 1],
        ],
        [5, 6],
      ),
    },
  ];
  assert.throws(() => marketOf(pair, far), /fewer than two dates that both symbols have/);
  const steep = marketOf(momentum, [
    {
      symbol: 'A',
      bars: days([
        [1e-300, 1e-300],
        [1e-300, 1],
        [1e300, 1e300],
        [1e300, 1e300],
      ]),
    },
  ]);
  await assert.rejects(runBacktest(momentum, steep, free, { daily: true }), {
    message: 'the equity exceeds the range of numbers',
  });
});

test('a curve of many bars is thinned to every k-th point with its ends, and files have every bar', () => {
  const bars = randomBars({ seed: 3, bars: 12_001 });
  const { points, step } = thinCurve(bars.time, bars.close, true);
  assert.equal(step, 3);
  assert.equal(points.length, 4_001);
  for (const count of [2, 4_999, 5_000, 5_001, 10_000, 10_001, 12_000]) {
    const thin = thinCurve(bars.time.subarray(0, count), bars.close.subarray(0, count), true);
    assert.ok(thin.points.length <= 5_000);
    assert.equal(thin.points[0]!.equity, bars.close[0]);
    assert.equal(thin.points.at(-1)!.equity, bars.close[count - 1]);
  }
  const lines = text(curveCsv(bars.time, bars.close, true)).split('\n');
  assert.equal(lines.length, 12_001 + 2);
  assert.equal(lines[1], `2024-01-01,${bars.close[0]!.toFixed(2)}`);
  assert.equal(money(1e22), '10000000000000000000000.00');
});

test('the same backtest has the same bytes, in figures and in every file', async () => {
  const strategy: Strategy = { type: 'mean_reversion', config: { lookback: 5, z_entry: 1, z_exit: 0.2 } };
  const series = () => [{ symbol: 'A', bars: randomBars({ seed: 9, bars: 700 }) }];
  const bytes = async () => {
    const { market, simulation, summary } = await runBacktest(strategy, marketOf(strategy, series()), free, { daily: true });
    const files = [...curveCsv(market.time, simulation.equity, true), ...tradesCsv(simulation.trades, market, true)];
    return text([
      Buffer.from(JSON.stringify(summary) + dataHash(series())),
      ...files,
      Buffer.from(curveSvg(market.time, simulation.equity, true, 'A & <B>')),
    ]);
  };
  const first = await bytes();
  assert.equal(await bytes(), first);
  assert.match(first, /symbol,side,entry_date,exit_date,quantity,entry_price,exit_price,commission,profit\nA,(long|short),2024-/);
  assert.match(first, /A &#38; &#60;B&#62;/);
});

test('a sweep reports the number of runs, the best run, and the result of choosing by past results', () => {
  const strategy: BuiltInStrategy = { type: 'mean_reversion', config: { lookback: 5, z_entry: 2, z_exit: 0 } };
  const market = marketOf(strategy, [{ symbol: 'A', bars: randomBars({ seed: 5, bars: 600 }) }]);
  const grid = { lookback: [3, 5, 10], z_entry: [1, 1.5] };
  assert.deepEqual(gridIssues(strategy, grid, ['body']), []);
  const runs = combinations(grid).map((parameters) => sweepRun(strategy, parameters, market, free));
  const sweep = rankSweep(runs, partsOf(market), 'total_return_pct');
  assert.equal(sweep.tried, 6);
  assert.equal(sweep.best_run.total_return_pct, Math.max(...sweep.runs.map(({ total_return_pct }) => total_return_pct)));
  assert.equal(sweep.walk_forward.folds.length, 4);
  sweep.walk_forward.folds.forEach((fold, at) => {
    const chosen = runs.find(({ parameters }) => JSON.stringify(parameters) === JSON.stringify(fold.parameters))!;
    assert.deepEqual(fold.out_of_sample, chosen.folds[at]!.after);
    assert.ok(runs.every(({ folds }) => folds[at]!.before.total_return_pct <= fold.in_sample.total_return_pct));
  });
});

test('a grid that is empty, too large, or has unknown parameters or an invalid combination is refused', () => {
  const strategy: BuiltInStrategy = { type: 'mean_reversion', config: { lookback: 5, z_entry: 2, z_exit: 1 } };
  const many = Array.from({ length: 23 }, (_, i) => i + 2);
  const grids: Grid[] = [{}, { lookback: [] }, { lookback: many, z_entry: many }, { speed: [1] }, { lookback: [1] }, { z_entry: [2, 0.5] }];
  const types = grids.map((grid) => gridIssues(strategy, grid, ['body', 'parameters'])[0]!.type);
  assert.deepEqual(types, ['too_short', 'too_short', 'too_many_runs', 'unknown_parameter', 'invalid_parameter', 'less_than']);
});
