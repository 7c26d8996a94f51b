/** What a person or a program sees of a task at work: one of a live view, a log, and JSON lines. */
import type { Progress } from './progress.ts';
import type { TaskEvent } from './task.ts';

export interface View {
  /** `progress` has the event in it already. */
  event(event: TaskEvent, progress: Progress): void;
  /** The task was polled. */
  refresh(progress: Progress): void;
  /** A notice about the command itself, on one line. */
  notice(line: string): void;
  /** Pauses output while a question is on the screen; what comes meanwhile is shown afterwards. */
  hold(): void;
  release(): void;
  /** Removes the live part; only notices are shown afterwards. */
  end(): void;
}

/** Lines kept while a question is on the screen; the oldest go first. */
export const maxHeldLines = 1_000;
