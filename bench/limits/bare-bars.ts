/**
 * The limit of backtests: one function over typed arrays that decides by momentum, fills at the next open with costs, and keeps equity, round trips,
 * drawdowns and returns: no strategy object, no column of weights, one symbol, always long or flat. And the limit of code in the sandbox: the same code in the same engine,
 * called in a loop that keeps no book.
 */
import release from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { measured, seriesOf } from '../support/bars-load.ts';
import { serveCalls } from '../support/program.ts';

serveCalls({
  bars: ({ load, ms }: { load: 'minutes' | 'days' | 'dense'; ms: number }) => {
    const series = seriesOf(load);
    const lookback = load === 'dense' ? 1 : 20;
    const bars = series.reduce((sum, { bars }) => sum + bars.time.length, 0);
    return measured(ms, bars, () => {
      for (const { bars } of series) bareMomentum(bars.open, bars.close, lookback);
    });
  },

  async guest({ code, ms }: { code: string; ms: number }) {
    const engine = await newQuickJSWASMModuleFromVariant(release as never);
    const context = engine.newContext();
    const loop = `(() => {
      const count = 10000;
      const [O, H, L, C, V, W] = Array.from({ length: 6 }, (_, k) => new Float64Array(count).map((_, i) => 100 + ((i * 7 + k) % 13)));
      const dates = Array.from({ length: count }, (_, i) => '2024-01-02T14:' + (i % 60) + ':00Z');
      const ctx = { symbol: 'A', index: 0, position: 0, quantity: 0, cash: 0, equity: 0, symbols: ['A'] };
      return () => { for (let i = 0; i < count; i++) W[i] = onBar({ date: dates[i], open: O[i], high: H[i], low: L[i], close: C[i], volume: V[i] }, ctx); };
    })()`;
    context.unwrapResult(context.evalCode(code));
    const run = context.unwrapResult(context.evalCode(loop));
    return measured(ms, 10_000, () => context.unwrapResult(context.callFunction(run, context.undefined)).dispose());
  },
});

const [slippage, commission] = [0.0001, 0.0001];

function bareMomentum(open: Float64Array, close: Float64Array, lookback: number): number {
  const bars = close.length;
  const equity = new Float64Array(bars);
  const [entries, exits, sides, profits] = [new Int32Array(bars), new Int32Array(bars), new Int8Array(bars), new Float64Array(bars)];
  let [cash, quantity, weight, sized, peak, peakBar, drawdown, longest] = [100_000, 0, 0, 0, 100_000, -1, 0, 0];
  let [trades, entryBar, entryCash, traded, held] = [0, 0, 0, 0, 0];
  for (let t = 0; t < bars; t++) {
    if (weight !== sized) {
      const value = weight * (cash + quantity * open[t]!);
      const price = open[t]! * (weight > sized ? 1 + slippage : 1 - slippage);
      const target = value / (price * (1 + commission));
      const notional = (target - quantity) * price;
      if (quantity === 0) [entryBar, entryCash] = [t, cash];
      cash -= notional + Math.abs(notional) * commission;
      traded += Math.abs(notional);
      if (target === 0) {
        entries[trades] = entryBar;
        exits[trades] = t;
        sides[trades] = 1;
        profits[trades++] = cash - entryCash;
      }
      quantity = target;
      sized = weight;
    }
    const now = cash + quantity * close[t]!;
    equity[t] = now;
    if (quantity !== 0) held++;
    if (now >= peak) {
      peak = now;
      peakBar = t;
    } else {
      if ((peak - now) / peak > drawdown) drawdown = (peak - now) / peak;
      if (t - peakBar > longest) longest = t - peakBar;
    }
    weight = t >= lookback && close[t]! > close[t - lookback]! ? 1 : 0;
  }
  let sum = 0;
  for (let t = 1; t < bars; t++) sum += equity[t]! / equity[t - 1]! - 1;
  const mean = sum / (bars - 1);
  let squares = 0;
  for (let t = 1; t < bars; t++) squares += (equity[t]! / equity[t - 1]! - 1 - mean) ** 2;
  let wins = 0;
  for (let i = 0; i < trades; i++) if (profits[i]! > 0) wins++;
  return equity[bars - 1]! + drawdown + longest + mean / Math.sqrt(squares / (bars - 2)) + wins + traded + held;
}
