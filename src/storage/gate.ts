/** Lets a few pieces of work in at a time; the rest wait in line, and past a bound are turned away. */
import { AppError } from '../errors.ts';

export class Gate {
  readonly #maxInside: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(maxInside: number, maxWaiting: number) {
    this.#maxInside = maxInside;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs `work` when it is its turn. Rejects with what it rejects with, or `overloaded` when the line is full. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#maxInside) this.#inside++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody can slip in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting)
      throw new AppError('overloaded', 'Too many files are on their way now', { retryAfterS: 2 });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
