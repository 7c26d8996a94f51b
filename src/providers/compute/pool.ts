/**
 * The computing processes of a node: started on first use, at most `processes` for each class of jobs, ended after an idle time. Owns every process it
 * starts: after `close` none is left.
 *
 * C1 A job that breaks a limit, or whose caller aborts it, is ended with its process, also while that starts; no other job runs in it.
 * C2 Accounts are served round-robin, and none has all processes where there are several: one account delays another by one job at most.
 * C3 Long jobs never have all processes where there are several, and one account has one long job at a time.
 * C4 Waiting jobs are bounded, by account and in all.
 * C5 Batch jobs have processes of their own: on a busy machine a batch job that gets little processor time delays no interactive job. C2 to
 *    C4 hold for each class by itself.
 * C6 While the event loop of the node is busy, a batch job is started only while fewer batch jobs run than the machine has processor cores besides two,
 *    which are left to the node and its database; one batch job may always run. Running jobs continue. Where only one may run (up to three cores), a
 *    batch job waits for the running one, also for a long one, at most until its limit by the wall clock. Accounts still take turns (C2), so a job
 *    waits for one job of each other account, however many these have.
 */
import { availableParallelism } from 'node:os';
import { CountBy, Distribution } from '../../counts.ts';
import { AppError } from '../../errors.ts';
import { FairGate } from '../../fair-queue.ts';
import { type Compute, type Job, type JobClass, JobStalled, JobStopped, type RunOptions } from './port.ts';
import { ComputeProcess, type ProcessLimits } from './process.ts';
import type { TimeLimits } from './time-limit.ts';

export type ComputePoolOptions = {
  /** For each class of jobs. */
  processes?: number;
  /** JavaScript heap of one process. */
  heapMb?: number;
  maxWaitingOfAccount?: number;
  maxWaiting?: number;
  /** Longest idle time of a process. */
  idleMs?: number;
  /** Of a process until it accepts jobs. */
  start?: TimeLimits;
  /** Default: those of this machine that this process may use. */
  cores?: number;
  /** How often the utilization of the event loop is sampled. */
  sampleMs?: number;
  /** The utilization since the last call, from 0 to 1. Default: of this process. */
  utilization?: () => number;
};

/** The share of time from which on the event loop counts as busy. */
const busyUtilization = 0.3;
/** One for the event loop and one for PostgreSQL. */
const coresOfNode = 2;

const defaultProcesses = 3;
const longMs = 15_000;
const outcomes = { time: 'stopped_time', memory: 'stopped_memory', crash: 'stopped_crash' } as const;
const boundsS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export class ComputeStats {
  readonly jobs = new CountBy(['job', 'outcome']);
  readonly durationS = new Distribution(boundsS);
  readonly waitS = new Distribution(boundsS);
}

export class ComputePool implements Compute {
  readonly stats = new ComputeStats();
  private readonly sets: Record<JobClass, ProcessSet>;
  private readonly closing = new AbortController();
  private readonly sampling: NodeJS.Timeout;

  constructor(options: ComputePoolOptions = {}) {
    const { processes = defaultProcesses, sampleMs = 500, cores = availableParallelism(), utilization = ownUtilization() } = options;
    const newSet = (isBatch: boolean) => new ProcessSet(options, isBatch, this.stats, this.closing.signal);
    this.sets = { interactive: newSet(false), batch: newSet(true) };
    const whileBusy = Math.min(processes, Math.max(1, cores - coresOfNode));
    const sample = () => this.sets.batch.resize(utilization() > busyUtilization ? whileBusy : processes);
    this.sampling = setInterval(sample, sampleMs).unref();
  }

  get size(): { running: number; waiting: number; processes: number } {
    const [a, b] = [this.sets.interactive.size, this.sets.batch.size];
    return { running: a.running + b.running, waiting: a.waiting + b.waiting, processes: a.processes + b.processes };
  }

  async run<Input, Result>(job: Job<Input, Result>, input: Input, options: RunOptions): Promise<Result> {
    const { signal } = options;
    const ends = signal === undefined ? this.closing.signal : AbortSignal.any([signal, this.closing.signal]);
    try {
      const result = await this.sets[job.jobClass ?? 'interactive'].run(job as Job<never, unknown>, input, { ...options, signal: ends });
      this.stats.jobs.add([job.name, 'done']);
      return result as Result;
    } catch (error) {
      this.stats.jobs.add([job.name, ends.aborted ? 'aborted' : outcomeOf(error)]);
      // The exit of a process may be reported before the abort that caused it.
      throw ends.aborted ? ends.reason : error;
    }
  }

  /** Ends running and waiting jobs; resolves when every process has ended. */
  async close(): Promise<void> {
    clearInterval(this.sampling);
    this.closing.abort(new AppError('draining', 'The service is stopping'));
    await Promise.all([this.sets.interactive.end(), this.sets.batch.end()]);
  }
}

/** The processes for one class of jobs. */
class ProcessSet {
  private readonly limits: ProcessLimits;
  private readonly idleMs: number;
  private readonly stats: ComputeStats;
  private readonly closing: AbortSignal;
  private readonly gate: FairGate;
  private readonly longGate: FairGate;
  private readonly alive = new Set<ComputeProcess>();
  private readonly idle: { process: ComputeProcess; timer: NodeJS.Timeout }[] = [];

  constructor(options: ComputePoolOptions, isBatch: boolean, stats: ComputeStats, closing: AbortSignal) {
    const { processes = defaultProcesses, heapMb = 256, idleMs = 30_000, start = { timeMs: 30_000, wallMs: 120_000 } } = options;
    this.limits = { heapMb, start, isBatch };
    this.idleMs = idleMs;
    this.stats = stats;
    this.closing = closing;
    const waiting = { maxWaiting: options.maxWaiting ?? 1_024, maxWaitingEach: options.maxWaitingOfAccount ?? 256 };
    const rejection = { full: 'Too much waits to be computed; try again later', retryAfterS: 5 };
    this.gate = new FairGate({ ...boundsOf(processes), ...waiting, ...rejection });
    this.longGate = new FairGate({ ...longBoundsOf(processes), ...waiting, ...rejection });
  }

  /** How many jobs may run at once; running jobs continue. */
  resize(processes: number): void {
    const [all, long] = [boundsOf(processes), longBoundsOf(processes)];
    this.gate.resize(all.maxRunning, all.maxRunningEach);
    this.longGate.resize(long.maxRunning, long.maxRunningEach);
  }

  get size(): { running: number; waiting: number; processes: number } {
    const { running, waiting } = this.gate.size;
    return { running, waiting: waiting + this.longGate.size.waiting, processes: this.alive.size };
  }

  async run(
    job: Job<never, unknown>,
    input: unknown,
    { account, signal, open, onReport }: RunOptions & { signal: AbortSignal },
  ): Promise<unknown> {
    const sinceMs = performance.now();
    const leaves: (() => void)[] = [];
    try {
      if (job.timeMs > longMs) leaves.push(await this.longGate.enter(account, signal));
      leaves.push(await this.gate.enter(account, signal));
      this.stats.waitS.record((performance.now() - sinceMs) / 1_000);
      return await this.perform(job, input, signal, { open, onReport });
    } finally {
      for (const leave of leaves) leave();
    }
  }

  /** Resolves when every process has ended. */
  async end(): Promise<void> {
    for (const { timer } of this.idle.splice(0)) clearTimeout(timer);
    await Promise.all([...this.alive].map((process) => process.kill()));
  }

  private async perform(
    job: Job<never, unknown>,
    input: unknown,
    signal: AbortSignal,
    callbacks: Pick<RunOptions, 'open' | 'onReport'>,
  ): Promise<unknown> {
    const beganAtMs = performance.now();
    const process = this.takeProcess();
    try {
      return await process.run({ job, input, signal, ...callbacks });
    } finally {
      this.stats.durationS.record((performance.now() - beganAtMs) / 1_000);
      if (process.usable && !this.closing.aborted) this.keep(process);
      else await process.kill();
    }
  }

  private takeProcess(): ComputeProcess {
    for (let idle = this.idle.pop(); idle !== undefined; idle = this.idle.pop()) {
      clearTimeout(idle.timer);
      idle.process.hold(true);
      if (idle.process.usable) return idle.process;
    }
    const process = new ComputeProcess(this.limits);
    this.alive.add(process);
    void process.gone.then(() => this.alive.delete(process));
    return process;
  }

  private keep(process: ComputeProcess): void {
    process.hold(false);
    const drop = () => {
      const at = this.idle.findIndex((idle) => idle.process === process);
      if (at >= 0) this.idle.splice(at, 1);
      void process.kill();
    };
    this.idle.push({ process, timer: setTimeout(drop, this.idleMs).unref() });
  }
}

const allButOne = (processes: number): number => Math.max(1, processes - 1);
const boundsOf = (processes: number) => ({ maxRunning: processes, maxRunningEach: allButOne(processes) });
const longBoundsOf = (processes: number) => ({ maxRunning: allButOne(processes), maxRunningEach: 1 });

/** The event loop of this process. */
function ownUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

function outcomeOf(error: unknown): string {
  if (error instanceof JobStopped) return outcomes[error.reason];
  if (error instanceof JobStalled) return 'stopped_wall';
  return error instanceof AppError && error.code === 'overloaded' ? 'overloaded' : 'failed';
}
