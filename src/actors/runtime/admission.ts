/**
 * How many asks may be without an answer at once: as many as are answered soon. Where most of them wait long, the limit falls below what
 * waits (multiplicative decrease) and newcomers are shed; where they are answered soon, it grows again. So whoever is let in is answered
 * in about the time that is aimed at, however many come. The scheme is TCP's (Chiu and Jain, 1989).
 */

/** An ask that waits for longer than this counts as slow. */
export const slowAfterMs = 500;
/** So many are always let in: with fewer it is not their number that makes them slow. */
const fewest = 256;

export class Admission {
  private readonly most: number;
  private limit: number;

  constructor(most: number) {
    this.most = most;
    this.limit = most;
  }

  admits(waiting: number): boolean {
    return waiting < this.limit;
  }

  /** Takes a look at what waits, every 100 ms: how many asks, and how many of them are slow. */
  look(waiting: number, slow: number): void {
    if (waiting > fewest && slow > waiting / 2) this.limit = Math.max(fewest, Math.floor(waiting * 0.7));
    else this.limit = Math.min(this.most, Math.ceil(this.limit * 1.1));
  }
}
