/**
 * Computing over input of callers, files and models. It runs outside the node's event loop, limited in time and memory, so that no input
 * can stop the node or delay other requests.
 */
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { Guest, GuestOptions } from '../sandbox/port.ts';

export type JobClass = 'interactive' | 'batch';

/**
 * A kind of work. `module` names a file whose default export is a `JobFunction`; the computing process loads it on first use. Input and
 * result are copied by structured clone: plain data and byte arrays.
 */
export type Job<Input, Result> = {
  /** For metrics and messages. */
  readonly name: string;
  readonly module: URL;
  /** Processor time of one run: on a busy machine a job gets it later. A job of more than 15 s counts as long, see `Compute`. */
  readonly timeMs: number;
  /**
   * Longest run by the wall clock, which ends a job that waits without computing, or gets too little processor time. Shorter than its caller waits, so
   * that the caller learns what happened to the job.
   */
  readonly wallMs: number;
  /** `batch`: long work without a caller that waits for its next step. It has processes of its own, fewer while the node is busy. Default: `interactive`. */
  readonly jobClass?: JobClass;
  readonly types?: (input: Input) => Result;
};

/**
 * The default export of a job's module. Errors it throws reach the caller with their message, and with their class if that is `ToolError`
 * or `AppError`.
 */
export type JobFunction<Input, Result> = (input: Input, context: JobContext) => Result | Promise<Result>;

export type JobContext = {
  /** Opens the caller's source again, from its start. Its bytes are sent in pieces as they are read. */
  open(): Promise<Readable>;
  /** Aborted when the result is no longer needed. A computing process is killed then; only work in the node's own thread must check the signal. */
  readonly signal: AbortSignal;
  /** Sends the caller a message before the result: the progress of the job, or a part of its output. Resolves when the message has left the process. */
  report(data: unknown): Promise<void>;
  /** Runs code of a caller in a sandbox below this job; what is still open when the job ends is ended with it. */
  openGuest(options: Omit<GuestOptions, 'signal'>): Promise<Guest>;
};

export type RunOptions = {
  /** The account of the work: accounts are served round-robin. */
  account: string;
  /** Ends the work, waiting or running. */
  signal?: AbortSignal;
  /** The source for `JobContext.open`. */
  open?: () => Promise<NodeJS.ReadableStream>;
  /** Is given what the job reports, in order. What it throws ends the run. */
  onReport?: (data: unknown) => void;
};

/** Why a run was ended from outside. */
export type StopReason = 'time' | 'memory' | 'crash';

/** The job needed more time or memory than its limits. Do not retry: it would fail again. */
export class JobStopped extends Error {
  override name = 'JobStopped';
  readonly reason: StopReason;

  constructor(message: string, reason: StopReason) {
    super(message);
    this.reason = reason;
  }
}

/** The job had processor time left at its limit by the wall clock: the machine is too busy, or a source does not answer. It may be run again later. */
export class JobStalled extends AppError {
  constructor({ name, wallMs }: Pick<Job<never, unknown>, 'name' | 'wallMs'>) {
    super('unavailable', `${name} did not end within ${wallMs / 1000} s: too little processor time is free`, { retryAfterS: 10 });
  }
}

export interface Compute {
  /**
   * Runs the job and resolves with its result. Runs wait for a free process of their class, round-robin by account; one account never has
   * all processes, and neither do long jobs. Rejects with the job's error, with `JobStopped`, with `overloaded` when too many wait, with `unavailable`
   * when no process can be started and when the job stalled (`JobStalled`), with `draining` when the node stops, and with the signal's reason when it is aborted.
   */
  run<Input, Result>(job: Job<Input, Result>, input: Input, options: RunOptions): Promise<Result>;
}
