/** The messages between the node and a computing process. One job at a time; the process requests each piece of a source. */

export type ToChild =
  | { op: 'run'; module: string; input: unknown }
  | { op: 'opened' }
  /** The next piece of a source; null at its end. */
  | { op: 'piece'; bytes: Uint8Array | null }
  | { op: 'failed'; error: PlainError };

export type ToParent =
  | { op: 'ready' }
  | { op: 'open'; source: number }
  | { op: 'read'; source: number }
  | { op: 'close'; source: number }
  | { op: 'report'; data: unknown }
  | { op: 'done'; result: unknown; cpuMs: number }
  | { op: 'threw'; error: PlainError; cpuMs: number };

/** An error as data. */
export type PlainError = {
  name: string;
  message: string;
  /** Of an `AppError`. */
  code?: string;
  stack?: string;
  /** The text of its cause, for the log. */
  cause?: string;
  /** The caller's source threw it, and the job passed it on unchanged. */
  ofSource?: boolean;
};
