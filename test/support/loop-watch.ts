/**
 * How long the event loop of this process was kept by one turn of it, in processor time of the main thread. Wall time would count what other programs
 * of a busy machine take; processor time counts what this thread itself did, garbage collection of its heap included.
 */
export class LoopWatch {
  private longestMs = 0;
  private stopped = false;
  private before = process.threadCpuUsage();

  constructor() {
    this.look();
  }

  /** The longest turn since the last look, in milliseconds. */
  take(): number {
    const longestMs = this.longestMs;
    this.longestMs = 0;
    return longestMs;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Once in each turn of the loop, so that everything between two looks was one turn. Does not keep the process alive. */
  private look = (): void => {
    const { user, system } = process.threadCpuUsage(this.before);
    this.longestMs = Math.max(this.longestMs, (user + system) / 1_000);
    this.before = process.threadCpuUsage();
    if (!this.stopped) setImmediate(this.look).unref();
  };
}
