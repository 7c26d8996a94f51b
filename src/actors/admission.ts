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
const minLimit = 256;
/** Burst allowance while nothing is late: the work of this long. */
const burstMs = 240;
/** Burst allowance of an idle service, whose throughput is not known. */
const idleLimit = 1_000;
/** Weight of the last sample in the mean: answers come in batches. */
const sampleWeight = 0.2;
const growthFactor = 1.05;

export class Admission {
  private readonly maxLimit: number;
  private limit: number;
  /** Answers between two samples, moving average. */
  private answered = 0;

  /** @param maxLimit upper bound of the limit */
  constructor(maxLimit: number) {
    this.maxLimit = maxLimit;
    this.limit = Math.min(maxLimit, idleLimit);
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
    this.answered += (answered - this.answered) * sampleWeight;
    if (waiting > minLimit && late > (answered || waiting) / 2) this.limit = Math.max(minLimit, this.answeredIn(lateAfterMs));
    else this.limit = Math.min(this.maxLimit, Math.max(idleLimit, this.answeredIn(burstMs)), Math.ceil(this.limit * growthFactor));
  }

  /** How many are answered in this time. */
  private answeredIn(ms: number): number {
    return Math.round((this.answered * ms) / sampleEveryMs);
  }
}
