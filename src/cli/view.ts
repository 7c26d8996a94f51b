/** What a person or a program sees of a task at work: one of a live view, a log, and JSON lines. */
import type { Progress } from './progress.ts';
import type { TaskEvent } from './task.ts';

export interface View {
  /** `progress` has the event in it already. */
  event(event: TaskEvent, progress: Progress): void;
  /** The task was looked at anew. */
  refresh(progress: Progress): void;
  /** A word about the command's own doings, on one line. */
  notice(line: string): void;
  /** Keeps quiet while a question stands on the screen; what comes meanwhile is shown afterwards. */
  hold(): void;
  release(): void;
  /** Takes away what is only of the moment; nothing is shown after it but notices. */
  end(): void;
}

/** Lines kept while a question is on the screen; the oldest go first. */
export const maxHeldLines = 1_000;
