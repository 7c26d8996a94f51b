/**
 * The z-score of the newest of the last `length` values: (newest − mean) / s with the sample deviation s, and 0 where s is 0.
 *
 * The definition sums the window twice. `near` does this only if it matters: sliding sums give z with a small error, and if z is closer to a
 * threshold than this error, the definition decides. So every decision is that of the definition.
 */

/** Far above the error of the sliding sums for every window length that is allowed, given that `wellConditioned` holds. */
const margin = 1e-4;
const minShareOfSquares = 1e-6;
const minDeviationOfMean = 1e-8;

export class ZWindow {
  private readonly values: Float64Array;
  private readonly length: number;
  /** Where the next value is written: over the oldest one once the window is full. */
  private next = 0;
  private count = 0;
  /** How many of the newest values are equal. */
  private same = 0;
  private newest = Number.NaN;
  /** Sums over the window of d and d², where d is the distance from the anchor; they hold while `summed`. */
  private anchor = 0;
  private sum = 0;
  private squares = 0;
  /** The largest value of `squares` since the sums were last recomputed: the error of the sums grows with it. */
  private largestSquares = 0;
  private summed = false;

  constructor(length: number) {
    this.length = length;
    this.values = new Float64Array(length);
  }

  get full(): boolean {
    return this.count === this.length;
  }

  push(value: number): void {
    const at = this.next;
    if (this.summed) {
      const came = value - this.anchor;
      const went = this.values[at]! - this.anchor;
      this.sum += came - went;
      this.squares += came * came - went * went;
      if (this.squares > this.largestSquares) this.largestSquares = this.squares;
    } else if (this.count < this.length) this.count++;
    this.values[at] = value;
    this.same = value === this.newest ? this.same + 1 : 1;
    this.newest = value;
    this.next = at + 1 === this.length ? 0 : at + 1;
    // Errors of the sliding sums are limited to one window.
    if (this.next === 0 && this.summed) this.summed = false;
  }

  /**
   * The z-score, precise enough to tell on which side of the thresholds it is: exactly the definition's if one of ±`a` and ±`b` is close.
   * NaN until the window is full.
   */
  near(a: number, b: number): number {
    if (this.count < this.length) return Number.NaN;
    if (this.same >= this.length) return 0;
    if (!this.summed) this.sumAfresh();
    if (!this.wellConditioned()) {
      this.sumAfresh();
      if (!this.wellConditioned()) return this.exact();
    }
    const mean = this.sum / this.length;
    const z = (this.newest - this.anchor - mean) / Math.sqrt(this.variance());
    const size = Math.abs(z);
    const error = margin * (1 + size);
    return Math.abs(size - a) < error || Math.abs(size - b) < error || size < error ? this.exact() : z;
  }

  /** The definition, summed from the oldest value to the newest. */
  exact(): number {
    if (this.count < this.length) return Number.NaN;
    const values = this.values;
    const length = this.length;
    const oldest = this.next;
    let sum = 0;
    for (let i = oldest; i < length; i++) sum += values[i]!;
    for (let i = 0; i < oldest; i++) sum += values[i]!;
    const mean = sum / length;
    let squares = 0;
    for (let i = oldest; i < length; i++) squares += (values[i]! - mean) ** 2;
    for (let i = 0; i < oldest; i++) squares += (values[i]! - mean) ** 2;
    const deviation = Math.sqrt(squares / (length - 1));
    // If all values are equal, rounding of the mean must not produce a deviation.
    return deviation === 0 || this.same >= length ? 0 : (this.newest - mean) / deviation;
  }

  private variance(): number {
    return (this.squares - (this.sum * this.sum) / this.length) / (this.length - 1);
  }

  private wellConditioned(): boolean {
    const variance = this.variance();
    const mean = this.anchor + this.sum / this.length;
    const least = minDeviationOfMean * mean;
    return variance * (this.length - 1) > minShareOfSquares * this.largestSquares && variance > least * least;
  }

  private sumAfresh(): void {
    const values = this.values;
    const length = this.length;
    let total = 0;
    for (let i = 0; i < length; i++) total += values[i]!;
    const anchor = total / length;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < length; i++) {
      const distance = values[i]! - anchor;
      sum += distance;
      squares += distance * distance;
    }
    this.anchor = anchor;
    this.sum = sum;
    this.squares = squares;
    this.largestSquares = squares;
    this.summed = true;
  }
}
