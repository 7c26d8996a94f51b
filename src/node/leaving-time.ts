/**
 * How a node divides the time from the end of its drain's grace to its exit, so that it ends inside what its orchestrator gives it. A hand-over
 * that uses all of its time, as while PostgreSQL is away, leaves less for the answers to asks that wait for a commit.
 */
import { monotonicMs } from '../clock.ts';

/** Documented: operators give a node `DRAIN_GRACE_MS` and this. */
const endWithinMs = 25_000;
/** An ask has no longer deadline. */
const maxAnswersMs = 10_000;
const minAnswersMs = 1_000;

export class LeavingTime {
  /** What follows the last answer: the record of a clean stop (1 s), shards and view (2 s), streams (1 s), connections (1 s), traces (3 s). */
  static readonly closingMs = 8_000;
  private endByMs = Number.POSITIVE_INFINITY;
  private readonly nowMs: () => number;

  constructor(nowMs: () => number = monotonicMs) {
    this.nowMs = nowMs;
  }

  /** The grace of the drain is over. */
  begin(): void {
    this.endByMs = this.nowMs() + endWithinMs;
  }

  /** How long the runtime waits for the answers of asks that it has accepted. */
  forAnswersMs(): number {
    const leftMs = this.endByMs - LeavingTime.closingMs - this.nowMs();
    return Math.max(minAnswersMs, Math.min(maxAnswersMs, leftMs));
  }
}
