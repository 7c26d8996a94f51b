/** Backtests in the computing processes: the source of their bars, their reports, and their ends. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test, { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { BarsFrom } from '../../../../src/domains/trading/backtest/job-messages.ts';
import { BacktestRunner } from '../../../../src/domains/trading/backtest/runner.ts';
import type { Strategy } from '../../../../src/domains/trading/strategy/config.ts';
import { ComputePool } from '../../../../src/providers/compute/pool.ts';
import { until } from '../../../support/until.ts';
import { randomBars } from './random-bars.ts';

const pool = new ComputePool({ processes: 2 });
after(() => pool.close());
const runner = new BacktestRunner(pool);
const terms = { initialCapital: 100_000, commissionBps: 0, slippageBps: 1 };
const never = () => new AbortController().signal;
const momentum: Strategy = { type: 'momentum', config: { lookback: 3 } };
const columns = (bars: number): BarsFrom => ({
  kind: 'columns',
  daily: true,
  series: [{ symbol: 'A', bars: randomBars({ seed: 2, bars }) }],
});

async function run(
  strategy: Strategy,
  bars: BarsFrom,
  { open, signal = never() }: { open?: () => Promise<Readable>; signal?: AbortSignal } = {},
) {
  const progress: number[] = [];
  const { result, files } = await runner.run(
    { strategy, terms, bars, title: 'A' },
    { account: 'acct', signal, onProgress: (share) => progress.push(share), ...(open && { open }) },
  );
  return { result, files, progress };
}

test('a run returns figures and complete files, and reports its progress', async () => {
  const { result, files, progress } = await run(momentum, columns(20_000));
  assert.ok(result.kind === 'complete');
  assert.equal(result.bars, 20_000);
  assert.equal(gunzipSync(files['equity.csv']).toString().split('\n').length, 20_002);
  assert.equal(gunzipSync(files['trades.csv']).toString().split('\n').length, result.metrics.trades + 2);
  assert.match(result.svg, /^<svg /);
  assert.deepEqual(
    [...progress].sort((a, b) => a - b),
    progress,
  );
  assert.equal(progress.at(-1), 1);
  assert.match(result.data_hash + result.code_hash, /^[0-9a-f]{128}$/);
});

test('code of the caller runs in a process below the job, and its failure is the result', async () => {
  const code = (body: string): Strategy => ({ type: 'custom', config: { code: `function onBar(bar, ctx) { ${body} }` } });
  const good = await run(code('return ctx.index % 2 ? 1 : 0;'), columns(300));
  assert.ok(good.result.kind === 'complete' && good.result.metrics.trades === 149);
  const bad = await run(code('return ctx.index > 5 ? "x" : 0;'), columns(300));
  assert.deepEqual(bad.result, {
    kind: 'failed',
    error: 'onBar failed at 2024-01-07 (A): TypeError: onBar returned a string, not a finite number',
  });
  assert.equal(bad.files['equity.csv'].length, 0);
});

test('bars come from a file, with errors by line, or from the embedded market, always the same', async () => {
  const lines = ['date,open,high,low,close,volume', '2024-01-02,10,11,9,10,5', '2024-01-03,10,12,10,12,5', '2024-01-04,12,12,12,12,5'];
  const file = (content: string[]) => ({ open: async () => Readable.from([Buffer.from(content.join('\n'))]) });
  const csv: BarsFrom = { kind: 'csv', files: [{ symbol: 'X', assetClass: 'equity' }], start: null, end: null, timeframe: null };
  const { result } = await run({ type: 'momentum', config: { lookback: 1 } }, csv, file(lines));
  assert.ok(result.kind === 'complete');
  assert.deepEqual([result.bars, result.data_source, result.timeframe], [3, 'csv', '1d']);
  const broken = await run(momentum, csv, file([...lines, '2024-01-05,0,1,1,1,1']));
  assert.ok(broken.result.kind === 'failed' && /^line 5: /.test(broken.result.error));

  const embedded = (symbols: string[]): BarsFrom => ({
    kind: 'embedded',
    symbols,
    timeframe: '1d',
    start: '2023-01-01',
    end: '2023-12-31',
    nowMs: Date.UTC(2026, 0, 1),
  });
  const pair: Strategy = { type: 'arbitrage', config: { pair: ['AAPL', 'MSFT'], z_entry: 1, z_exit: 0 } };
  const [first, again] = [await run(pair, embedded(['AAPL', 'MSFT'])), await run(pair, embedded(['AAPL', 'MSFT']))];
  assert.deepEqual(again, first);
  assert.ok(first.result.kind === 'complete' && first.result.bars === 500);
  const unknown = await run(momentum, embedded(['NOSUCH']));
  assert.deepEqual(unknown.result, { kind: 'failed', error: 'the market data has no symbol NOSUCH' });
});

test('400 days of minutes are computed, and more bars than one backtest may have are refused with the limit', async () => {
  const minutes = (symbols: string[], end: string): BarsFrom => ({
    kind: 'embedded',
    symbols,
    timeframe: '1m',
    start: '2023-01-02',
    end,
    nowMs: Date.UTC(2060, 0, 1),
  });
  const { result } = await run(momentum, minutes(['AAPL'], '2024-02-05'));
  assert.ok(result.kind === 'complete');
  // 250 sessions in 2023 and 24 in 2024; 2023-07-03 and 2023-11-24 are half days.
  assert.equal(result.bars, 272 * 390 + 2 * 210);
  const { result: refused } = await run(momentum, minutes(['AAPL', 'MSFT'], '2055-01-01'));
  assert.deepEqual(refused, { kind: 'failed', error: 'the symbols have more than 5000000 bars in the period' });
});

test('a sweep is computed in several jobs', async () => {
  const request = {
    strategy: { type: 'momentum' as const, config: { lookback: 1 } },
    terms,
    bars: columns(400),
    grid: { lookback: [2, 5, 10, 20] },
    rankBy: 'sharpe' as const,
  };
  const shares: number[] = [];
  const sweep = await runner.sweep(request, { account: 'acct', signal: never(), onProgress: (share) => shares.push(share) });
  assert.ok(sweep.kind === 'complete');
  assert.deepEqual([sweep.tried, sweep.runs.length, shares.at(-1)], [4, 4, 1]);
});

test('of one account four backtests run at once, and an aborted one ends at once, running or waiting', async () => {
  const abort = new AbortController();
  const slow: Strategy = { type: 'custom', config: { code: 'function onBar() { for (let i = 0; i < 3e5; i++); return 0; }' } };
  const reason = new Error('cancelled');
  const ends = Array.from({ length: 6 }, () =>
    assert.rejects(run(slow, columns(3_000), { signal: abort.signal }), (error) => error === reason),
  );
  await until(() => runner.size.running === 4 && runner.size.waiting === 2, 'all to run or wait');
  abort.abort(reason);
  await Promise.all(ends);
  assert.deepEqual(runner.size, { running: 0, waiting: 0 });
});
