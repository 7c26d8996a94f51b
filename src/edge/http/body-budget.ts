/** Limits the bytes of request bodies that a node holds at once: of requests that are still arriving and of those without an answer yet. */
import { AppError } from '../../errors.ts';

const defaultMaxBytes = 64 * 1024 * 1024;

export class BodyBudget {
  private heldBytes = 0;
  private readonly maxBytes: number;
  private readonly total: BodyBudget | null;

  constructor(maxBytes = defaultMaxBytes, total: BodyBudget | null = null) {
    this.maxBytes = maxBytes;
    this.total = total;
  }

  /** A part of this budget for some of the requests: their bytes count in this budget too, but cannot exceed the part. */
  share(maxBytes: number): BodyBudget {
    return new BodyBudget(maxBytes, this);
  }

  /** Opens the account of one request. */
  open(): HeldBody {
    let ownBytes = 0;
    return {
      add: (bytes) => {
        if (!this.hasCapacity(bytes))
          throw new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
        this.take(bytes);
        ownBytes += bytes;
      },
      release: () => {
        this.take(-ownBytes);
        ownBytes = 0;
      },
    };
  }

  private hasCapacity(bytes: number): boolean {
    return this.heldBytes + bytes <= this.maxBytes && (this.total === null || this.total.hasCapacity(bytes));
  }

  private take(bytes: number): void {
    this.heldBytes += bytes;
    this.total?.take(bytes);
  }
}

export type HeldBody = {
  /** Counts bytes that have arrived, not the announced length: a slow sender does not use the budget of others. Throws `overloaded`. */
  add(bytes: number): void;
  /** Call it when the answer is made. */
  release(): void;
};
