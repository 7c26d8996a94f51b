/**
 * One computing process. Not a thread: a thread that allocates past its limit within one built-in function (a join, a growing map,
 * JSON.parse) ends the whole node. Limits of time and memory are set from outside; a process that exceeded one is not used again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError, type ErrorCode, ToolError } from '../../errors.ts';
import { lowerProcess, lowerSession } from '../../process-priority.ts';
import { type Job, JobStalled, JobStopped } from './port.ts';
import type { PlainError, ToChild, ToParent } from './protocol.ts';
import { SentSources } from './sent-sources.ts';
import { processorMsOf, type TimeLimits, timeLimit } from './time-limit.ts';

export type ProcessLimits = {
  /** Heap for JavaScript objects. Other memory (buffers, code, Node itself) may take `extraMb` in addition. */
  heapMb: number;
  /** To start. */
  start: TimeLimits;
  /** Whether it may get hardly any processor time while others need it. */
  isBatch: boolean;
};

export type ProcessRun = {
  job: Job<never, unknown>;
  input: unknown;
  signal: AbortSignal;
  open?: () => Promise<NodeJS.ReadableStream>;
  onReport?: (data: unknown) => void;
};

const programFile = fileURLToPath(new URL('./child.ts', import.meta.url));
const extraMb = 350;
/** Processor time after which a process is replaced, and after which the system kills one whose node was killed while it computed. */
const maxCpuMs = 60_000;
const orphanCpuS = 300;
/** Below the node's own priority: on few cores, requests run first. Further below, jobs would take minutes on a machine whose cores are all busy. */
const niceness = 10;
/** How often the start of a process is checked against its limit. */
const startCheckMs = 1_000;

export class ComputeProcess {
  /** Settles when it accepts jobs; rejects with `unavailable` when it cannot be started. */
  readonly ready: Promise<void>;
  readonly gone: Promise<void>;
  private readonly child: ChildProcess;
  private inService = true;
  private isGone = false;
  private cpuMs = 0;
  private onMessage: (message: ToParent) => void = () => {};
  private onGone: () => void = () => {};

  constructor(limits: ProcessLimits) {
    this.child = spawnChild(limits);
    const stderrTail = tailOf(this.child);
    this.gone = new Promise((resolve) => {
      const end = () => {
        this.inService = false;
        this.isGone = true;
        resolve();
        this.onGone();
      };
      this.child.once('exit', end);
      this.child.once('error', end);
    });
    this.ready = new Promise<void>((resolve, reject) => {
      const fail = () => {
        reject(new AppError('unavailable', 'No process for computing can be started', { cause: new Error(stderrTail()) }));
        void this.kill();
      };
      const limit = this.limit(limits.start);
      const timer = setInterval(() => typeof limit() === 'string' && fail(), startCheckMs);
      this.onGone = fail;
      this.onMessage = () => {
        clearInterval(timer);
        resolve();
      };
      void this.gone.then(() => clearInterval(timer));
    });
    // The run that needs the process gets the failure; an unhandled rejection must not end the node.
    this.ready.catch(() => {});
    this.child.on('message', (message) => this.onMessage(message as ToParent));
  }

  /** Whether it may be given another job. */
  get usable(): boolean {
    return this.inService && this.cpuMs < maxCpuMs;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /**
   * Runs one job; one at a time. Waits until the process has started. A job that exceeds a limit of time, or whose signal is aborted, ends the process,
   * also while that starts. Rejects with `JobStopped`, `JobStalled`, `unavailable` where the process cannot be started, or the signal's reason.
   */
  async run({ job, input, signal, open, onReport }: ProcessRun): Promise<unknown> {
    const sources = new SentSources(open, (message) => this.say(message));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const stop = (reason: unknown) => {
      reject(reason);
      void this.kill();
    };
    const onAbort = () => stop(signal.reason);
    let timer: NodeJS.Timeout | undefined;
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([promise, this.ready]);
      const limit = this.limit(job);
      const check = () => {
        const next = limit();
        if (next === 'time') stop(new JobStopped(`${job.name} took longer than ${job.timeMs / 1000} s`, 'time'));
        else if (next === 'wall') stop(new JobStalled(job));
        else timer = setTimeout(check, next);
      };
      timer = setTimeout(check, Math.min(job.timeMs, job.wallMs));
      this.onGone = () => reject(this.stopped(job));
      this.onMessage = (message) => {
        if (message.op === 'done' || message.op === 'threw') this.cpuMs += message.cpuMs;
        if (message.op === 'done') resolve(message.result);
        else if (message.op === 'threw') reject((message.error.ofSource && sources.failure) || revived(message.error));
        else if (message.op === 'report') {
          try {
            onReport?.(message.data);
          } catch (error) {
            stop(error);
          }
        } else if (message.op !== 'ready') sources.answer(message);
      };
      if (this.isGone) reject(this.stopped(job));
      else this.say({ op: 'run', module: job.module.href, input });
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.onGone = this.onMessage = () => {};
      sources.close();
    }
  }

  private limit(limits: TimeLimits): () => number | 'time' | 'wall' {
    return timeLimit(limits, () => processorMsOf(this.pid));
  }

  /** Kills the process at once; resolves when it has ended. */
  kill(): Promise<void> {
    this.inService = false;
    if (!this.isGone) this.hold(true);
    this.child.kill('SIGKILL');
    return this.gone;
  }

  /** Whether the process keeps the node's process alive: not while it is idle. */
  hold(held: boolean): void {
    for (const part of [this.child, this.child.channel]) held ? part?.ref() : part?.unref();
  }

  /** Throws for a message that cannot be serialised; a message to a process that has just ended is ignored, its exit is handled. */
  private say(message: ToChild): void {
    if (!this.child.connected) return;
    this.child.send(message, () => {});
  }

  private stopped(job: { name: string }): JobStopped {
    // V8 aborts at the heap limit, the system's allocator at the limit of the process.
    const memory = this.child.signalCode === 'SIGABRT' || this.child.exitCode === 134;
    const what = memory ? 'needed more memory than it may use' : 'ended unexpectedly';
    return new JobStopped(`${job.name} ${what}`, memory ? 'memory' : 'crash');
  }
}

function spawnChild({ heapMb, isBatch }: ProcessLimits): ChildProcess {
  // Limits that this system does not support, or that are already lower, stay as they are.
  const limits = [`-d ${(heapMb + extraMb) * 1024}`, `-t ${orphanCpuS}`, '-f 0', '-c 0'].map((limit) => `ulimit ${limit} 2>/dev/null || :`);
  const node = [process.execPath, `--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', programFile];
  const child = spawn('/bin/sh', ['-c', [...limits, 'exec "$@"'].join('\n'), 'compute', ...node], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A session of lower priority, also below PostgreSQL's.
    detached: isBatch,
  });
  if (isBatch) lowerSession(child.pid, niceness);
  lowerProcess(child.pid, niceness);
  return child;
}

function revived({ name, message, code, stack, cause }: PlainError): Error {
  const error =
    name === 'ToolError' ? new ToolError(message) : code === undefined ? new Error(message) : new AppError(code as ErrorCode, message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  if (cause !== undefined) error.cause = new Error(cause);
  return error;
}

/** The last error output of the process, for the log. */
function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-1_000);
  });
  (child.stderr as { unref?(): void } | null)?.unref?.();
  return () => tail.trim();
}
