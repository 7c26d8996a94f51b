/** When a host is asked again whether it has finished. */
import { backoffMs } from '../../../backoff.ts';

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/** @param polls how often it was asked before, from 0 */
export function pollPauseMs(polls: number): number {
  return backoffMs(polls, firstPauseMs, longestPauseMs);
}
