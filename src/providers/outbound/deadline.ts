/**
 * The end of one request: its deadline, or the caller's abort. `AbortSignal.timeout` and `AbortSignal.any` keep their memory until the
 * timeout, or until garbage collection; at thousands of requests a second that is most of the collector's work.
 */
export class Deadline {
  isOver = false;
  private readonly ends = new AbortController();
  private readonly asker: AbortSignal | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly stop = () => this.ends.abort(this.asker!.reason);

  constructor(timeoutMs: number, asker?: AbortSignal) {
    this.asker = asker;
    this.timer = setTimeout(() => {
      this.isOver = true;
      this.ends.abort();
    }, timeoutMs);
    if (asker?.aborted) this.stop();
    asker?.addEventListener('abort', this.stop);
  }

  get signal(): AbortSignal {
    return this.ends.signal;
  }

  /** Call it when the request has ended. */
  clear(): void {
    clearTimeout(this.timer);
    this.asker?.removeEventListener('abort', this.stop);
  }
}
