/** Runs code of callers and agents where it can only compute: once, with three functions for files, or repeatedly over batches of numbers. */
import type { FileCall, GuestFailure, SandboxOutcome } from './protocol.ts';

export { type FileCall, sandboxLimits } from './protocol.ts';

export type SandboxResult = SandboxOutcome & { stdout: string };
/** Implements the code's three functions. The code gets the message of a `ToolError`; any other error ends the run with it. */
export type SandboxFiles = (call: FileCall) => Promise<unknown>;

export type SandboxPool = {
  /**
   * Runs `code` of an account in a process of its own, which has ended when this settles. Failures of the code are in the result; rejects
   * with `overloaded` when too many wait or no slot was free in time, `unavailable` when no process can be started, and with the signal's
   * reason when it is aborted.
   */
  run(accountId: string, code: string, files: SandboxFiles, signal: AbortSignal): Promise<SandboxResult>;
  /** Resolves unless the last run found that no process can be started: then it rejects with `unavailable`. */
  check(): Promise<void>;
  /** Kills running and waiting code; resolves when every process has ended. */
  close(): Promise<void>;
  /** Process ids of the children alive now. */
  pids(): number[];
  /** For metrics. */
  readonly load: { running: number; waiting: number; rejected: number };
};

export type GuestOptions = {
  /**
   * Trusted JavaScript beside the caller's code: an expression that is a function (settings, input, output, progress) and answers {start, batch}.
   * The last three are ArrayBuffers of doubles, shared with the host; in the first double of `progress` the harness keeps the number of the step
   * under way. `start()` is called after the caller's code was evaluated, then `batch(count)` for each batch, which is in `input` then.
   * Whatever the caller's code could change, the harness has to take hold of before.
   */
  harness: string;
  settings: unknown;
  code: string;
  /** Doubles in the arrays. */
  inputs: number;
  outputs: number;
  /** All that harness and code allocate, without these arrays. */
  memoryBytes: number;
  /** Processor time of one step; evaluating the code is one. */
  stepMs: number;
  /** Processor time of all. */
  cpuMs: number;
  signal: AbortSignal;
};

/** The code of a caller in a process of its own. Rejections are `GuestFailed`, `unavailable` where no process can be started, or the signal's reason. */
export type Guest = {
  /** One batch, answered with what is in `output` after it. The next one may be given before the answer: batches are worked off in order. `numbers` may be changed once it is answered. */
  run(batch: { count: number; numbers: Float64Array }): Promise<Float64Array>;
  /** Ends the process; resolves when it has ended. */
  close(): Promise<void>;
};
export type OpenGuest = (options: GuestOptions) => Promise<Guest>;

/** The code failed, or was stopped, in step number `step`. */
export class GuestFailed extends Error {
  override name = 'GuestFailed';
  readonly reason: GuestFailure;
  readonly step: number;

  constructor(message: string, reason: GuestFailure, step: number) {
    super(message);
    this.reason = reason;
    this.step = step;
  }
}
