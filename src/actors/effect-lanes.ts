/**
 * Where effects wait for a place to run. Each lane has places of its own, so that slow tools delay no model turn, and neither delays a mail or a
 * payment; within a lane accounts take turns, and one account has a part of the places at most.
 *
 * Suspects have a lane of one place (E5): one after the other, so that the one that ends its process is found, and those that ran beside it by
 * chance are not blamed with it.
 */
import { FairQueue, type FairQueueOptions } from '../fair-queue.ts';
import type { EffectDefinition } from './define-actor.ts';

export type Lane = NonNullable<EffectDefinition['lane']>;
export type LaneSizes = { lane: string; running: number; waiting: number }[];
export type LanePlaces = Pick<FairQueueOptions, 'maxRunning' | 'maxRunningEach'>;

/** Model turns and tools mostly wait for others; mails and payments are short and few. */
const places: Record<Lane, LanePlaces> = {
  model: { maxRunning: 256, maxRunningEach: 128 },
  tool: { maxRunning: 128, maxRunningEach: 32 },
  vital: { maxRunning: 64, maxRunningEach: 16 },
};
const lanes = ['model', 'tool', 'vital'] as const;

export class EffectLanes<T extends object> {
  /** The other lanes stand still. */
  onlyVital = false;
  private readonly queues: Record<Lane, FairQueue<T>>;
  private readonly suspects = new FairQueue<T>({ maxRunning: 1 });
  /** What waits or runs, and where. */
  private readonly at = new Map<T, { queue: FairQueue<T>; account: string; runs: boolean }>();

  /** @param all places of every lane, instead of its own */
  constructor(all: LanePlaces | null = null) {
    const queue = (lane: Lane) => new FairQueue<T>(all ?? places[lane]);
    this.queues = { model: queue('model'), tool: queue('tool'), vital: queue('vital') };
  }

  /** For metrics. */
  get sizes(): LaneSizes {
    const size = (lane: string, { running, waiting }: FairQueue<T>) => ({ lane, running, waiting });
    return [...lanes.map((lane) => size(lane, this.queues[lane])), size('suspect', this.suspects)];
  }

  add(item: T, account: string, lane: Lane | 'suspect'): void {
    const queue = lane === 'suspect' ? this.suspects : this.queues[lane];
    this.at.set(item, { queue, account, runs: false });
    queue.add(account, item);
  }

  /** The next one that may run, which has a place from now on; null where there is none. */
  take(): T | null {
    for (const queue of this.onlyVital ? [this.queues.vital] : [this.queues.vital, this.queues.model, this.queues.tool, this.suspects]) {
      const taken = queue.take();
      if (taken === null) continue;
      this.at.get(taken.item)!.runs = true;
      return taken.item;
    }
    return null;
  }

  /** It gives its place back, or waits no longer. What has neither is left alone. */
  leave(item: T): void {
    const at = this.at.get(item);
    if (at === undefined) return;
    this.at.delete(item);
    if (at.runs) at.queue.finish(at.account);
    else at.queue.remove(at.account, item);
  }

  /** Nothing waits any more. */
  clear(): void {
    for (const queue of [...lanes.map((lane) => this.queues[lane]), this.suspects]) for (const item of queue.clear()) this.at.delete(item);
  }
}
