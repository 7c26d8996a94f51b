/** Computes backtests and parts of sweeps outside the event loop. A failure that callers see is a result, not an error. */
import { gzipSync } from 'node:zlib';
import type { JobContext, JobFunction } from '../../../providers/compute/port.ts';
import { curveCsv, curveSvg } from './curve.ts';
import { BacktestFailed } from './failed.ts';
import type { JobInput, JobReport, OutputFile, RunInput, RunResult, SweepInput, SweepResult } from './job-messages.ts';
import { loadBars } from './load-bars.ts';
import { marketOf, runBacktest } from './run.ts';
import { partsOf, type SweepRun, sweepRun } from './sweep.ts';
import { tradesCsv } from './trades-csv.ts';

/** After this processor time a sweep's job begins no further combination. */
const sweepJobMs = 6_000;

const job: JobFunction<JobInput, RunResult | SweepResult> = async (input, context) => {
  try {
    return input.task === 'run' ? await run(input, context) : await sweep(input, context);
  } catch (error) {
    if (error instanceof BacktestFailed) return { kind: 'failed', error: error.message };
    throw error;
  }
};
export default job;

async function run({ strategy, terms, bars, title }: RunInput, context: JobContext): Promise<RunResult> {
  const report = (message: JobReport) => context.report(message);
  const { series, daily, facts } = await loadBars(bars, context.open);
  await report({ progress: 0.2 });
  const market = marketOf(strategy, series);
  const onProgress = (share: number) => report({ progress: 0.2 + 0.7 * share });
  const { simulation, summary } = await runBacktest(strategy, market, terms, { daily, openGuest: context.openGuest, onProgress });
  // Chunks that are each compressed separately form one compressed file (RFC 1952, 2.2).
  const write = async (file: OutputFile, pieces: Iterable<Uint8Array>) => {
    for (const piece of pieces) await report({ file, piece: gzipSync(piece, { level: 4 }) });
  };
  await write('equity.csv', curveCsv(market.time, simulation.equity, daily));
  await write('trades.csv', tradesCsv(simulation.trades, market, daily));
  await report({ progress: 1 });
  return { kind: 'complete', ...summary, ...facts, svg: curveSvg(market.time, simulation.equity, daily, title) };
}

async function sweep({ strategy, terms, bars, combinations }: SweepInput, context: JobContext): Promise<SweepResult> {
  const { series, facts } = await loadBars(bars, context.open);
  const market = marketOf(strategy, series);
  const began = process.cpuUsage();
  const runs: SweepRun[] = [];
  for (const parameters of combinations) {
    runs.push(sweepRun(strategy, parameters, market, terms));
    await context.report({ progress: runs.length / combinations.length } satisfies JobReport);
    const { user, system } = process.cpuUsage(began);
    if (context.signal.aborted || (user + system) / 1_000 > sweepJobMs) break;
  }
  return { kind: 'complete', runs, parts: partsOf(market), bars: market.time.length, ...facts };
}
