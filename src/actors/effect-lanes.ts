/**
 * Concurrency limits of effects. Each lane has its own, so that slow tools delay no model turn, and neither delays a mail or a payment;
 * within a lane accounts are served round-robin, and one account has at most a part of the limit.
 *
 * Suspects run in a lane of limit one (E5): one after the other, so that the effect that kills its process is found, and others that ran at
 * the same time are not blamed.
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
  onlyVital = false;
  private readonly queues: Record<Lane, FairQueue<T>>;
  private readonly suspects = new FairQueue<T>({ maxRunning: 1 });
  private readonly inOrder: readonly FairQueue<T>[];
  /** The queue of each item that waits or runs. */
  private readonly at = new Map<T, { queue: FairQueue<T>; account: string; runs: boolean }>();

  /** @param all limits of every lane, instead of its own */
  constructor(all: LaneLimits | null = null) {
    const queue = (lane: Lane) => new FairQueue<T>(all ?? limits[lane]);
    this.queues = Object.fromEntries(lanes.map((lane) => [lane, queue(lane)])) as Record<Lane, FairQueue<T>>;
    this.inOrder = [...lanes.map((lane) => this.queues[lane]), this.suspects];
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

  /** The next item that may run, counted as running from now on; null where there is none. */
  take(): T | null {
    for (const queue of this.onlyVital ? [this.queues.vital] : this.inOrder) {
      const taken = queue.take();
      if (taken === null) continue;
      this.at.get(taken.item)!.runs = true;
      return taken.item;
    }
    return null;
  }

  /** Frees the item's slot, or removes the item from the queue; no effect if it has neither. */
  leave(item: T): void {
    const at = this.at.get(item);
    if (at === undefined) return;
    this.at.delete(item);
    if (at.runs) at.queue.finish(at.account);
    else at.queue.remove(at.account, item);
  }

  /** Removes all that wait. */
  clear(): void {
    for (const queue of this.inOrder) for (const item of queue.clear()) this.at.delete(item);
  }
}
