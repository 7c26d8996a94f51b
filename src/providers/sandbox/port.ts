/** Runs code of an agent where it can only compute and call three functions for files. */
import type { FileCall, SandboxOutcome } from './protocol.ts';

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
  /** Kills running and waiting code; resolves when every process has ended. */
  close(): Promise<void>;
  /** Process ids of the children alive now. */
  pids(): number[];
  /** For metrics. */
  readonly load: { running: number; waiting: number; turnedAway: number };
};
