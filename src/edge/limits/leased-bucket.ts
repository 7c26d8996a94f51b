/** One node's lease of a caller's bucket: tokens that it may grant, and the last known state of the bucket. */
import { type Bucket, type RateLimitState, rateLimitStateOf, retryAfterS, spentAfter, type Taken, takeFrom, tokenSize } from './bucket.ts';
import type { RateAsk, RateReply } from './rate-script.ts';

/** A caller with this many requests within a second is busy: tokens for four seconds at its current rate are leased. */
const busyRequests = 4;
const paceWindowUs = 500_000;
/** Buckets with fewer tokens for each node are not leased: nodes that do not need the last tokens would hold them. */
const minLeasedPerNode = 100;
/** Queries to Redis about a busy bucket: a burst of `asksAtOnce`, then `asksPerSecond` and one more for each `requestsPerAsk` requests. */
const asksAtOnce = 40;
const asksPerSecond = 5;
const requestsPerAsk = 200;

export type Moment = { us: number; wallMs: number };

export class LeasedBucket {
  perMinute: number;
  held = 0;
  /** Requests that wait for tokens. */
  waiting: ((taken: Taken) => void)[] = [];
  asking = false;
  /** The local bucket used while Redis is away; null while Redis answers. */
  private localBucket: Bucket | null = null;
  private heldUntil: Moment = { us: 0, wallMs: 0 };
  private leaseMs = 0;
  private granted = 0;
  private spent = 0;
  private spentAtUs = 0;
  private born = '';
  private refusedUntilUs = 0;
  private asksLeft = asksAtOnce;
  private asksAtUs: number;
  private windowAtUs: number;
  private now = 0;
  private before = 0;

  constructor(perMinute: number, nowUs: number) {
    this.perMinute = perMinute;
    this.asksAtUs = nowUs;
    this.windowAtUs = nowUs;
  }

  /** Counts a request for the pace, before it is allowed or refused. */
  recordRequest(nowUs: number, perMinute: number): void {
    if (perMinute !== this.perMinute) {
      if (perMinute < this.perMinute) this.held = 0;
      this.perMinute = perMinute;
      this.refusedUntilUs = 0;
    }
    if (nowUs - this.windowAtUs >= paceWindowUs) {
      this.before = nowUs - this.windowAtUs < 2 * paceWindowUs ? this.now : 0;
      this.now = 0;
      this.windowAtUs = nowUs;
    }
    this.now++;
    if (this.asksLeft < asksAtOnce) this.asksLeft += 1 / requestsPerAsk;
  }

  /** Grants a token of the lease, if there is one. */
  takeLeased(now: Moment): boolean {
    this.endLease(now);
    if (this.held === 0) return false;
    this.held--;
    return true;
  }

  /** Returns the token that was granted last. */
  refund(): void {
    if (this.localBucket === null) this.held++;
    else this.localBucket.spent = Math.max(0, this.localBucket.spent - tokenSize);
  }

  /** Tokens expire with the lease. */
  endLease({ us, wallMs }: Moment): void {
    if (us >= this.heldUntil.us || wallMs >= this.heldUntil.wallMs) this.held = 0;
  }

  /** Drops all held tokens; returns how many were held. */
  returnLeased(): number {
    const back = this.held;
    this.held = 0;
    return back;
  }

  /** Whether to ask for more, before the last token is used or the lease has ended. */
  isLow(nowUs: number): boolean {
    return this.held <= this.granted >> 2 || (this.heldUntil.us - nowUs) * 2 < this.leaseMs * 1_000;
  }

  /** Whether the lease ends within this time. */
  endsWithin(nowUs: number, us: number): boolean {
    return this.heldUntil.us - nowUs < us;
  }

  /** According to Redis's last answer the bucket is empty, and no token can have been refilled since. */
  isRefused(nowUs: number): boolean {
    return nowUs < this.refusedUntilUs;
  }

  /** Whether Redis may be asked now. If Redis reported few tokens left, queries are few: refilled tokens are fetched in larger amounts. */
  mayAsk(nowUs: number, nodes: number): boolean {
    if (!this.isLeased(nodes)) return true;
    this.asksLeft = Math.min(asksAtOnce, this.asksLeft + ((nowUs - this.asksAtUs) * asksPerSecond) / 1_000_000);
    this.asksAtUs = nowUs;
    return this.asksLeft >= 1;
  }

  /** The query to Redis; it counts as in flight from now on. */
  ask(nowUs: number, nodes: number, want: number, back: number): Omit<RateAsk, 'node' | 'n' | 'leaseMs'> {
    this.asking = true;
    if (this.isLeased(nodes)) this.asksLeft--;
    const pace = Math.max(this.now, this.before);
    const expected = this.isLeased(nodes) && this.now + this.before >= busyRequests && back === 0 ? 4 * pace : 0;
    const debt = this.localBucket === null ? 0 : this.localSpent(nowUs, nodes);
    const { perMinute, held } = this;
    return { perMinute, nodes, want, expected, held, back, born: this.born, spent: this.spentNow(nowUs), debt };
  }

  /** Redis has answered a query that was sent at `asked`. */
  answered({ granted, spent, born, waitUs }: RateReply, asked: Moment, nowUs: number, leaseMs: number): void {
    this.asking = false;
    this.localBucket = null;
    this.held += granted;
    this.granted = granted;
    this.heldUntil = { us: asked.us + leaseMs * 1_000, wallMs: asked.wallMs + leaseMs };
    this.leaseMs = leaseMs;
    this.spent = spent;
    this.spentAtUs = nowUs;
    this.born = born;
    this.refusedUntilUs = waitUs === 0 ? 0 : asked.us + waitUs;
  }

  /** Redis is not available: the node grants its share of the last known level, and its leased tokens. */
  takeLocal(nowUs: number, nodes: number): Taken {
    const share = Math.max(1, Math.floor(this.perMinute / nodes));
    if (this.localBucket === null) {
      const spent = Math.floor(this.spentNow(nowUs) / nodes) - this.held * tokenSize;
      this.localBucket = { spent: Math.max(0, Math.min(spent, share * tokenSize)), atUs: nowUs, perMinute: this.perMinute / nodes };
      this.held = 0;
    }
    const allowed = this.perMinute > 0 && takeFrom(this.localBucket, nowUs, this.perMinute / nodes, share);
    const state = rateLimitStateOf(this.localBucket.spent, share);
    const wait = allowed ? 0 : retryAfterS(this.localBucket.spent, share);
    return { allowed, state: { ...state, limit: this.perMinute }, retryAfterS: wait };
  }

  allow(nowUs: number): Taken {
    return { allowed: true, state: this.state(nowUs), retryAfterS: 0 };
  }

  refuse(nowUs: number): Taken {
    const waitS = Math.max(1, Math.ceil((this.refusedUntilUs - nowUs) / 1_000_000));
    return { allowed: false, state: { ...this.state(nowUs), remaining: 0 }, retryAfterS: waitS };
  }

  state(nowUs: number): RateLimitState {
    return rateLimitStateOf(Math.max(0, this.spentNow(nowUs) - this.held * tokenSize), this.perMinute);
  }

  private isLeased(nodes: number): boolean {
    return this.perMinute >= minLeasedPerNode * nodes;
  }

  private spentNow(nowUs: number): number {
    return spentAfter(this.spent, nowUs - this.spentAtUs, this.perMinute);
  }

  private localSpent(nowUs: number, nodes: number): number {
    return spentAfter(this.localBucket!.spent, nowUs - this.localBucket!.atUs, this.perMinute / nodes);
  }
}
