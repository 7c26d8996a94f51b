/** The pause between two polls of a host. */
import { backoffMs } from '../../../backoff.ts';

const firstPauseMs = 250;
const maxPauseMs = 10_000;

/** @param polls how often it was polled before, from 0 */
export function pollPauseMs(polls: number): number {
  return backoffMs(polls, firstPauseMs, maxPauseMs);
}
