/** How long an ask may take, and whether it may be asked again. */
import type { Clock } from '../clock.ts';

export type AskOptions = {
  /** Default: 10 s. */
  timeoutMs?: number;
  /** Instead, by the wall clock; it is turned into the time that is left when it is asked. */
  deadlineMs?: number;
  /** Makes the command take effect once, however often it is asked: the first reply is given again. */
  commandId?: string;
};

export const defaultTimeoutMs = 10_000;

export function timeoutOf({ deadlineMs, timeoutMs = defaultTimeoutMs }: AskOptions, clock: Clock): number {
  if (deadlineMs === undefined) return timeoutMs;
  const nowMs = clock.nowMs();
  return deadlineMs - nowMs;
}
