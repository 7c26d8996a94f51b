/** How many bytes of bodies a node holds at once: of requests that still arrive and of those that have no answer yet. */
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

  /** A share for some of the requests: what they hold counts in the whole too, and cannot use it up. */
  share(maxBytes: number): BodyBudget {
    return new BodyBudget(maxBytes, this);
  }

  /** For one request. */
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
  /** What has arrived counts, not what was announced: a slow sender takes no room from others. Throws `overloaded`. */
  add(bytes: number): void;
  /** Its answer is made. */
  release(): void;
};
