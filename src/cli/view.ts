/** The output about a running task: a live view, a log, or JSON lines. */
import type { Progress } from './progress.ts';
import type { TaskEvent } from './task.ts';

export interface View {
  /** `progress` already contains the event. */
  event(event: TaskEvent, progress: Progress): void;
  /** The task was polled. */
  refresh(progress: Progress): void;
  /** A notice about the command itself, on one line. */
  notice(line: string): void;
  /** Pauses output while a question is on the screen; later output is shown afterwards. */
  hold(): void;
  release(): void;
  /** Removes the live part; only notices are shown afterwards. */
  end(): void;
}

/** Most lines kept while a question is on the screen; the oldest are dropped first. */
export const maxHeldLines = 1_000;
