/**
 * When a watcher's next round of queries may begin. Signals of a broker's stream and orders that change often request many rounds, and each
 * round counts against the limits of the broker's API.
 */

/** Rounds in direct succession. */
const burst = 5;
/** As long as an order waits for a broker (`orders/outbound.ts`): without polls nothing is known of fills. */
const maxWaitMs = 60_000;

export class RoundPace {
  private readonly everyMs: number;
  /** Each round moves it by one pause; it is ahead of the time after rounds in direct succession. */
  private usedUntilMs = Number.NEGATIVE_INFINITY;
  private waitUntilMs = Number.NEGATIVE_INFINITY;

  /** @param everyMs the pause between rounds that are requested all the time */
  constructor(everyMs: number) {
    this.everyMs = everyMs;
  }

  /** The time until a round may begin; 0: now. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.waitUntilMs - nowMs, this.usedUntilMs - (burst - 1) * this.everyMs - nowMs);
  }

  began(nowMs: number): void {
    this.usedUntilMs = Math.max(this.usedUntilMs, nowMs) + this.everyMs;
  }

  /** The broker answers no queries for this time. */
  wait(waitMs: number, nowMs: number): void {
    this.waitUntilMs = Math.max(this.waitUntilMs, nowMs + Math.min(maxWaitMs, waitMs));
  }
}
