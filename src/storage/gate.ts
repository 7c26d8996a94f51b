/**
 * Lets a few pieces of work in at a time; the rest wait in line, and past a bound, of their number or their time, are turned away. A long
 * line takes up a burst. One that stands only makes everybody late: it is kept so short that nobody waits for much longer than his work takes.
 */
import { AppError } from '../errors.ts';

export type GateOptions = {
  maxInside: number;
  maxWaiting: number;
  /** In line. Default: as long as it takes. */
  maxWaitMs?: number;
  /** Where no place has been free for longer than this, no more than `maxInside` may wait. Default: it never matters. */
  burstMs?: number;
  /** What whoever is turned away is told. */
  full: string;
  /** Monotonic, milliseconds. */
  now?: () => number;
};

type Waiting = { enter(): void; timer: NodeJS.Timeout | null };

export class Gate {
  readonly #options: GateOptions;
  /** Made once: whoever is turned away costs as little as possible. */
  readonly #turnedAway: AppError;
  readonly #waiting = new Set<Waiting>();
  #inside = 0;
  /** Since when there has been no free place. */
  #fullSinceMs = 0;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#turnedAway = new AppError('overloaded', options.full, { retryAfterS: 2 });
  }

  /** Runs `work` when it is its turn. Rejects with what it rejects with, or `overloaded` when the line is full or too slow. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#options.maxInside) this.#takeFree();
    else await this.#turn();
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody can slip in between.
      const [next] = this.#waiting;
      if (next === undefined) this.#inside--;
      else {
        this.#leave(next);
        next.enter();
      }
    }
  }

  #takeFree(): void {
    this.#inside++;
    if (this.#inside === this.#options.maxInside) this.#fullSinceMs = this.#nowMs();
  }

  #turn(): Promise<void> {
    const { maxWaitMs } = this.#options;
    if (this.#waiting.size >= this.#room()) throw this.#turnedAway;
    return new Promise((enter, reject) => {
      const waiting: Waiting = { enter, timer: null };
      this.#waiting.add(waiting);
      if (maxWaitMs === undefined) return;
      waiting.timer = setTimeout(() => {
        this.#leave(waiting);
        reject(this.#turnedAway);
      }, maxWaitMs);
    });
  }

  /** How many may wait now. */
  #room(): number {
    const { maxInside, maxWaiting, burstMs = Infinity } = this.#options;
    return this.#nowMs() - this.#fullSinceMs > burstMs ? Math.min(maxInside, maxWaiting) : maxWaiting;
  }

  #nowMs(): number {
    const { now = monotonicMs } = this.#options;
    return now();
  }

  #leave(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    if (waiting.timer !== null) clearTimeout(waiting.timer);
  }
}

const monotonicMs = (): number => performance.now();
