/**
 * The longest turn of this process's event loop, in processor time of the main thread. Wall time would include other programs of a busy
 * machine; processor time counts only this thread, with the garbage collection of its heap.
 */
export class LoopWatch {
  private longestMs = 0;
  private stopped = false;
  private before = process.threadCpuUsage();

  constructor() {
    this.sample();
  }

  /** The longest turn since the last call, in milliseconds. */
  take(): number {
    const longestMs = this.longestMs;
    this.longestMs = 0;
    return longestMs;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Once in each turn of the loop, so that everything between two samples was one turn. Does not keep the process alive. */
  private sample = (): void => {
    const { user, system } = process.threadCpuUsage(this.before);
    this.longestMs = Math.max(this.longestMs, (user + system) / 1_000);
    this.before = process.threadCpuUsage();
    if (!this.stopped) setImmediate(this.sample).unref();
  };
}
