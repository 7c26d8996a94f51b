/**
 * How many asks may be without an answer at once: as many as are answered soon. Where most of them wait long, the limit falls to what is
 * answered in the time that is aimed at (Little's law), and newcomers are shed at once; where they are answered soon, it grows again. So
 * whoever is let in is answered in about that time, however many come.
 */

/** An ask that waits for longer than this counts as slow. It is the time that is aimed at. */
export const slowAfterMs = 200;
/** Between two looks. */
export const lookEveryMs = 100;
/** So many are always let in: with fewer it is not their number that makes them slow. */
const fewest = 128;
/** The last look's share of the mean: answers come in batches. */
const newest = 0.2;

export class Admission {
  private readonly most: number;
  private limit: number;
  /** Between two looks, the mean of the last ones. */
  private answered = 0;

  constructor(most: number) {
    this.most = most;
    this.limit = most;
  }

  admits(waiting: number): boolean {
    return waiting < this.limit;
  }

  /** Takes a look: how many asks wait, how many of them are slow, and how many were answered since the last look. */
  look(waiting: number, slow: number, answered: number): void {
    this.answered += (answered - this.answered) * newest;
    if (waiting > fewest && slow > waiting / 2) this.limit = Math.max(fewest, Math.round((this.answered * slowAfterMs) / lookEveryMs));
    else this.limit = Math.min(this.most, Math.ceil(this.limit * 1.1));
  }
}
