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

const maxTurnMs = 50;
/** What `knownWork` takes on the machine that `maxTurnMs` was chosen for. */
const knownWorkMs = 10;
const repeats = 7;

/** Whether a turn took at most 50 ms, on a slow or shared machine longer in proportion to what some known work takes on it now. */
export function isShortTurn(turnMs: number): boolean {
  return turnMs <= maxTurnMs || turnMs <= turnLimitMs();
}

function turnLimitMs(): number {
  const list = Array.from({ length: 20_000 }, (_, n) => ({ path: `pages/${n % 100}/page-${n}.html`, sha256: `${n}`.padStart(64, '0') }));
  const tookMs = Array.from({ length: repeats }, () => {
    const before = process.threadCpuUsage();
    JSON.parse(JSON.stringify(list));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  const medianMs = tookMs.sort((a, b) => a - b)[Math.floor(repeats / 2)]!;
  return maxTurnMs * Math.max(1, medianMs / knownWorkMs);
}
