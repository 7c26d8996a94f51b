/**
 * Counts requests across a cluster. The buckets are in Redis (`rate-script.ts`). This node leases some tokens of a busy caller's bucket and
 * grants them itself, so that most requests do not wait for Redis. While Redis is unavailable each node grants its share, limit ÷ nodes.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, machineClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { type RateLimitState, rateLimitStateOf, type Taken } from './bucket.ts';
import { LeasedBucket, type Moment } from './leased-bucket.ts';
import type { RateAsk, RateReply } from './rate-script.ts';
import type { Rates } from './rates.ts';

/** The store of the buckets. Rejects without an answer in time; the query may have been executed. */
export type RateStore = { ask(caller: string, ask: RateAsk): Promise<RateReply> };

export type LeasedRatesOptions = {
  store: RateStore;
  /** This node's incarnation. */
  node: string;
  /** Nodes of the newest view that accept requests, including this one: 1 or more. */
  nodes(): number;
  log: Log;
  /** Monotonic clock in microseconds. */
  nowUs?: () => number;
  clock?: Clock;
};

const maxCallers = 50_000;
const leaseMs = 2_000;
const sweepEveryMs = 250;
/** Tokens held for an idle caller are returned when the rest of their lease is this short. */
const returnAfterUs = 600_000;
/** Pause between attempts to reach Redis while it is unavailable. */
const tryAgainUs = 250_000;

export class LeasedRates implements Rates {
  /** Queries sent to Redis. */
  asks = 0;
  private readonly options: Required<LeasedRatesOptions>;
  private readonly buckets: LRUCache<string, LeasedBucket>;
  /** Buckets that hold tokens. */
  private readonly holding = new Map<string, LeasedBucket>();
  private readonly sweeper: NodeJS.Timeout;
  private isRedisDown = false;
  private triedAtUs = 0;
  private n = 0;

  constructor(options: LeasedRatesOptions) {
    this.options = { nowUs: () => Math.floor(performance.now() * 1_000), clock: machineClock, ...options };
    this.buckets = new LRUCache({ max: maxCallers, dispose: (_, caller) => this.holding.delete(caller) });
    this.sweeper = setInterval(() => this.sweep(), sweepEveryMs);
    this.sweeper.unref();
  }

  take(caller: string, perMinute: number): Taken | Promise<Taken> {
    const now = this.now();
    const bucket = this.bucketOf(caller, perMinute, now.us);
    bucket.recordRequest(now.us, perMinute);
    if (this.isRedisDown) return this.takeLocal(caller, bucket, now.us);
    if (bucket.takeLeased(now)) {
      if (bucket.isLow(now.us) && this.mayAsk(bucket, now.us)) void this.ask(caller, bucket);
      return bucket.allow(now.us);
    }
    if (bucket.isRefused(now.us)) return bucket.refuse(now.us);
    if (!bucket.asking && !this.mayAsk(bucket, now.us)) return bucket.refuse(now.us);
    return new Promise((resolve) => {
      bucket.waiting.push(resolve);
      if (!bucket.asking) void this.ask(caller, bucket);
    });
  }

  refund(caller: string): void {
    const bucket = this.buckets.peek(caller);
    // A query in flight has reported the held tokens to Redis without this one.
    if (bucket === undefined || bucket.asking) return;
    bucket.refund();
    if (bucket.held > 0) this.holding.set(caller, bucket);
  }

  peek(caller: string, perMinute: number): RateLimitState {
    const bucket = this.buckets.peek(caller);
    return bucket === undefined ? rateLimitStateOf(0, perMinute) : bucket.state(this.now().us);
  }

  /** Returns the tokens held for idle callers. Public for tests: a timer calls it. */
  sweep(): void {
    const now = this.now();
    for (const [caller, bucket] of this.holding) {
      bucket.endLease(now);
      if (bucket.held === 0) this.holding.delete(caller);
      // A busy caller's lease would have been renewed already.
      else if (!bucket.asking && !this.isRedisDown && bucket.endsWithin(now.us, returnAfterUs))
        void this.ask(caller, bucket, bucket.returnLeased());
    }
  }

  stop(): void {
    clearInterval(this.sweeper);
  }

  private takeLocal(caller: string, bucket: LeasedBucket, nowUs: number): Taken {
    if (!bucket.asking && nowUs - this.triedAtUs >= tryAgainUs) void this.ask(caller, bucket);
    return bucket.takeLocal(nowUs, this.options.nodes());
  }

  private mayAsk(bucket: LeasedBucket, nowUs: number): boolean {
    return !bucket.asking && bucket.mayAsk(nowUs, this.options.nodes());
  }

  /** Asks for tokens for waiting and expected requests; then answers the waiting ones. */
  private async ask(caller: string, bucket: LeasedBucket, back = 0): Promise<void> {
    const { store, node, nodes } = this.options;
    const asked = this.now();
    const want = bucket.waiting.length;
    const question = { ...bucket.ask(asked.us, nodes(), want, back), node, n: ++this.n, leaseMs };
    this.asks++;
    this.triedAtUs = asked.us;
    try {
      const reply = await store.ask(caller, question);
      bucket.answered(reply, asked, this.now().us, leaseMs);
      this.setRedisDown(false);
      if (bucket.held > 0 && this.buckets.peek(caller) === bucket) this.holding.set(caller, bucket);
    } catch {
      bucket.asking = false;
      this.setRedisDown(true);
    }
    this.answerWaiting(caller, bucket, want);
  }

  /** @param asked number of waiting requests in the query: they get the granted tokens, or none */
  private answerWaiting(caller: string, bucket: LeasedBucket, asked: number): void {
    const now = this.now();
    const { waiting } = bucket;
    bucket.waiting = [];
    waiting.forEach((answer, i) => {
      if (this.isRedisDown) answer(bucket.takeLocal(now.us, this.options.nodes()));
      else if (bucket.takeLeased(now)) answer(bucket.allow(now.us));
      else if (i < asked || bucket.isRefused(now.us)) answer(bucket.refuse(now.us));
      else bucket.waiting.push(answer);
    });
    if (bucket.waiting.length > 0) void this.ask(caller, bucket);
  }

  private setRedisDown(isRedisDown: boolean): void {
    if (isRedisDown === this.isRedisDown) return;
    this.isRedisDown = isRedisDown;
    const { log } = this.options;
    if (isRedisDown) log.warn({}, 'Redis does not answer in time: this node applies its share of every rate limit');
    else log.info({}, 'rate limits are counted across the cluster again');
  }

  private bucketOf(caller: string, perMinute: number, nowUs: number): LeasedBucket {
    let bucket = this.buckets.get(caller);
    if (bucket === undefined) this.buckets.set(caller, (bucket = new LeasedBucket(perMinute, nowUs)));
    return bucket;
  }

  private now(): Moment {
    return { us: this.options.nowUs(), wallMs: this.options.clock.nowMs() };
  }
}
