/**
 * The end of one request: its time is over, or whoever asked has lost interest. `AbortSignal.timeout` and `AbortSignal.any` keep what they
 * made until the time is over, or the collector comes by; at thousands of requests a second that is most of what the collector has to do.
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

  /** To be called when the request has come to its end. */
  clear(): void {
    clearTimeout(this.timer);
    this.asker?.removeEventListener('abort', this.stop);
  }
}
