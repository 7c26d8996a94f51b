/** Durable work that is being retried: since when, and how often. */
import type { Envelope } from './envelope.ts';

type Tried = { readonly sinceMs: number; times: number };

export class TriedSince {
  /** May hold settled envelopes until the next clean-up. */
  private readonly tried = new Map<Envelope, Tried>();
  private sweepAtSize = 1_000;

  /** Counts one more try. Returns for how long and how often it has been retried; 0 ms and 1 the first time. */
  again(envelope: Envelope, nowMs: number): { forMs: number; times: number } {
    let tried = this.tried.get(envelope);
    if (tried === undefined) {
      tried = { sinceMs: nowMs, times: 0 };
      this.tried.set(envelope, tried);
      if (this.tried.size > this.sweepAtSize) this.forgetSettled();
    }
    return { forMs: nowMs - tried.sinceMs, times: ++tried.times };
  }

  /** The number of items being retried, and for how long the oldest has been. */
  size(nowMs: number): { count: number; oldestS: number } {
    let oldestMs = 0;
    this.forgetSettled();
    for (const { sinceMs } of this.tried.values()) oldestMs = Math.max(oldestMs, nowMs - sinceMs);
    return { count: this.tried.size, oldestS: oldestMs / 1_000 };
  }

  forget(envelope: Envelope): void {
    this.tried.delete(envelope);
  }

  private forgetSettled(): void {
    for (const envelope of this.tried.keys()) if (envelope.settled) this.tried.delete(envelope);
    this.sweepAtSize = 2 * this.tried.size + 1_000;
  }
}
