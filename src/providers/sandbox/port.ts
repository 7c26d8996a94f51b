/** Code of an agent, run where it can do nothing but compute and call three functions for files. */
import type { FileCall, SandboxOutcome } from './protocol.ts';

export { type FileCall, sandboxLimits } from './protocol.ts';

export type SandboxResult = SandboxOutcome & { stdout: string };
/** What the code's three functions do. The message of a `ToolError` is what the code sees; any other error ends the run with it. */
export type SandboxFiles = (call: FileCall) => Promise<unknown>;

export type SandboxPool = {
  /**
   * Runs `code` of an account in a process of its own, which is gone when this settles. Failures of the code are in the result; rejects
   * with `overloaded` when too many wait or no place has become free in time, `unavailable` when no process can be started, and with the
   * signal's reason when it is aborted.
   */
  run(accountId: string, code: string, files: SandboxFiles, signal: AbortSignal): Promise<SandboxResult>;
  /** Kills what runs and waits; resolves when every process is gone. */
  close(): Promise<void>;
  /** Process ids of the children alive now. */
  pids(): number[];
  /** For metrics. */
  readonly load: { running: number; waiting: number; turnedAway: number };
};
