/** A run decides like a backtest: on the same bars it has the same weights, despite interruptions and missed bars. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { alignAll, alignCommon, cutMarket } from '../../../../src/domains/trading/backtest/market.ts';
import { targetWeights } from '../../../../src/domains/trading/backtest/weights.ts';
import { cutBars, type Series } from '../../../../src/domains/trading/bars.ts';
import { type BuiltInStrategy, warmUpBars } from '../../../../src/domains/trading/strategy/config.ts';
import { liveWeights, type Seen } from '../../../../src/domains/trading/strategy/live-weights.ts';

const closes = fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 60, maxLength: 60 });
const strategies: fc.Arbitrary<BuiltInStrategy> = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map((lookback) => ({ type: 'momentum' as const, config: { lookback } })),
  fc.integer({ min: 2, max: 12 }).map((lookback) => ({ type: 'mean_reversion' as const, config: { lookback, z_entry: 1.2, z_exit: 0.3 } })),
  fc
    .integer({ min: 2, max: 12 })
    .map((lookback) => ({ type: 'arbitrage' as const, config: { pair: ['A', 'B'], lookback, z_entry: 1.2, z_exit: 0.3 } })),
);

function seriesOf(symbol: string, prices: readonly number[]): Series {
  const close = Float64Array.from(prices);
  return { symbol, bars: { time: Float64Array.from(prices, (_, t) => t), open: close, high: close, low: close, close, volume: close } };
}

test('after every decision of a run its weights equal those of a backtest that began as many bars earlier as its windows need', () => {
  fc.assert(
    fc.property(
      strategies,
      closes,
      closes,
      fc.integer({ min: 15, max: 30 }),
      fc.array(fc.integer({ min: 1, max: 5 })),
      (strategy, a, b, first, steps) => {
        const whole = [seriesOf('A', a), seriesOf('B', b)];
        const market = strategy.type === 'arbitrage' ? alignCommon(whole) : alignAll(whole);
        const from = first - warmUpBars(strategy);
        const tested = targetWeights(strategy, cutMarket(market, from, 60));
        let seen: Seen = {};
        let at = first;
        for (const step of [1, ...steps]) {
          at = Math.min(59, at + step - 1);
          // A run reads no more than its windows need, and what was stored is all it keeps.
          const known = whole.map(({ symbol, bars }) => ({ symbol, bars: cutBars(bars, from, at + 1) }));
          const found = liveWeights(strategy, known, JSON.parse(JSON.stringify(seen)), (_, time) => time >= first);
          assert.ok(found !== null);
          assert.equal(found.barMs, at);
          assert.deepEqual([found.weights.A, found.weights.B], [tested[0]![at - from], tested[1]![at - from]]);
          seen = found.seen;
          assert.equal(
            liveWeights(strategy, known, seen, () => true),
            null,
            'a bar is decided on once',
          );
          at++;
          if (at > 59) break;
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a bar that was complete before the start causes no decision', () => {
  const strategy = { type: 'momentum', config: { lookback: 1 } } as const;
  assert.equal(
    liveWeights(strategy, [seriesOf('A', [1, 2, 3])], {}, () => false),
    null,
  );
});

test('a symbol without a new bar keeps its weight without a decision', () => {
  const strategy = { type: 'momentum', config: { lookback: 1 } } as const;
  const series = [seriesOf('A', [1, 2, 3]), seriesOf('B', [1, 2])];
  const first = liveWeights(strategy, [cutOne(series[0]!, 2), series[1]!], {}, () => true)!;
  assert.deepEqual(first.weights, { A: 1, B: 1 });
  assert.deepEqual(liveWeights(strategy, series, first.seen, () => true)!.weights, { A: 1 });
});

function cutOne({ symbol, bars }: Series, to: number): Series {
  return { symbol, bars: cutBars(bars, 0, to) };
}
