/**
 * The right to show committed state without asking: it lasts a moment after the database has confirmed what this node owns. Commits are
 * fenced anyway; this keeps a node that slept, or was cut off, from showing what another has changed meanwhile.
 *
 * L1 The lease counts from the moment the check was begun, by the monotonic and by the machine's wall clock: a suspended machine stops the
 *    first, a set clock moves the second. Either one ends it.
 * L2 Without the lease an answer waits for a check that began after the question came, or for one that renews the lease.
 * L3 A node that claims shards of a node that was not proven dead waits for longer than a lease before it takes turns.
 */
import { type Clock, machineClock, monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';

export type ReadLeaseOptions = {
  /** Asks the database, and announces what is lost before it resolves. */
  check: () => Promise<void>;
  /** The machine's wall clock, as it is, unless a test says otherwise. */
  clock?: Clock;
  /** Milliseconds that never jump: `performance.now()` unless a test says otherwise. */
  monotonicMs?: () => number;
  leaseMs: number;
  /** A question that comes when the lease is this old has it renewed in the background. */
  renewAfterMs: number;
  /** How long a question waits for the database at most. */
  waitMs: number;
};

type Moment = { wallMs: number; monotonicMs: number };

export class ReadLease {
  private confirmed: Moment | null = null;
  private checking = false;
  /** Asked since the check under way began. */
  private next: PromiseWithResolvers<void> | null = null;
  private readonly options: ReadLeaseOptions;
  private readonly clock: Clock;
  private readonly monotonicMs: () => number;

  constructor(options: ReadLeaseOptions) {
    this.options = options;
    this.clock = options.clock ?? machineClock;
    this.monotonicMs = options.monotonicMs ?? monotonicMs;
  }

  /** Null while the lease lasts; else a promise that resolves when the database has confirmed. Rejects `unavailable`. */
  confirmation(): Promise<void> | null {
    const ageMs = this.ageMs();
    if (ageMs >= this.options.leaseMs) return this.askNext();
    if (ageMs >= this.options.renewAfterMs && !this.checking) void this.run(null);
    return null;
  }

  /** As if it had run out long ago. */
  end(): void {
    this.confirmed = null;
  }

  private ageMs(): number {
    if (this.confirmed === null) return Infinity;
    const wallMs = this.clock.nowMs() - this.confirmed.wallMs;
    return wallMs < 0 ? Infinity : Math.max(wallMs, this.monotonicMs() - this.confirmed.monotonicMs);
  }

  private askNext(): Promise<void> {
    if (this.next === null) {
      const asked = (this.next = Promise.withResolvers<void>());
      const timer = setTimeout(() => {
        if (this.next === asked) this.next = null;
        asked.reject(unavailable(null));
      }, this.options.waitMs);
      const done = () => clearTimeout(timer);
      asked.promise.then(done, done);
      // Everything that is asked in this tick is answered by one check.
      if (!this.checking) setImmediate(() => !this.checking && void this.runNext());
    }
    return this.next.promise;
  }

  private async runNext(): Promise<void> {
    const { next } = this;
    this.next = null;
    if (next !== null) await this.run(next);
  }

  private async run(asked: PromiseWithResolvers<void> | null): Promise<void> {
    this.checking = true;
    const begun: Moment = { wallMs: this.clock.nowMs(), monotonicMs: this.monotonicMs() };
    try {
      await this.options.check();
      this.confirmed = begun;
      asked?.resolve();
      // L2: queries that came after the check had begun are answered as well where the lease is valid now.
      if (this.next !== null && this.ageMs() < this.options.leaseMs) {
        this.next.resolve();
        this.next = null;
      }
    } catch (error) {
      asked?.reject(unavailable(error));
    } finally {
      this.checking = false;
    }
    if (this.next !== null) void this.runNext();
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer; try again shortly', { retryAfterS: 2, cause: cause ?? undefined });
}
