/** How many bytes of JSON bodies a node holds at once: of requests that still arrive and of those that have no answer yet. */
import { AppError } from '../../errors.ts';

const defaultMaxBytes = 64 * 1024 * 1024;

export class BodyBudget {
  private heldBytes = 0;
  private readonly maxBytes: number;

  constructor(maxBytes = defaultMaxBytes) {
    this.maxBytes = maxBytes;
  }

  /** For one request. */
  open(): HeldBody {
    let ownBytes = 0;
    return {
      add: (bytes) => {
        if (this.heldBytes + bytes > this.maxBytes)
          throw new AppError('overloaded', 'The service has too much in hand; try again shortly', { retryAfterS: 1 });
        this.heldBytes += bytes;
        ownBytes += bytes;
      },
      release: () => {
        this.heldBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  }
}

export type HeldBody = {
  /** What has arrived counts, not what was announced: a slow sender takes no room from others. Throws `overloaded`. */
  add(bytes: number): void;
  /** Its answer is made. */
  release(): void;
};
