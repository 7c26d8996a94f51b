/** Counters and histograms. They are independent of their readers (metrics, status). */

export type Labels = Readonly<Record<string, string>>;
export type Sample = { readonly labels?: Labels; value: number };

/** Counts by labels. If the code does not know all values of a label, `maxSeries` limits them: further ones count as `other`. */
export class CountBy {
  private readonly counts = new Map<string, Sample>();
  private readonly labelNames: readonly string[];
  private readonly maxSeries: number;

  constructor(labelNames: readonly string[], maxSeries = 100) {
    this.labelNames = labelNames;
    this.maxSeries = maxSeries;
  }

  /** @param labels one value for each label name, in their order */
  add(labels: readonly string[], amount = 1): void {
    const known = this.counts.get(labels.join('\n'));
    if (known !== undefined) known.value += amount;
    else if (this.counts.size < this.maxSeries) this.begin(labels, amount);
    else this.addOther(amount);
  }

  read(): Sample[] {
    return [...this.counts.values()];
  }

  private addOther(amount: number): void {
    const labels = this.labelNames.map(() => 'other');
    const known = this.counts.get(labels.join('\n'));
    if (known === undefined) this.begin(labels, amount);
    else known.value += amount;
  }

  private begin(labels: readonly string[], value: number): void {
    const byName = Object.fromEntries(this.labelNames.map((name, i) => [name, labels[i]!]));
    this.counts.set(labels.join('\n'), { labels: byName, value });
  }
}

/** A histogram: counts by upper bound. Recording costs a few nanoseconds. */
export class Distribution {
  readonly bounds: readonly number[];
  /** `counts[i]`: values above `bounds[i - 1]`, up to `bounds[i]`. The last count has no upper bound. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds ascending */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  record(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** Upper bounds in seconds, for durations from a tenth of a millisecond to ten seconds. */
export const latencyBoundsS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
