/**
 * The messages between parent and sandbox child: one JSON value a line, on the child's stdin and stdout, never longer than `maxLineChars`.
 * The child sends a question, the parent the answer; between the two neither sends anything else.
 */

export const sandboxLimits = {
  /** Wall-clock time from when the code is sent. */
  timeMs: 10_000,
  /** All allocations of the code. */
  memoryBytes: 128 * 2 ** 20,
  codeChars: 100_000,
  stdoutChars: 64 * 1024,
  resultChars: 32 * 1024,
  /** Calls of readFile, writeFile and listFiles together. */
  calls: 1000,
  writes: 100,
  /** One file read or written, as text. */
  fileChars: 8 * 2 ** 20,
  /** All files read and written in one run. */
  totalChars: 32 * 2 ** 20,
} as const;

/** Escapes can make a text six times as long; the sending side refuses a text that would not fit. */
export const maxLineChars = 2 * sandboxLimits.fileChars;

export type FileCall = { op: 'readFile'; path: string } | { op: 'writeFile'; path: string; text: string } | { op: 'listFiles' };
export type SandboxOutcome = { result: unknown; error: string | null };

/** From the child. */
export type ChildLine = { op: 'ready' } | { op: 'print'; text: string } | FileCall | ({ op: 'done' } & SandboxOutcome);
/** From the parent: first the code, then one answer for each file call. */
export type ParentLine = { op: 'run'; code: string; timeMs: number } | { ok: true; value: unknown } | { ok: false; message: string };

/** To a program that runs code over batches of numbers (`batch-child.ts`): first what to run, then batches. after a batch, and after its
 * answer, come its numbers, as so many bytes of doubles. */
export type ToBatches =
  | {
      op: 'open';
      harness: string;
      settings: unknown;
      code: string;
      inputs: number;
      outputs: number;
      memoryBytes: number;
      stepMs: number;
      cpuMs: number;
    }
  | { op: 'batch'; count: number; bytes: number };
export type FromBatches =
  | { op: 'ready' }
  | { op: 'opened' }
  | { op: 'batched'; bytes: number }
  | { op: 'failed'; reason: GuestFailure; step: number; message: string };
/** What stopped the code: its own error, a step or all of it that took too long, its memory, or the end of its process. */
export type GuestFailure = 'error' | 'step_time' | 'time' | 'memory' | 'crash';
