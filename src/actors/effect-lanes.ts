/**
 * Concurrency limits of effects. Each lane has its own, so that slow tools delay no model turn, and neither delays a mail or a payment;
 * within a lane accounts are served round-robin, and one account has at most a part of the limit.
 *
 * Suspects run in a lane of limit one (E5): one after the other, so that the effect that kills its process is identified, and others that
 * ran at the same time are not suspected again.
 */
import { FairQueue, type FairQueueOptions } from '../fair-queue.ts';
import type { EffectDefinition } from './define-actor.ts';

export type Lane = NonNullable<EffectDefinition['lane']>;
export type LaneSizes = { lane: string; running: number; waiting: number }[];
export type LaneLimits = Pick<FairQueueOptions, 'maxRunning' | 'maxRunningEach'>;

/**
 * Model turns and tools mostly wait for external services; mails and payments are short and few. A long computation, transfer or build waits
 * here, outside its time limit.
 */
const limits: Record<Lane, LaneLimits> = {
  model: { maxRunning: 256, maxRunningEach: 128 },
  tool: { maxRunning: 128, maxRunningEach: 32 },
  vital: { maxRunning: 64, maxRunningEach: 16 },
  compute: { maxRunning: 64, maxRunningEach: 4 },
  publish: { maxRunning: 16, maxRunningEach: 4 },
  build: { maxRunning: 2, maxRunningEach: 1 },
};
const lanes = ['vital', 'model', 'tool', 'compute', 'publish', 'build'] as const satisfies readonly Lane[];

export class EffectLanes<T extends object> {
  /** The other lanes are paused. */
  isPaused = false;
  private readonly queues: Record<Lane, FairQueue<T>>;
  private readonly suspects = new FairQueue<T>({ maxRunning: 1 });
  private readonly byPriority: readonly FairQueue<T>[];
  /** The queue of each item that waits or runs. */
  private readonly entries = new Map<T, { queue: FairQueue<T>; account: string; runs: boolean }>();

  /** @param all limits of every lane, instead of its own */
  constructor(all: LaneLimits | null = null) {
    const queue = (lane: Lane) => new FairQueue<T>(all ?? limits[lane]);
    this.queues = Object.fromEntries(lanes.map((lane) => [lane, queue(lane)])) as Record<Lane, FairQueue<T>>;
    this.byPriority = [...lanes.map((lane) => this.queues[lane]), this.suspects];
  }

  /** For metrics. */
  get sizes(): LaneSizes {
    const size = (lane: string, { running, waiting }: FairQueue<T>) => ({ lane, running, waiting });
    return [...lanes.map((lane) => size(lane, this.queues[lane])), size('suspect', this.suspects)];
  }

  add(item: T, account: string, lane: Lane | 'suspect'): void {
    const queue = lane === 'suspect' ? this.suspects : this.queues[lane];
    this.entries.set(item, { queue, account, runs: false });
    queue.add(account, item);
  }

  /** The next item that may run, counted as running from now on; null where there is none. */
  take(): T | null {
    for (const queue of this.isPaused ? [this.queues.vital] : this.byPriority) {
      const next = queue.take();
      if (next === null) continue;
      this.entries.get(next.item)!.runs = true;
      return next.item;
    }
    return null;
  }

  /** Frees the item's slot, or removes the item from the queue; no effect if it has neither. */
  remove(item: T): void {
    const entry = this.entries.get(item);
    if (entry === undefined) return;
    this.entries.delete(item);
    if (entry.runs) entry.queue.finish(entry.account);
    else entry.queue.remove(entry.account, item);
  }

  /** Removes all that wait. */
  clear(): void {
    for (const queue of this.byPriority) for (const item of queue.clear()) this.entries.delete(item);
  }
}
