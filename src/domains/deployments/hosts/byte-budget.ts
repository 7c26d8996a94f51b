/** Limits the bytes that many tasks hold at once. Requests are served in order of arrival. */
export class ByteBudget {
  private free: number;
  private readonly total: number;
  private readonly waiting = new Set<{ bytes: number; enter(): void }>();

  constructor(totalBytes: number) {
    this.total = totalBytes;
    this.free = totalBytes;
  }

  /** More than the whole budget counts as the whole budget. Resolves with a function that gives the bytes back; rejects with the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const counted = Math.min(bytes, this.total);
    if (this.waiting.size > 0 || counted > this.free) await this.turn(counted, signal);
    else this.free -= counted;
    return () => {
      this.free += counted;
      this.next();
    };
  }

  private turn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        bytes,
        enter() {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        this.waiting.delete(waiter);
        reject(signal.reason);
        this.next();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.add(waiter);
    });
  }

  private next(): void {
    for (const waiter of this.waiting) {
      if (waiter.bytes > this.free) return;
      this.waiting.delete(waiter);
      this.free -= waiter.bytes;
      waiter.enter();
    }
  }
}
