/**
 * The messages between parent and sandbox child: one JSON value a line, on the child's stdin and stdout, never longer than `maxLineChars`.
 * The child sends a question, the parent the answer; between the two neither sends anything else.
 */
import type { GuestOptions } from './port.ts';

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

/**
 * Messages to the program that runs code over batches of numbers (`batch-child.ts`): first `open`, then batches. A batch and its answer are
 * each followed by their numbers, as the named number of bytes of doubles.
 */
export type ToBatches = ({ op: 'open' } & Omit<GuestOptions, 'signal'>) | { op: 'batch'; count: number; bytes: number };
export type FromBatches =
  | { op: 'ready' }
  | { op: 'opened' }
  | { op: 'batched'; bytes: number }
  | { op: 'failed'; reason: GuestFailure; step: number; message: string };
/** What stopped the code: its own error, the time limit of a step or of the whole run, its memory limit, or the end of its process. */
export type GuestFailure = 'error' | 'step_time' | 'time' | 'memory' | 'crash';
