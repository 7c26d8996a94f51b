/**
 * Timers of the shards this node owns. They are durable in the `timer` table; in memory are only those due soon, in one heap with one
 * system timer.
 *
 * T1 A timer fires at most once for one `set`: it stays current until the turn that took it is committed or it is set again.
 * T2 Rows that a sweep has read never override timers that were set or cleared since the sweep began.
 */
import type { Clock } from '../clock.ts';
import type { TimerDraft } from '../storage/commit-unit.ts';

/** Timers due later than this stay in the database until a later sweep. */
export const timerHorizonMs = 60_000;
const maxWaitMs = 10_000;

export class Timers {
  /** Also holds timers that were moved or cleared, until they are due or outnumber the others. */
  private heap: TimerDraft[] = [];
  private readonly current = new Map<string, TimerDraft>();
  private wake: NodeJS.Timeout | null = null;
  /** Keys set or cleared while a sweep reads the database; null while none does. */
  private changedKeys: Set<string> | null = null;
  private mustSweepAgain = false;
  private readonly clock: Clock;
  private readonly fire: (timer: TimerDraft) => void;

  constructor(clock: Clock, fire: (timer: TimerDraft) => void) {
    this.clock = clock;
    this.fire = fire;
  }

  /** Takes a committed timer; it replaces one with the same actor and name. */
  set(timer: TimerDraft): void {
    const key = keyOf(timer.kind, timer.actorId, timer.name);
    this.changedKeys?.add(key);
    this.current.delete(key);
    this.keep(key, timer);
  }

  clear(kind: string, actorId: string, name: string): void {
    const key = keyOf(kind, actorId, name);
    this.changedKeys?.add(key);
    this.current.delete(key);
  }

  /** Whether the timer that fired for `dueMs` is still current. */
  isCurrent(kind: string, actorId: string, name: string, dueMs: number): boolean {
    return this.current.get(keyOf(kind, actorId, name))?.dueAt === dueMs;
  }

  /** Takes the result of `read`: timers in the database that are due within the horizon. If called during a sweep, another one follows. */
  async sweep(read: () => Promise<TimerDraft[]>): Promise<void> {
    if (this.changedKeys !== null) {
      this.mustSweepAgain = true;
      return;
    }
    try {
      do {
        this.mustSweepAgain = false;
        this.changedKeys = new Set();
        for (const timer of await read()) {
          const key = keyOf(timer.kind, timer.actorId, timer.name);
          if (!this.changedKeys.has(key) && !this.current.has(key)) this.keep(key, timer);
        }
      } while (this.mustSweepAgain);
    } finally {
      this.changedKeys = null;
    }
  }

  /** Fires it again later: its actor's mailbox was full. */
  postpone(timer: TimerDraft, delayMs: number): void {
    const key = keyOf(timer.kind, timer.actorId, timer.name);
    if (this.current.get(key) !== timer) return;
    setTimeout(() => this.current.get(key) === timer && this.fire(timer), delayMs).unref();
  }

  dropShards(shards: Set<number>): void {
    for (const [key, timer] of this.current) if (shards.has(timer.shard)) this.current.delete(key);
  }

  stop(): void {
    if (this.wake !== null) clearTimeout(this.wake);
    this.wake = null;
    this.heap = [];
    this.current.clear();
  }

  private keep(key: string, timer: TimerDraft): void {
    if (timer.dueAt > this.clock.nowMs() + timerHorizonMs) return;
    this.current.set(key, timer);
    if (this.heap.length > 2 * this.current.size + 1_000) {
      // A sorted array is a heap.
      this.heap = [...this.current.values()].sort((a, b) => a.dueAt - b.dueAt);
    } else this.push(timer);
    if (this.heap[0] === timer || this.wake === null) this.arm();
  }

  private arm(): void {
    if (this.wake !== null) clearTimeout(this.wake);
    this.wake = null;
    const next = this.heap[0];
    if (next === undefined) return;
    // Bounded, so that timers fire soon after the wall clock is set forward.
    const waitMs = Math.min(maxWaitMs, Math.max(0, next.dueAt - this.clock.nowMs()));
    this.wake = setTimeout(() => this.fireDue(), waitMs);
    this.wake.unref();
  }

  /** Fires all due timers. Called by the system timer, and by tests that move the clock. */
  fireDue(): void {
    const nowMs = this.clock.nowMs();
    for (let next = this.heap[0]; next !== undefined && next.dueAt <= nowMs; next = this.heap[0]) {
      this.pop();
      if (this.current.get(keyOf(next.kind, next.actorId, next.name)) === next) this.fire(next);
    }
    this.arm();
  }

  private push(timer: TimerDraft): void {
    const { heap } = this;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.dueAt <= timer.dueAt) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.dueAt < heap[child]!.dueAt) child++;
      if (heap[child]!.dueAt >= last.dueAt) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function keyOf(kind: string, actorId: string, name: string): string {
  return `${kind}/${actorId}/${name}`;
}
