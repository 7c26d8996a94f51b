/** Limits the bytes of request bodies that a node holds at once: of requests that are still arriving and of those without an answer yet. */
import { AppError } from '../../errors.ts';

const defaultMaxBytes = 64 * 1024 * 1024;

export class BodyBudget {
  private heldBytes = 0;
  private readonly maxBytes: number;
  private readonly whole: BodyBudget | null;

  constructor(maxBytes = defaultMaxBytes, whole: BodyBudget | null = null) {
    this.maxBytes = maxBytes;
    this.whole = whole;
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
        if (!this.hasRoom(bytes)) throw new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
        this.take(bytes);
        ownBytes += bytes;
      },
      release: () => {
        this.take(-ownBytes);
        ownBytes = 0;
      },
    };
  }

  private hasRoom(bytes: number): boolean {
    return this.heldBytes + bytes <= this.maxBytes && (this.whole === null || this.whole.hasRoom(bytes));
  }

  private take(bytes: number): void {
    this.heldBytes += bytes;
    this.whole?.take(bytes);
  }
}

export type HeldBody = {
  /** Counts bytes that have arrived, not the announced length: a slow sender takes no room from others. Throws `overloaded`. */
  add(bytes: number): void;
  /** Call it when the answer is made. */
  release(): void;
};
