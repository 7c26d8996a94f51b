/** Counts the requests of a single node: the buckets of all callers are in this process. */
import { LRUCache } from 'lru-cache';
import { type Bucket, type RateLimitState, rateLimitStateOf, retryAfterS, spentAfter, type Taken, takeFrom, tokenSize } from './bucket.ts';
import type { Rates } from './rates.ts';

const maxCallers = 100_000;

export class OwnRates implements Rates {
  private readonly buckets = new LRUCache<string, Bucket>({ max: maxCallers });
  private readonly nowUs: () => number;

  /** @param nowUs monotonic clock in microseconds */
  constructor(nowUs: () => number = () => Math.floor(performance.now() * 1_000)) {
    this.nowUs = nowUs;
  }

  take(caller: string, perMinute: number): Taken {
    const nowUs = this.nowUs();
    let bucket = this.buckets.get(caller);
    if (bucket === undefined) this.buckets.set(caller, (bucket = { spent: 0, atUs: nowUs, perMinute }));
    const allowed = takeFrom(bucket, nowUs, perMinute);
    return { allowed, state: rateLimitStateOf(bucket.spent, perMinute), retryAfterS: allowed ? 0 : retryAfterS(bucket.spent, perMinute) };
  }

  refund(caller: string): void {
    const bucket = this.buckets.peek(caller);
    if (bucket !== undefined) bucket.spent = Math.max(0, bucket.spent - tokenSize);
  }

  peek(caller: string, perMinute: number): RateLimitState {
    const bucket = this.buckets.peek(caller);
    return rateLimitStateOf(bucket === undefined ? 0 : spentAfter(bucket.spent, this.nowUs() - bucket.atUs, bucket.perMinute), perMinute);
  }

  stop(): void {}
}
