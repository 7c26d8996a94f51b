/**
 * How many asks may be without an answer at once: as many as are answered soon. Where most answers come late, the limit falls to what is
 * answered in the time that is aimed at (Little's law), and newcomers are shed at once; where they come in time, it grows again, to what a
 * burst may have. So whoever is let in is answered in about that time, however many come.
 */

/** An answer that comes later than this is late. It is the time that is aimed at. */
export const lateAfterMs = 120;
/** Between two looks. */
export const lookEveryMs = 50;
/** So many are always let in: with fewer, batches get so small that less is done, and nothing is answered sooner. */
const fewest = 256;
/** While nothing is late, the work of so long may be let in at once: a burst passes. */
const burstMs = 240;
/** The same for a service that had nothing to do, whose speed is not known. */
const burst = 1_000;
/** The last look's share of the mean: answers come in batches. */
const newest = 0.2;
const growth = 1.05;

export class Admission {
  private readonly most: number;
  private limit: number;
  /** Between two looks, the mean of the last ones. */
  private answered = 0;

  /** @param most that are ever let in */
  constructor(most: number) {
    this.most = most;
    this.limit = Math.min(most, burst);
  }

  admits(waiting: number): boolean {
    return waiting < this.limit;
  }

  /**
   * Takes a look.
   *
   * @param waiting without an answer now
   * @param answered since the last look
   * @param late of those answered; where none was, of those waiting
   */
  look(waiting: number, answered: number, late: number): void {
    this.answered += (answered - this.answered) * newest;
    if (waiting > fewest && late > (answered || waiting) / 2) this.limit = Math.max(fewest, this.workOf(lateAfterMs));
    else this.limit = Math.min(this.most, Math.max(burst, this.workOf(burstMs)), Math.ceil(this.limit * growth));
  }

  /** How many are answered in so long. */
  private workOf(ms: number): number {
    return Math.round((this.answered * ms) / lookEveryMs);
  }
}
