/**
 * The right to show committed state without asking the database: it is valid for a short time after the database has confirmed this node's
 * shards. Commits are fenced anyway; the lease keeps a node that was paused or disconnected from showing state that another node has
 * changed meanwhile.
 *
 * L1 The lease counts from the start of the check, on the monotonic clock and on the machine's wall clock: the first stops while a machine
 *    is suspended, the second moves when it is set. The lease ends when either clock says so.
 * L2 Without the lease a query waits for a check that began after the query arrived, or for a check that renews the lease.
 * L3 A node that claims shards of a node that was not proven dead waits for longer than a lease before it runs turns.
 */
import { type Clock, machineClock, monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';

export type ReadLeaseOptions = {
  /** Asks the database, and announces losses before it resolves. */
  check: () => Promise<void>;
  /** The machine's wall clock, uncorrected; another one only in tests. */
  clock?: Clock;
  /** Monotonic clock; default: `performance.now()`. */
  monotonicMs?: () => number;
  leaseMs: number;
  /** A query that finds the lease this old has it renewed in the background. */
  renewAfterMs: number;
  /** Longest wait of a query for the database. */
  waitMs: number;
};

type Moment = { wallMs: number; monotonicMs: number };

export class ReadLease {
  private confirmed: Moment | null = null;
  private checking = false;
  /** Queries that arrived since the running check began. */
  private next: PromiseWithResolvers<void> | null = null;
  private readonly options: ReadLeaseOptions;
  private readonly clock: Clock;
  private readonly monotonicMs: () => number;

  constructor(options: ReadLeaseOptions) {
    this.options = options;
    this.clock = options.clock ?? machineClock;
    this.monotonicMs = options.monotonicMs ?? monotonicMs;
  }

  /** Null while the lease is valid; otherwise a promise that resolves when the database has confirmed. Rejects `unavailable`. */
  confirmation(): Promise<void> | null {
    const ageMs = this.ageMs();
    if (ageMs >= this.options.leaseMs) return this.nextCheck();
    if (ageMs >= this.options.renewAfterMs && !this.checking) void this.run(null);
    return null;
  }

  /** Ends the lease. */
  end(): void {
    this.confirmed = null;
  }

  private ageMs(): number {
    if (this.confirmed === null) return Infinity;
    const wallMs = this.clock.nowMs() - this.confirmed.wallMs;
    return wallMs < 0 ? Infinity : Math.max(wallMs, this.monotonicMs() - this.confirmed.monotonicMs);
  }

  private nextCheck(): Promise<void> {
    if (this.next === null) {
      const waiting = (this.next = Promise.withResolvers<void>());
      const timer = setTimeout(() => {
        if (this.next === waiting) this.next = null;
        waiting.reject(unavailable(null));
      }, this.options.waitMs);
      const done = () => clearTimeout(timer);
      waiting.promise.then(done, done);
      // One check serves all queries of this tick.
      if (!this.checking) setImmediate(() => !this.checking && void this.runNext());
    }
    return this.next.promise;
  }

  private async runNext(): Promise<void> {
    const { next } = this;
    this.next = null;
    if (next !== null) await this.run(next);
  }

  private async run(waiting: PromiseWithResolvers<void> | null): Promise<void> {
    this.checking = true;
    const begun: Moment = { wallMs: this.clock.nowMs(), monotonicMs: this.monotonicMs() };
    try {
      await this.options.check();
      this.confirmed = begun;
      waiting?.resolve();
      // L2: queries that arrived after the check had begun are answered too if the lease is valid now.
      if (this.next !== null && this.ageMs() < this.options.leaseMs) {
        this.next.resolve();
        this.next = null;
      }
    } catch (error) {
      waiting?.reject(unavailable(error));
    } finally {
      this.checking = false;
    }
    if (this.next !== null) void this.runNext();
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer; try again shortly', { retryAfterS: 2, cause: cause ?? undefined });
}
