/** What requests notice of backtests: their p99 at half load, alone and while backtests of several accounts are computed. */
import { setTimeout as pause } from 'node:timers/promises';
import { backtestLimits } from '../src/domains/trading/backtest/run.ts';
import { splitCpus } from './support/cpus.ts';
import { Customer } from './support/customer.ts';
import { HalfLoad, requestKinds } from './support/half-load.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { isNoisy, median } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const sliceCount = 5;
/** As clients of long work do; a tester that polls ten times a second would be load of its own. */
const pollMs = 2_000;
const minutesOfAYear = { symbol: 'AAPL', timeframe: '1m', start_date: '2024-01-01', end_date: '2024-12-31' };
/** Each again and again, of an account of its own. */
const asked = [
  { path: '/v1/trading/backtest', body: { ...minutesOfAYear, strategy: 'momentum', config: { lookback: 20 } } },
  {
    path: '/v1/trading/backtest',
    body: { ...minutesOfAYear, strategy: 'custom', config: { code: 'function onBar(bar) { return bar.close > bar.open ? 1 : 0; }' } },
  },
  {
    path: '/v1/trading/backtest',
    body: { ...minutesOfAYear, strategy: 'mean_reversion', config: { lookback: 20, z_entry: 1.5, z_exit: 0.5 } },
  },
];

export async function benchBesideBacktests(surroundings: Surroundings): Promise<Row[]> {
  const cpus = splitCpus();
  const service = await Service.start({
    dataDir: await surroundings.emptyFolder('beside'),
    nodeOptions: surroundings.profiled('beside'),
    cpus: cpus.service,
  });
  const load = await HalfLoad.prepare(service, cpus, surroundings.seconds);
  try {
    const testers = await Promise.all(asked.map((_, i) => Customer.register(service.url, `tester${i}@example.com`)));
    const rows: Row[] = [];
    // Lists first: commands make their table longer.
    for (const what of requestKinds) {
      const rate = await load.rate(what);
      const [alone, beside]: [number[], number[]] = [[], []];
      let computed = 0;
      for (let i = 0; i < sliceCount; i++) {
        alone.push(await load.p99Ms(what, rate));
        const running = { over: false };
        const computing = testers.map((tester, n) => keepComputing(tester, asked[n]!, running));
        beside.push(await load.p99Ms(what, rate));
        running.over = true;
        for (const count of await Promise.all(computing)) computed += count;
      }
      const row = `p99 of ${what} at half load (${Math.round(rate)}/s), ${computed} backtests meanwhile`;
      const figures = { ours: median(beside), limit: median(alone), noisy: [alone, beside].some(isNoisy) };
      rows.push(makeRow({ bench: 'trading', row, unit: 'ms', ...figures, reach: { atMost: 1.25 } }));
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), load.end()]);
  }
}

/** Keeps as many of one account running as the service computes at once. Returns how many were completed. */
async function keepComputing(
  tester: Customer,
  { path, body }: { path: string; body: object },
  running: { over: boolean },
): Promise<number> {
  const open = new Set<string>();
  for (let count = 0; ; ) {
    while (!running.over && open.size < backtestLimits.atOnce) {
      const id = await begun(tester, path, body);
      if (id === null) break;
      open.add(id);
    }
    if (running.over && open.size === 0) return count;
    await pause(pollMs);
    const { data } = await tester.get(`/v1/trading/backtests?limit=${backtestLimits.atOnce}`).catch(() => ({ data: [] }));
    for (const { id, status, error } of data) {
      if (status === 'running' || !open.delete(id)) continue;
      if (status === 'failed') throw new Error(`the backtest failed: ${error}`);
      count++;
    }
  }
}

/** null: the service had too much to do. */
async function begun(tester: Customer, path: string, body: object): Promise<string | null> {
  try {
    return (await tester.post(path, body)).id;
  } catch (error) {
    if (/answered 503/.test((error as Error).message)) return null;
    throw error;
  }
}
