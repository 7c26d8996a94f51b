/**
 * Limits concurrent work; the rest waits in one queue, and is rejected when the queue is full or the wait is too long. For work of accounts
 * use `FairGate`, which serves accounts round-robin.
 */
import { AppError } from '../errors.ts';

export type GateOptions = {
  maxInside: number;
  maxWaiting: number;
  /** Longest wait in the queue. Default: unbounded. */
  maxWaitMs?: number;
  /** Message of the rejection. */
  full: string;
};

type Waiting = { enter(): void; timer: NodeJS.Timeout | null };

export class Gate {
  private readonly options: GateOptions;
  /** Created once, so that a rejection is cheap. */
  private readonly overloaded: AppError;
  private readonly waiting = new Set<Waiting>();
  private inside = 0;

  constructor(options: GateOptions) {
    this.options = options;
    this.overloaded = new AppError('overloaded', options.full, { retryAfterS: 2 });
  }

  /** Runs `work` when a slot is free. Rejects with the error of `work`, or `overloaded` when the queue is full or the wait too long. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.inside < this.options.maxInside) this.inside++;
    else await this.turn();
    try {
      return await work();
    } finally {
      // The slot is passed to the next waiter directly, so that no newcomer can take it.
      const [next] = this.waiting;
      if (next === undefined) this.inside--;
      else {
        this.leave(next);
        next.enter();
      }
    }
  }

  private turn(): Promise<void> {
    const { maxWaitMs, maxWaiting } = this.options;
    if (this.waiting.size >= maxWaiting) throw this.overloaded;
    return new Promise((enter, reject) => {
      const waiting: Waiting = { enter, timer: null };
      this.waiting.add(waiting);
      if (maxWaitMs === undefined) return;
      waiting.timer = setTimeout(() => {
        this.leave(waiting);
        reject(this.overloaded);
      }, maxWaitMs);
    });
  }

  private leave(waiting: Waiting): void {
    this.waiting.delete(waiting);
    if (waiting.timer !== null) clearTimeout(waiting.timer);
  }
}
