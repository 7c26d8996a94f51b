/**
 * What requests notice of other work: their p99 while they use half of the service's processors, alone and beside that work. Half of the
 * requests that an overloaded service takes would be more than half a load: it answers them in larger batches, which cost less each.
 */
import { availableParallelism } from 'node:os';
import type { Offer, Offered } from '../programs/flooder.ts';
import type { Cpus } from './cpus.ts';
import { Customer } from './customer.ts';
import { treeProcessorMs } from './other-process.ts';
import { Program } from './program.ts';
import type { Service } from './service.ts';

export const requestKinds = ['lists', 'commands'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** A slice has enough requests for a p99. */
export const leastSliceMs = 10_000;
const tooMuch = { commands: 10_000, lists: 1_500 } as const;
const connections = 1_000;
const approaches = 4;

export class HalfLoad {
  private readonly flooder: Program;
  private readonly offered: Omit<Offer, 'what' | 'perSecond'>;
  private readonly service: Service;
  private readonly processors: number;

  private constructor(service: Service, cpus: Cpus, offered: Omit<Offer, 'what' | 'perSecond'>) {
    this.flooder = new Program('programs/flooder.ts', { cpus: cpus.clients });
    this.offered = offered;
    this.service = service;
    // The clients have one for themselves where they are parted.
    this.processors = availableParallelism() - (cpus.service === undefined ? 0 : 1);
  }

  /** @param seconds of a slice; it lasts ten at least */
  static async prepare(service: Service, cpus: Cpus, seconds: number): Promise<HalfLoad> {
    const customer = await Customer.register(service.url, 'beside@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    for (let i = 0; i < 100; i++) await customer.post('/v1/workspaces', { name: `there ${i}` });
    const ms = Math.max(leastSliceMs, seconds * 1_000);
    return new HalfLoad(service, cpus, {
      url: service.url,
      authorization,
      ms,
      maxConnections: connections,
      initialConnections: connections,
    });
  }

  /** Requests per second that keep half of the service's processors busy. Where that cannot be seen: half of those that an overloaded service takes. */
  async rate(what: RequestKind): Promise<number> {
    await this.offer(what, tooMuch[what]);
    const { ms } = this.offered;
    const most = (await this.offer(what, tooMuch[what])).admitted / (ms / 1_000);
    let rate = most / 2;
    for (let i = 0; i < approaches; i++) {
      const before = treeProcessorMs(this.service.pid);
      await this.offer(what, rate);
      const after = treeProcessorMs(this.service.pid);
      if (before === null || after === null) return rate;
      rate = Math.min(most, (rate * this.processors * ms * 0.5) / (after - before));
    }
    return rate;
  }

  async p99Ms(what: RequestKind, rate: number): Promise<number> {
    return (await this.offer(what, rate)).p99Ms;
  }

  end(): Promise<void> {
    return this.flooder.end();
  }

  private offer(what: RequestKind, perSecond: number): Promise<Offered> {
    return this.flooder.call<Offered>('offer', { ...this.offered, what, perSecond } satisfies Offer);
  }
}
