/** Strategies calculated by hand, and the sliding window compared with its definition. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import Value from 'typebox/value';
import { codeHash, configForms, configIssues, type Strategy, warmUpBars } from '../../../../src/domains/trading/strategy/config.ts';
import { Arbitrage, type Decider, deciderOf, MeanReversion, Momentum } from '../../../../src/domains/trading/strategy/deciders.ts';
import { ZWindow } from '../../../../src/domains/trading/strategy/z-window.ts';
import { mulberry32 } from '../backtest/random-bars.ts';

const decisions = (decider: Decider, closes: number[]) => closes.map((close) => decider.decide(close));

test('momentum is long while the close is above that of `lookback` bars before, and flat while it is equal, below or unknown', () => {
  assert.deepEqual(decisions(new Momentum({ lookback: 2 }), [10, 11, 12, 11, 12, 13, 12]), [0, 0, 1, 0, 0, 1, 0]);
  assert.deepEqual(decisions(new Momentum({ lookback: 1 }), [5, 6, 6, 7]), [0, 1, 0, 1]);
});

test('mean reversion enters at z_entry, leaves at z_exit, and may reverse on one bar; a value equal to a threshold reaches it', () => {
  // Of 1, 2, 3 the deviation is 1 and z is 1; of 2, 3, 4 too; 3, 4, 2 has z = -1; 4, 2, 3 has z = 0.
  const closes = [1, 2, 3, 4, 2, 3];
  assert.deepEqual(decisions(new MeanReversion({ lookback: 3, z_entry: 1, z_exit: 0 }), closes), [0, 0, -1, -1, 1, 0]);
  assert.deepEqual(decisions(new MeanReversion({ lookback: 3, z_entry: 1.1, z_exit: 0 }), closes), [0, 0, 0, 0, 0, 0]);
});

test('a window without any deviation has z = 0, also where its mean is rounded', () => {
  assert.deepEqual(decisions(new MeanReversion({ lookback: 3, z_entry: 0.1, z_exit: 0 }), [0.1, 0.1, 0.1, 0.1]), [0, 0, 0, 0]);
});

test('arbitrage sells a high spread, buys a low one, and exits near or beyond the mean', () => {
  const pair = new Arbitrage({ pair: ['A', 'B'], lookback: 3, z_entry: 1, z_exit: 0.5 });
  const [up, level] = [Math.E, 1];
  // The spreads are 0, 0, 1 (z = 1.15), 1 (0.58: still held), 1 (0: ended), 0 (-1.15: bought).
  assert.deepEqual(
    [level, level, up, up, up, level].map((close) => pair.decide(close, 1)),
    [0, 0, -0.5, -0.5, 0, 0.5],
  );
  // From low to high at once: what was bought ends, and is sold on the same bar.
  assert.equal(pair.decide(Math.E ** 9, 1), -0.5);
});

test('a run that starts with earlier bars and its holdings decides like a run over all bars', () => {
  const strategies: Exclude<Strategy, { type: 'custom' | 'arbitrage' }>[] = [
    { type: 'momentum', config: { lookback: 7 } },
    { type: 'mean_reversion', config: { lookback: 12, z_entry: 1.2, z_exit: 0.2 } },
  ];
  const random = mulberry32(1);
  const closes = Array.from({ length: 400 }, () => 100 + Math.round(random() * 100) / 10);
  for (const strategy of strategies) {
    const all = deciderOf(strategy);
    for (let t = 0; t < closes.length; t++) {
      const again = deciderOf(strategy);
      for (const close of closes.slice(Math.max(0, t - warmUpBars(strategy)), t)) again.observe(close);
      again.held = all.held;
      assert.equal(again.decide(closes[t]!), all.decide(closes[t]!), `${strategy.type} at ${t}`);
    }
  }
});

test('the sliding window is on the same side of both thresholds as its definition, for any values', () => {
  const value = fc.oneof(
    fc.double({ min: 99, max: 101, noNaN: true }),
    fc.constantFrom(100, 100.01, 100 + 2e-14, 1e9, 1e-9),
    fc.integer({ min: 1, max: 3 }),
  );
  const settings = fc.record({
    length: fc.integer({ min: 2, max: 40 }),
    a: fc.constantFrom(0.5, 1, Math.SQRT1_2, 2),
    b: fc.constantFrom(0, 0.1, 0.5),
  });
  fc.assert(
    fc.property(settings, fc.array(value, { minLength: 1, maxLength: 300 }), ({ length, a, b }, values) => {
      const window = new ZWindow(length);
      const side = (z: number) => [a, -a, b, -b, 0].map((threshold) => Math.sign(z - threshold));
      for (const next of values) {
        window.push(next);
        assert.deepEqual(side(window.near(a, b)), side(window.exact()));
      }
    }),
    { numRuns: 500 },
  );
});

test('invalid configurations are refused with their field', () => {
  const good: [keyof typeof configForms, object][] = [
    ['momentum', { lookback: 20 }],
    ['mean_reversion', { lookback: 20, z_entry: 2, z_exit: 0 }],
    ['arbitrage', { pair: ['AAPL', 'MSFT'], z_entry: 2, z_exit: 0.5 }],
    ['custom', { code: 'function onBar() { return 0; }' }],
  ];
  for (const [type, config] of good) assert.ok(Value.Check(configForms[type], config), type);
  const bad: [keyof typeof configForms, object][] = [
    ['momentum', { lookback: 0 }],
    ['momentum', { lookback: 1.5 }],
    ['momentum', {}],
    ['mean_reversion', { lookback: 1, z_entry: 2, z_exit: 0 }],
    ['mean_reversion', { lookback: 20, z_entry: 2, z_exit: -1 }],
    ['mean_reversion', { lookback: 20, z_entry: 2, z_exit: 0, more: 1 }],
    ['arbitrage', { pair: ['AAPL', 'AAPL'], z_entry: 2, z_exit: 0.5 }],
    ['arbitrage', { pair: ['AAPL'], z_entry: 2, z_exit: 0.5 }],
    ['custom', { code: '' }],
  ];
  for (const [type, config] of bad) assert.equal(Value.Check(configForms[type], config), false, JSON.stringify(config));
  const crossed: Strategy = { type: 'mean_reversion', config: { lookback: 20, z_entry: 1, z_exit: 1 } };
  assert.deepEqual(
    configIssues(crossed, ['body', 'config']).map(({ loc, type }) => [loc.join('.'), type]),
    [['body.config.z_exit', 'less_than']],
  );
});

test('the hash of a strategy does not depend on the order of its fields, nor on explicit defaults', () => {
  const short: Strategy = { type: 'arbitrage', config: { pair: ['A', 'B'], z_entry: 2, z_exit: 1 } };
  const long: Strategy = { type: 'arbitrage', config: { z_exit: 1, z_entry: 2, lookback: 20, pair: ['A', 'B'] } };
  assert.equal(codeHash(short), codeHash(long));
  assert.notEqual(codeHash(short), codeHash({ ...long, config: { ...long.config, lookback: 21 } }));
  assert.match(codeHash(short), /^[0-9a-f]{64}$/);
});
