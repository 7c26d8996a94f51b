/** Durable work that is being retried: since when, and how often. */
import type { Envelope } from './envelope.ts';

type Retries = { readonly sinceMs: number; times: number };

export class RetryHistory {
  /** May hold settled envelopes until the next clean-up. */
  private readonly retries = new Map<Envelope, Retries>();
  private sweepAtSize = 1_000;

  /** Counts one more try. Returns for how long and how often it has been retried; 0 ms and 1 the first time. */
  countTry(envelope: Envelope, nowMs: number): { forMs: number; times: number } {
    let retries = this.retries.get(envelope);
    if (retries === undefined) {
      retries = { sinceMs: nowMs, times: 0 };
      this.retries.set(envelope, retries);
      if (this.retries.size > this.sweepAtSize) this.removeSettled();
    }
    return { forMs: nowMs - retries.sinceMs, times: ++retries.times };
  }

  /** The number of items being retried, and for how long the oldest has been. */
  size(nowMs: number): { count: number; oldestS: number } {
    let oldestMs = 0;
    this.removeSettled();
    for (const { sinceMs } of this.retries.values()) oldestMs = Math.max(oldestMs, nowMs - sinceMs);
    return { count: this.retries.size, oldestS: oldestMs / 1_000 };
  }

  remove(envelope: Envelope): void {
    this.retries.delete(envelope);
  }

  private removeSettled(): void {
    for (const envelope of this.retries.keys()) if (envelope.settled) this.retries.delete(envelope);
    this.sweepAtSize = 2 * this.retries.size + 1_000;
  }
}
