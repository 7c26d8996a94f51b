/** The engine compared with an independent reference, and its main guarantee: results do not depend on later bars. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { buyAndHold } from '../../../../src/domains/trading/backtest/buy-and-hold.ts';
import { simulate, type Terms } from '../../../../src/domains/trading/backtest/engine.ts';
import { alignAll, alignCommon, type Market } from '../../../../src/domains/trading/backtest/market.ts';
import { metricsOf, periodsPerYear, places } from '../../../../src/domains/trading/backtest/metrics.ts';
import { targetWeights } from '../../../../src/domains/trading/backtest/weights.ts';
import { type BarColumns, cutBars, type Series } from '../../../../src/domains/trading/bars.ts';
import type { BuiltInStrategy } from '../../../../src/domains/trading/strategy/config.ts';
import { mulberry32, randomBars } from './random-bars.ts';
import { type RefSeries, type RefStrategy, refBacktest, refWeights } from './reference.ts';

const terms: fc.Arbitrary<Terms> = fc.record({
  initialCapital: fc.constantFrom(0.01, 1_000, 100_000, 1e12),
  commissionBps: fc.constantFrom(0, 1, 12.5, 300),
  slippageBps: fc.constantFrom(0, 1, 50, 500),
});
const z = fc
  .tuple(fc.constantFrom(0.5, Math.SQRT1_2, 1, 1.5, 2), fc.constantFrom(0, 0.25, 0.5, 0.7))
  .filter(([entry, exit]) => exit < entry)
  .map(([z_entry, z_exit]) => ({ z_entry, z_exit }));
const lookback = fc.constantFrom(2, 3, 5, 20);
const strategies: fc.Arbitrary<BuiltInStrategy> = fc.oneof(
  fc.record({ type: fc.constant('momentum' as const), config: fc.record({ lookback: fc.constantFrom(1, 2, 3, 20) }) }),
  fc.tuple(lookback, z).map(([n, config]) => ({ type: 'mean_reversion' as const, config: { lookback: n, ...config } })),
  fc.tuple(lookback, z).map(([n, config]) => ({ type: 'arbitrage' as const, config: { pair: ['S0', 'S1'], lookback: n, ...config } })),
);
/** Walks with rough prices (many ties), some with missing days. */
const worlds = fc.record({
  seed: fc.integer({ min: 0, max: 1e9 }),
  symbols: fc.integer({ min: 1, max: 4 }),
  bars: fc.integer({ min: 2, max: 90 }),
  price: fc.constantFrom(0.05, 3, 250),
  volatility: fc.constantFrom(0.001, 0.02, 0.3),
  gaps: fc.boolean(),
  paying: fc.boolean(),
  stepMs: fc.constantFrom(86_400_000, 3_600_000),
});
type World = typeof worlds extends fc.Arbitrary<infer W> ? W : never;

function seriesOf({ seed, symbols, bars, price, volatility, gaps, paying, stepMs }: World, strategy: BuiltInStrategy): Series[] {
  const count = strategy.type === 'arbitrage' ? 2 : symbols;
  return Array.from({ length: count }, (_, s) => {
    const whole = randomBars({ seed: seed + s, bars, price, volatility, stepMs });
    const random = mulberry32(seed * 31 + s);
    const kept = whole.time.map((_, i) => (gaps && i > 1 && random() < 0.2 ? 0 : 1));
    const keep = (column: Float64Array) => column.filter((_, i) => kept[i] === 1);
    const entries = Object.entries(whole).map(([name, column]) => [name, keep(column)]);
    const dividends = paying
      ? [...whole.time].filter(() => random() < 0.1).map((timeMs) => ({ timeMs, amount: price * random() * 0.05 }))
      : [];
    return { symbol: `S${s}`, bars: Object.fromEntries(entries) as BarColumns, dividends };
  });
}

const marketOf = (strategy: BuiltInStrategy, series: Series[]) => (strategy.type === 'arbitrage' ? alignCommon(series) : alignAll(series));
const divisorOf = (strategy: BuiltInStrategy, market: Market) => (strategy.type === 'arbitrage' ? 1 : market.columns.length);

function run(strategy: BuiltInStrategy, series: Series[], costs: Terms) {
  const market = marketOf(strategy, series);
  const simulation = simulate(market, targetWeights(strategy, market), divisorOf(strategy, market), costs);
  return { market, simulation };
}

const plain = (series: Series[]): RefSeries[] =>
  series.map(({ symbol, bars, dividends = [] }) => ({
    symbol,
    dividends: [...dividends],
    bars: Array.from(bars.time, (time, i) => ({
      time,
      open: bars.open[i]!,
      high: bars.high[i]!,
      low: bars.low[i]!,
      close: bars.close[i]!,
      volume: bars.volume[i]!,
    })),
  }));

function near(actual: number, expected: number, scale: number, what: string): void {
  const least = 1e-9 * Math.max(Math.abs(scale), Math.abs(expected));
  assert.ok(Math.abs(actual - expected) <= least, `${what}: ${actual}, the reference has ${expected}`);
}

test('equity, trades and metrics equal those of the reference, which is written from the documentation only', () => {
  fc.assert(
    fc.property(worlds, strategies, terms, (world, strategy, costs) => {
      const series = seriesOf(world, strategy);
      const { market, simulation } = run(strategy, series, costs);
      if (market.time.length < 2) return;
      const refStrategy = { type: strategy.type, ...strategy.config } as RefStrategy;
      const expected = refBacktest(
        refWeights(refStrategy, plain(series)),
        plain(series),
        strategy.type === 'arbitrage',
        divisorOf(strategy, market),
        costs,
      );
      assert.deepEqual(
        [...market.time],
        expected.equity.map(({ time }) => time),
      );
      expected.equity.forEach(({ equity }, t) => near(simulation.equity[t]!, equity, costs.initialCapital, `equity ${t}`));
      const { trades } = simulation;
      const order = [...Array(trades.count).keys()].sort((a, b) => trades.symbol[a]! - trades.symbol[b]! || a - b);
      assert.deepEqual(
        order.map((i) => [
          market.symbols[trades.symbol[i]!],
          trades.side[i],
          market.time[trades.entryBar[i]!],
          market.time[trades.exitBar[i]!] ?? null,
        ]),
        expected.trades.map(({ symbol, side, entry, exit }) => [symbol, side === 'long' ? 1 : -1, entry, exit]),
      );
      order.forEach((i, at) => near(trades.profit[i]!, expected.trades[at]!.profit, costs.initialCapital, `profit ${at}`));
      const metrics = metricsOf(simulation, costs.initialCapital, periodsPerYear(market.time)) as Record<string, number | null>;
      if (simulation.equity.some((value) => value <= costs.initialCapital * 1e-6)) return;
      const winsAreClear = expected.trades.every(({ profit }) => Math.abs(profit) > costs.initialCapital * 1e-9);
      for (const [name, value] of Object.entries(expected.metrics)) {
        if (metrics[name] === null || (name === 'win_rate_pct' && !winsAreClear)) continue;
        const slack = 1e-4 + Math.abs(value) * 1e-6;
        assert.ok(Math.abs(metrics[name]! - value) <= slack, `${name}: ${metrics[name]}, the reference has ${value}`);
      }
    }),
    { numRuns: 400 },
  );
});

test('results up to a bar do not change when later bars are removed or changed', () => {
  fc.assert(
    fc.property(worlds, strategies, terms, fc.nat(), fc.integer(), (world, strategy, costs, where, otherSeed) => {
      const series = seriesOf(world, strategy);
      const { market, simulation } = run(strategy, series, costs);
      const bars = market.time.length;
      if (bars < 3) return;
      const at = 1 + (where % (bars - 1));
      const endMs = market.time[at]!;
      const rowsBefore = ({ time }: BarColumns) => time.findIndex((ms) => ms >= endMs);
      const cut = series.map(({ symbol, dividends, bars: own }) => ({
        symbol,
        dividends,
        bars: rowsBefore(own) < 0 ? own : cutBars(own, 0, rowsBefore(own)),
      }));
      const other = series.map(({ symbol, dividends, bars: own }, s) => ({
        symbol,
        dividends,
        bars: changedFrom(own, rowsBefore(own), otherSeed + s),
      }));
      for (const series of [cut, other]) {
        const later = run(strategy, series, costs).simulation;
        assert.deepEqual(later.equity.slice(0, at), simulation.equity.slice(0, at));
        assert.deepEqual(past(later.trades, at), past(simulation.trades, at));
      }
    }),
    { numRuns: 300 },
  );
});

/** All log entries of trades that ended before the bar, and the beginnings of the others. */
function past({ count, ...columns }: ReturnType<typeof simulate>['trades'], at: number) {
  const rows = [...Array(count).keys()].filter((i) => columns.entryBar[i]! < at);
  return rows
    .map((i) => {
      const ended = columns.exitBar[i]! >= 0 && columns.exitBar[i]! < at;
      if (!ended) return [columns.symbol[i], columns.side[i], columns.entryBar[i]];
      return Object.values(columns).map((column) => column[i]);
    })
    .sort((a, b) => String(a).localeCompare(String(b)));
}

function changedFrom(bars: BarColumns, row: number, seed: number): BarColumns {
  if (row < 0) return bars;
  const others = randomBars({ seed: Math.abs(seed), bars: bars.time.length, price: 7, volatility: 0.4 });
  const mixed = Object.entries(bars).map(([name, column]) => {
    if (name === 'time') return [name, column];
    const copy = Float64Array.from(column);
    copy.set(others[name as keyof BarColumns].subarray(row), row);
    return [name, copy];
  });
  return Object.fromEntries(mixed);
}

test("the benchmark equals the engine's result for a weight of 1 after every bar", () => {
  fc.assert(
    fc.property(worlds, terms, (world, costs) => {
      const market = alignAll(seriesOf(world, { type: 'momentum', config: { lookback: 1 } }));
      const ones = market.columns.map(() => new Float64Array(market.time.length).fill(1));
      // A symbol has no order before its first bar.
      market.columns.forEach(({ close }, s) =>
        ones[s]!.fill(
          0,
          0,
          close.findIndex((price) => price > 0),
        ),
      );
      const { equity } = simulate(market, ones, market.columns.length, costs);
      near(buyAndHold(market, costs), equity.at(-1)!, costs.initialCapital, 'benchmark');
    }),
    { numRuns: 200 },
  );
});

test('for any weights cash, holdings and trades are consistent: the profit is the sum of the trades', () => {
  const weight = fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.constantFrom(-1, 0, 1));
  fc.assert(
    fc.property(fc.array(weight, { minLength: 3, maxLength: 60 }), fc.nat(), terms, (weights, seed, costs) => {
      const market = alignAll([{ symbol: 'S', bars: randomBars({ seed, bars: weights.length, volatility: 0.1 }) }]);
      const { equity, trades } = simulate(market, [Float64Array.from(weights)], 1, costs);
      const profit = trades.profit.reduce((sum, value) => sum + value, 0);
      near(costs.initialCapital + profit, equity.at(-1)!, costs.initialCapital * weights.length, 'equity');
    }),
    { numRuns: 300 },
  );
});

test('figures are rounded to four places, halves up, and never to a negative zero', () => {
  assert.deepEqual(
    [1.00005, -0.00001, 0.03125, 1e300].map((value) => places(value, 4)),
    [1.0001, 0, 0.0313, 1e300],
  );
  assert.ok(Object.is(places(-0.00001, 4), 0));
});
