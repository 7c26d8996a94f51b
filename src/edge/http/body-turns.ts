/**
 * Turns for parsing large bodies. Without them, bodies that arrive together are parsed in one round of the event loop, and every other request waits for all of
 * them: thirty bodies of a MiB take half a second. A body is parsed at once while the bodies of the round have `bytesPerRound` at most together with it;
 * otherwise it waits for a later round. A round ends with the body that reaches `bytesPerRound`, so it exceeds this by less than one body. Accounts take turns.
 * Bodies under `smallBytes` never wait. Work that follows the parsing without a pause, such as validation, runs in the same round.
 */
import { FairQueue } from '../../fair-queue.ts';

/** Takes a few milliseconds where it consists of small values. */
const defaultBytesPerRound = 64 * 1024;
/** Smaller bodies are not counted: this is the path of nearly all requests. */
const smallBytes = 1_024;

export class BodyTurns {
  private readonly bytesPerRound: number;
  private readonly queue = new FairQueue<{ bytes: number; enter(): void }>({ maxRunning: 1 });
  private bytesInRound = 0;
  private hasPlanned = false;

  constructor(bytesPerRound = defaultBytesPerRound) {
    this.bytesPerRound = bytesPerRound;
  }

  /** null: the body may be parsed at once; otherwise resolves when it may. @param account for which it waits */
  enter(account: string, bytes: number): Promise<void> | null {
    if (bytes < smallBytes) return null;
    if (this.queue.waiting === 0 && this.bytesInRound + bytes <= this.bytesPerRound) {
      this.begin(bytes);
      return null;
    }
    return new Promise((enter) => {
      this.queue.add(account, { bytes, enter });
      this.plan();
    });
  }

  private begin(bytes: number): void {
    this.bytesInRound += bytes;
    this.plan();
  }

  private plan(): void {
    if (this.hasPlanned) return;
    this.hasPlanned = true;
    setImmediate(() => this.nextRound());
  }

  /** A round has at least one body, however large. */
  private nextRound(): void {
    this.hasPlanned = false;
    this.bytesInRound = 0;
    while (this.bytesInRound < this.bytesPerRound) {
      const next = this.queue.take();
      if (next === null) return;
      this.queue.finish(next.account);
      this.begin(next.item.bytes);
      next.item.enter();
    }
  }
}
