/** How long an ask may take, and whether it may be repeated. */
import type { Clock } from '../clock.ts';

export type AskOptions = {
  /** Default: 10 s. */
  timeoutMs?: number;
  /** Instead of `timeoutMs`: a deadline on the wall clock, converted to the remaining time when the ask is sent. */
  deadlineMs?: number;
  /** The command takes effect once, however often it is asked: repeats get the first reply. */
  commandId?: string;
};

export const defaultTimeoutMs = 10_000;

export function timeoutOf({ deadlineMs, timeoutMs = defaultTimeoutMs }: AskOptions, clock: Clock): number {
  if (deadlineMs === undefined) return timeoutMs;
  const nowMs = clock.nowMs();
  return deadlineMs - nowMs;
}
