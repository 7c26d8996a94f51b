/**
 * Shares a few slots between accounts, round-robin. Each account has its own queue; a free slot goes to the next account, so an account
 * with much work delays another by one piece of its work, not by all. `FairQueue` is the pure data structure, `FairGate` lets asynchronous
 * work pass through it.
 *
 * F1 No more than `maxRunning` run, of one account no more than `maxRunningEach`.
 * F2 While a slot is free, no item waits whose account may have one.
 * F3 Items of one account run in order of arrival.
 * F4 While an account waits and may have a slot, no other account gets two slots before it gets one.
 * F5 No more than `maxWaiting` wait, of one account no more than `maxWaitingEach`. If the queue is full, the newest item of the account
 *    with the most waiting items is rejected, so items of an account with few items are accepted.
 */
import { AppError } from './errors.ts';

export type FairQueueOptions = {
  /** Slots in all. */
  maxRunning: number;
  /** Slots of one account. If fewer than `maxRunning`, other accounts get one at once. Default: all. */
  maxRunningEach?: number;
  /** Default: no bound. */
  maxWaiting?: number;
  maxWaitingEach?: number;
};

type Line<T> = { readonly account: string; readonly items: Set<T>; running: number };

/** Items are compared by identity: a waiting item must not be added again. Items without an account have the account ''. */
export class FairQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  /** Accounts whose next item may run as soon as a slot is free, in order. */
  private readonly ready = new Set<Line<T>>();
  private maxRunning: number;
  private maxRunningEach: number;
  private readonly maxWaiting: number;
  private readonly maxWaitingEach: number;
  private runningCount = 0;
  private waitingCount = 0;

  constructor({ maxRunning, maxRunningEach = maxRunning, maxWaiting = Infinity, maxWaitingEach = maxWaiting }: FairQueueOptions) {
    this.maxRunning = maxRunning;
    this.maxRunningEach = maxRunningEach;
    this.maxWaiting = maxWaiting;
    this.maxWaitingEach = maxWaitingEach;
  }

  get running(): number {
    return this.runningCount;
  }

  get waiting(): number {
    return this.waitingCount;
  }

  runningOf(account: string): number {
    return this.lines.get(account)?.running ?? 0;
  }

  waitingOf(account: string): number {
    return this.lines.get(account)?.items.size ?? 0;
  }

  /** Adds an item; call `take` next. Returns the item that is rejected for it (F5), which may be the item itself; null if the queue is not full. */
  add(account: string, item: T): T | null {
    if (this.waitingOf(account) >= this.maxWaitingEach) return item;
    let rejected: T | null = null;
    if (this.waitingCount >= this.maxWaiting) {
      const longest = this.longest();
      if (longest === null || longest.items.size <= this.waitingOf(account) + 1) return item;
      rejected = [...longest.items].at(-1)!;
      this.remove(longest.account, rejected);
    }
    const line = this.lineOf(account);
    line.items.add(item);
    this.waitingCount++;
    this.settle(line);
    return rejected;
  }

  /** Gives the next item a slot; null if none is free or no item may have one. Call `finish` when the item has ended. */
  take(): { account: string; item: T } | null {
    if (this.runningCount >= this.maxRunning) return null;
    const [line] = this.ready;
    if (line === undefined) return null;
    const [item] = line.items as Set<T> & Iterable<T>;
    line.items.delete(item!);
    this.waitingCount--;
    line.running++;
    this.runningCount++;
    // Goes to the end of the round if more of its items wait.
    this.ready.delete(line);
    this.settle(line);
    return { account: line.account, item: item! };
  }

  /** Takes a slot if one is free and no item waits for it. False: use `add`. */
  takeFree(account: string): boolean {
    if (this.runningCount >= this.maxRunning || this.ready.size > 0 || this.runningOf(account) >= this.maxRunningEach) return false;
    this.lineOf(account).running++;
    this.runningCount++;
    return true;
  }

  /** An item of this account has released its slot. Call `take` next. */
  finish(account: string): void {
    const line = this.lines.get(account);
    if (line === undefined || line.running === 0) throw new Error('A slot was released that was not taken');
    line.running--;
    this.runningCount--;
    this.settle(line);
  }

  /** Removes a waiting item. False if it was not waiting. */
  remove(account: string, item: T): boolean {
    const line = this.lines.get(account);
    if (line === undefined || !line.items.delete(item)) return false;
    this.waitingCount--;
    this.settle(line);
    return true;
  }

  /** Changes the number of slots. Running items keep theirs. Call `take` next. */
  resize(maxRunning: number, maxRunningEach: number): void {
    this.maxRunning = maxRunning;
    this.maxRunningEach = maxRunningEach;
    for (const line of [...this.lines.values()]) this.settle(line);
  }

  /** Removes all waiting items, and returns them. */
  clear(): T[] {
    const all = [...this.lines.values()].flatMap(({ items }) => [...items]);
    for (const line of [...this.lines.values()]) {
      line.items.clear();
      this.settle(line);
    }
    this.waitingCount = 0;
    return all;
  }

  private lineOf(account: string): Line<T> {
    let line = this.lines.get(account);
    if (line === undefined) this.lines.set(account, (line = { account, items: new Set(), running: 0 }));
    return line;
  }

  private settle(line: Line<T>): void {
    // An account that is already ready keeps its position.
    if (line.items.size > 0 && line.running < this.maxRunningEach) this.ready.add(line);
    else this.ready.delete(line);
    if (line.items.size === 0 && line.running === 0) this.lines.delete(line.account);
  }

  /** Searched only when the queue is full: as many steps as accounts wait, which are at most as many as waiting items. */
  private longest(): Line<T> | null {
    let longest: Line<T> | null = null;
    for (const line of this.lines.values()) if (line.items.size > (longest?.items.size ?? 0)) longest = line;
    return longest;
  }
}

export type FairGateOptions = FairQueueOptions & {
  /** Longest wait in the queue. Default: no limit. */
  maxWaitMs?: number;
  /** Message of the `overloaded` error for a rejected item. */
  full: string;
  /** Default 2. */
  retryAfterS?: number;
};

type Waiting = { enter(): void; rejectFull(): void };

export class FairGate {
  /** For metrics: rejected items since the start. */
  rejected = 0;
  private readonly queue: FairQueue<Waiting>;
  private readonly maxWaitMs: number | undefined;
  /** Made once, so that a rejection costs as little as possible. */
  private readonly full: AppError;

  constructor({ maxWaitMs, full, retryAfterS = 2, ...options }: FairGateOptions) {
    this.queue = new FairQueue(options);
    this.maxWaitMs = maxWaitMs;
    this.full = new AppError('overloaded', full, { retryAfterS });
  }

  get size(): { running: number; waiting: number } {
    return { running: this.queue.running, waiting: this.queue.waiting };
  }

  resize(maxRunning: number, maxRunningEach: number): void {
    this.queue.resize(maxRunning, maxRunningEach);
    this.next();
  }

  /** Runs `work` when the account has a slot. Rejects as `work` or `enter` does. */
  async pass<T>(account: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.enter(account, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Resolves with a function that releases the slot; call it once, later calls do nothing. Rejects `overloaded` when the queues are full or
   * too slow, and with the signal's reason when it is aborted while waiting.
   */
  async enter(account: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (!this.queue.takeFree(account)) await this.turn(account, signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.queue.finish(account);
      this.next();
    };
  }

  private turn(account: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        enter() {
          end();
          resolve();
        },
        rejectFull: () => {
          end();
          this.rejected++;
          reject(this.full);
        },
      };
      const leave = () => this.queue.remove(account, waiting);
      const onAbort = () => {
        leave();
        end();
        reject(signal!.reason);
      };
      const timer =
        this.maxWaitMs === undefined
          ? undefined
          : setTimeout(() => {
              leave();
              waiting.rejectFull();
            }, this.maxWaitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.queue.add(account, waiting)?.rejectFull();
      this.next();
    });
  }

  private next(): void {
    for (let next = this.queue.take(); next !== null; next = this.queue.take()) next.item.enter();
  }
}
