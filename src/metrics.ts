/**
 * The node's Prometheus metrics. A metric is a name, a help text, and a function that reads an existing number: nothing is done between
 * scrapes. The only file that imports prom-client.
 *
 * Names: `troupe_<what>_<unit>`, units are base units (seconds, bytes), counters end in `_total`. Labels have few values, known in the
 * code: route patterns and statuses, never paths, ids or accounts.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Distribution, type Labels, type Sample } from './counts.ts';
import type { Log } from './log.ts';

/** One number, several by labels, or null if there is none now. */
export type Reading = number | Sample[] | null;
export type DistributionReading = Distribution | { labels: Labels; distribution: Distribution }[];

type Kind = 'gauge' | 'counter' | 'histogram';
type Described = { readonly name: string; readonly kind: Kind; readonly help: string };
type Value = { metricName: string; labels: Labels; value: number };

const nameShape = /^troupe_[a-z0-9]+(_[a-z0-9]+)*$/;

export class Metrics {
  private readonly registry = new Registry();
  private readonly described: Described[] = [];
  private readonly log: Log;
  private scrape: Promise<string> | null = null;

  constructor(log: Log) {
    this.log = log;
  }

  /** Metrics of the process and of Node.js, under their usual names (`process_*`, `nodejs_*`). Once per process. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** A number that may go up and down. */
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

  /** Every metric of the service, in the order in which they were added. */
  describe(): readonly Described[] {
    return this.described;
  }

  /** The answer to a scrape. Concurrent scrapes share one answer. Never rejects. */
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

  /** A metric that cannot be read must not prevent the others. */
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

/** Prometheus counts cumulatively: each bucket contains all values up to its bound. */
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
