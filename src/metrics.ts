/**
 * What this node tells Prometheus. A metric is a name, words for people, and a function that reads a number somebody keeps anyway: nothing
 * is done between scrapes. The one file that knows prom-client.
 *
 * Names: `troupe_<what>_<unit>`, units are base units (seconds, bytes), counters end in `_total`. Labels take few values, which the code
 * knows: route patterns and statuses, never paths, ids or accounts.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Log } from './log.ts';

export type Sample = { readonly labels?: Labels; value: number };
export type Labels = Readonly<Record<string, string>>;
/** One number, several told apart by labels, or null where there is none now. */
export type Reading = number | Sample[] | null;
export type DistributionReading = Distribution | { labels: Labels; distribution: Distribution }[];

type Kind = 'gauge' | 'counter' | 'histogram';
type Described = { readonly name: string; readonly kind: Kind; readonly help: string };
type Value = { metricName: string; labels: Labels; value: number };

const nameShape = /^troupe_[a-z0-9]+(_[a-z0-9]+)*$/;

/** Counts told apart by labels. Where their values are not all known to the code, `maxSeries` bounds them: the rest count as `other`. */
export class CountBy {
  private readonly counts = new Map<string, Sample>();
  private readonly labelNames: readonly string[];
  private readonly maxSeries: number;

  constructor(labelNames: readonly string[], maxSeries = 100) {
    this.labelNames = labelNames;
    this.maxSeries = maxSeries;
  }

  /** @param labels one for each label name, in their order */
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

/** How large things were: counts by upper bound. Noting one costs a few nanoseconds. */
export class Distribution {
  readonly bounds: readonly number[];
  /** `counts[i]`: those above `bounds[i - 1]`, up to `bounds[i]`. The last one has no upper bound. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds ascending */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  note(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** Upper bounds in seconds, for what takes from a tenth of a millisecond to ten seconds. */
export const latencyBoundsS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Metrics {
  private readonly registry = new Registry();
  private readonly described: Described[] = [];
  private readonly log: Log;
  private scrape: Promise<string> | null = null;

  constructor(log: Log) {
    this.log = log;
  }

  /** Metrics of the process and of Node.js themselves, under the names their dashboards know (`process_*`, `nodejs_*`). Once per process. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** A number that goes up and down. */
  gauge(name: string, help: string, read: () => Reading | Promise<Reading>): void {
    this.register(name, 'gauge', help, async () => valuesOf(name, await read()));
  }

  /** A number that only grows while the process lives. */
  counter(name: string, help: string, read: () => Reading): void {
    this.register(name, 'counter', help, async () => valuesOf(name, read()));
  }

  distribution(name: string, help: string, read: () => DistributionReading): void {
    this.register(name, 'histogram', help, async () => {
      const reading = read();
      const all = reading instanceof Distribution ? [{ labels: {}, distribution: reading }] : reading;
      return all.flatMap(({ labels, distribution }) => buckets(name, labels, distribution));
    });
  }

  /** Every metric of ours, in the order in which they were added. */
  describe(): readonly Described[] {
    return this.described;
  }

  /** The answer to a scrape. Scrapes that come while one is under way get its answer. Never rejects. */
  text(): Promise<string> {
    this.scrape ??= this.registry.metrics().finally(() => (this.scrape = null));
    return this.scrape;
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  private register(name: string, kind: Kind, help: string, read: () => Promise<Value[]>): void {
    if (!nameShape.test(name)) throw new Error(`${name} is no name of a metric`);
    this.described.push({ name, kind, help });
    const get = async () => ({ name, help, type: kind, values: await this.readSafely(name, read), aggregator: 'sum' });
    this.registry.registerMetric({ name, get } as never);
  }

  /** One part that cannot be read must not take the others' metrics along. */
  private async readSafely(name: string, read: () => Promise<Value[]>): Promise<Value[]> {
    try {
      return await read();
    } catch (err) {
      this.log.warn({ metric: name, err }, 'a metric could not be read');
      return [];
    }
  }
}

function valuesOf(metricName: string, reading: Reading): Value[] {
  if (reading === null) return [];
  const samples = typeof reading === 'number' ? [{ value: reading }] : reading;
  return samples.map(({ labels = {}, value }: Sample) => ({ metricName, labels, value }));
}

/** Prometheus counts cumulatively: each bucket holds all that is not larger than its bound. */
function buckets(name: string, labels: Labels, { bounds, counts, sum }: Distribution): Value[] {
  const values: Value[] = [];
  let count = 0;
  for (let i = 0; i < counts.length; i++) {
    count += counts[i]!;
    const le = i < bounds.length ? String(bounds[i]) : '+Inf';
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
  }
  values.push({ metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count });
  return values;
}
