/**
 * Admission control: how many asks may be pending at once. When most answers are late, the limit falls to what is answered within the target
 * time (Little's law), and new asks are shed at once; when answers are in time, the limit grows again, up to the burst allowance. So an
 * admitted ask is answered in about the target time under any load.
 */

/** Target time: a later answer is late. */
export const lateAfterMs = 120;
/** Time between two samples. */
export const sampleEveryMs = 50;
/** Lower bound of the limit: with fewer, batches become so small that throughput falls and answers are not faster. */
const fewest = 256;
/** Burst allowance while nothing is late: the work of this long. */
const burstMs = 240;
/** Burst allowance of an idle service, whose throughput is not known. */
const burst = 1_000;
/** Weight of the last sample in the mean: answers come in batches. */
const newest = 0.2;
const growth = 1.05;

export class Admission {
  private readonly most: number;
  private limit: number;
  /** Answers between two samples, moving average. */
  private answered = 0;

  /** @param most upper bound of the limit */
  constructor(most: number) {
    this.most = most;
    this.limit = Math.min(most, burst);
  }

  admits(waiting: number): boolean {
    return waiting < this.limit;
  }

  /**
   * Takes a sample and adapts the limit.
   *
   * @param waiting pending now
   * @param answered since the last sample
   * @param late of those answered; where none was, of those waiting
   */
  sample(waiting: number, answered: number, late: number): void {
    this.answered += (answered - this.answered) * newest;
    if (waiting > fewest && late > (answered || waiting) / 2) this.limit = Math.max(fewest, this.workOf(lateAfterMs));
    else this.limit = Math.min(this.most, Math.max(burst, this.workOf(burstMs)), Math.ceil(this.limit * growth));
  }

  /** How many are answered in this time. */
  private workOf(ms: number): number {
    return Math.round((this.answered * ms) / sampleEveryMs);
  }
}
