/**
 * Runs backtests and sweeps in the computing processes of a node. A few of one account run at once and the others wait here; the processes
 * serve accounts round-robin. A run ends at once when the caller's signal is aborted, whether it waits or runs.
 */
import { FairGate } from '../../../fair-queue.ts';
import { type Compute, type Job, JobStopped } from '../../../providers/compute/port.ts';
import { TradingStats } from '../metrics.ts';
import type { BuiltInStrategy } from '../strategy/config.ts';
import type { Terms } from './engine.ts';
import type {
  BarsFrom,
  DataFacts,
  Failed,
  JobInput,
  JobReport,
  OutputFile,
  RunInput,
  RunResult,
  SweepInput,
  SweepResult,
} from './job-messages.ts';
import { backtestLimits } from './run.ts';
import { combinations, type Grid, type Parameters, type Ranking, rankSweep, type Sweep, type SweepRun } from './sweep.ts';

const module = new URL('./job.ts', import.meta.url);
/** Reading and computing 5 million bars takes a third of this time; it is not one of the pool's long jobs. */
const builtIn: Job<JobInput, RunResult | SweepResult> = { name: 'backtest', module, timeMs: 15_000, wallMs: 300_000, jobClass: 'batch' };
/** The code has its own limits, in the sandbox; these are the limits of the surrounding job. */
const custom: Job<JobInput, RunResult | SweepResult> = {
  name: 'backtest of code',
  module,
  timeMs: 80_000,
  wallMs: 1_600_000,
  jobClass: 'batch',
};

export type RunnerOptions = {
  /** The account of the work. */
  account: string;
  signal: AbortSignal;
  /** Opens the files of `BarsFrom` of kind csv, one after the other, each time the job runs. */
  open?: () => Promise<NodeJS.ReadableStream>;
  /** From 0 to 1. */
  onProgress?: (share: number) => void;
};
/** `files` are compressed (gzip); empty if the run failed. */
export type FinishedRun = { result: RunResult; files: Record<OutputFile, Uint8Array> };
export type SweepRequest = { strategy: BuiltInStrategy; terms: Terms; bars: BarsFrom; grid: Grid; rankBy: Ranking };
export type FinishedSweep = ({ kind: 'complete'; bars: number } & Sweep & DataFacts) | Failed;

export class BacktestRunner {
  private readonly compute: Compute;
  private readonly gate: FairGate;
  private readonly stats: Pick<TradingStats, 'timeBacktest'>;

  constructor(compute: Compute, stats: Pick<TradingStats, 'timeBacktest'> = new TradingStats()) {
    this.compute = compute;
    this.stats = stats;
    const waiting = { maxWaiting: 10_000, maxWaitingEach: 1_000, full: 'Too many backtests wait; try again later', retryAfterS: 30 };
    this.gate = new FairGate({ maxRunning: 1_000, maxRunningEach: backtestLimits.atOnce, ...waiting });
  }

  /**
   * Rejects with `overloaded`, `unavailable`, `draining`, or the signal's reason: these may be retried. Everything else is in the result.
   */
  run(input: Omit<RunInput, 'task'>, options: RunnerOptions): Promise<FinishedRun> {
    return this.inTurn(options, async () => {
      const pieces: Record<OutputFile, Uint8Array[]> = { 'equity.csv': [], 'trades.csv': [] };
      const result = (await this.perform(
        input.strategy.type === 'custom' ? custom : builtIn,
        { task: 'run', ...input },
        options,
        (report) => {
          if ('file' in report) pieces[report.file].push(report.piece);
          else options.onProgress?.(report.progress);
        },
      )) as RunResult;
      const whole = (file: OutputFile) => (result.kind === 'complete' ? Buffer.concat(pieces[file]) : Buffer.alloc(0));
      return { result, files: { 'equity.csv': whole('equity.csv'), 'trades.csv': whole('trades.csv') } };
    });
  }

  /** @param request its grid has no `gridIssues` */
  sweep({ strategy, terms, bars, grid, rankBy }: SweepRequest, options: RunnerOptions): Promise<FinishedSweep> {
    return this.inTurn(options, async () => {
      const all = combinations(grid);
      const runs: SweepRun[] = [];
      for (;;) {
        const left: Parameters[] = all.slice(runs.length);
        const done = runs.length;
        const input: SweepInput = { task: 'sweep', strategy, terms, bars, combinations: left };
        const part = (await this.perform(builtIn, input, options, (report) => {
          if ('progress' in report) options.onProgress?.((done + report.progress * left.length) / all.length);
        })) as SweepResult;
        if (part.kind === 'failed') return part;
        runs.push(...part.runs);
        if (runs.length < all.length) continue;
        const { data_source, data_hash, timeframe } = part;
        return { kind: 'complete', bars: part.bars, ...rankSweep(runs, part.parts, rankBy), data_source, data_hash, timeframe };
      }
    });
  }

  get size(): { running: number; waiting: number } {
    return this.gate.size;
  }

  private inTurn<T>({ account, signal }: RunnerOptions, work: () => Promise<T>): Promise<T> {
    return this.gate.pass(account, () => this.stats.timeBacktest(work), signal);
  }

  private async perform(
    job: Job<JobInput, RunResult | SweepResult>,
    input: JobInput,
    { account, signal, open }: RunnerOptions,
    onReport: (report: JobReport) => void,
  ): Promise<RunResult | SweepResult> {
    try {
      return await this.compute.run(job, input, {
        account,
        signal,
        ...(open && { open }),
        onReport: (data) => onReport(data as JobReport),
      });
    } catch (error) {
      if (!(error instanceof JobStopped)) throw error;
      const why = {
        time: 'took more processor time than it may use',
        memory: 'needed more memory than it may use',
        crash: 'ended unexpectedly',
      };
      return { kind: 'failed', error: `the backtest ${why[error.reason]}` };
    }
  }
}
