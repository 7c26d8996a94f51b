/**
 * The undelivered events of one webhook, in ordered queues: the events of a task are one queue, sent one after another; an event without a
 * task is a queue of its own. Data and rules only; the dispatcher sends and reads.
 *
 * W1 All events up to `cursor` are delivered, except those in the queues: saving `saved` at any moment loses nothing.
 * W2 In a queue no event is sent before its predecessor was delivered.
 * W3 The number of queues and the bytes of events in memory are bounded. Later events of a waiting queue stay in the database.
 */
import type { FeedEvent } from '../../../edge/stream/event-feed.ts';
import { nextTryMs } from './retry.ts';

/** A queue in the webhook's row. */
export type SavedQueue = {
  /** The task, or null for the one event without a task. */
  taskId: string | null;
  /** Its earlier events are delivered. */
  seq: number;
  failures: number;
  /** When its first event first failed; null if it has not failed. */
  since: number | null;
  dueAt: number | null;
};

export type OrderedQueue = SavedQueue & {
  readonly key: string;
  /** The next events, as far as they are in memory. */
  events: FeedEvent[];
  /** Later ones are only in the database. */
  hasMore: boolean;
  isBusy: boolean;
};

/** The next step of a queue: send its first event, or read on. */
export type Work =
  | { kind: 'send'; queue: OrderedQueue; event: FeedEvent }
  | { kind: 'read'; queue: OrderedQueue; from: number; to: number };

export const queueEvents = 16;
const maxQueues = 128;
const maxBytes = 256 * 1024;
/** Of all webhooks of a node together. */
const maxBytesTogether = 64 * 1024 * 1024;

/** Bytes of events in memory, shared by all queues of a node. */
export type QueueMemory = { bytes: number };

export class OrderedQueues {
  /** The newest event that was examined. */
  cursor: number;
  private bytes = 0;
  private readonly memory: QueueMemory;
  private isFull = false;
  private readonly queues = new Map<string, OrderedQueue>();
  /** Queues that are ready, in order of arrival. */
  private readonly ready = new Set<OrderedQueue>();

  constructor(cursor: number, saved: readonly SavedQueue[], memory: QueueMemory = { bytes: 0 }) {
    this.cursor = cursor;
    this.memory = memory;
    for (const queue of saved) {
      const key = keyOf(queue.taskId, queue.seq);
      const known: OrderedQueue = { ...queue, key, events: [], hasMore: true, isBusy: false };
      this.queues.set(key, known);
      if (known.dueAt === null) this.ready.add(known);
    }
  }

  /** W3. Once full, events are accepted again when half are done. Further events are not lost, but use more memory. */
  get hasCapacity(): boolean {
    const share = this.isFull ? 0.5 : 1;
    const isShort = this.queues.size > 0 && this.memory.bytes >= maxBytesTogether * share;
    this.isFull = isShort || this.queues.size >= maxQueues * share || this.bytes >= maxBytes * share;
    return !this.isFull;
  }

  get hasWork(): boolean {
    return this.ready.size > 0;
  }

  /** Takes the next event of the account. */
  take(event: FeedEvent, isWanted: boolean): void {
    if (event.seq <= this.cursor) return;
    this.cursor = event.seq;
    if (!isWanted) return;
    const key = keyOf(event.taskId, event.seq);
    let queue = this.queues.get(key);
    if (queue === undefined) {
      const { taskId, seq } = event;
      queue = { key, taskId, seq, failures: 0, since: null, dueAt: null, events: [], hasMore: false, isBusy: false };
      this.queues.set(key, queue);
    }
    if (queue.hasMore || queue.dueAt !== null || queue.events.length >= queueEvents || (queue.isBusy && queue.events.length === 0)) {
      queue.hasMore = true;
      return;
    }
    this.hold(queue, [event]);
    if (!queue.isBusy) this.ready.add(queue);
  }

  /** Queues that have waited long enough are ready again. */
  wake(nowMs: number): void {
    for (const queue of this.queues.values()) if (!queue.isBusy && queue.dueAt !== null && queue.dueAt <= nowMs) this.ready.add(queue);
  }

  /** The next step; its queue is busy until the result is passed in. null: nothing now. */
  next(): Work | null {
    const [queue] = this.ready;
    if (queue === undefined) return null;
    this.ready.delete(queue);
    queue.isBusy = true;
    const event = queue.events[0];
    if (event !== undefined) return { kind: 'send', queue, event };
    queue.hasMore = false;
    return { kind: 'read', queue, from: queue.seq, to: this.cursor };
  }

  /** Adds the requested page. An empty one means that there are no more events. */
  addEvents(queue: OrderedQueue, events: readonly FeedEvent[], isWanted: (event: FeedEvent) => boolean): void {
    queue.isBusy = false;
    if (events.length >= queueEvents) queue.hasMore = true;
    const wanted = events.filter(isWanted);
    this.hold(queue, wanted);
    const last = events.at(-1);
    // The failures belong to the event that failed, if it is still queued.
    if (wanted.length === 0 || wanted[0]!.seq !== queue.seq)
      this.startOver(queue, wanted[0]?.seq ?? (last === undefined ? queue.seq : last.seq + 1));
    this.goOn(queue);
  }

  /** The page could not be read. */
  keptWaiting(queue: OrderedQueue, untilMs: number): void {
    queue.isBusy = false;
    queue.hasMore = true;
    queue.dueAt = untilMs;
  }

  delivered(queue: OrderedQueue): void {
    queue.isBusy = false;
    const { seq } = queue.events[0]!;
    this.letGo(queue.events.splice(0, 1));
    this.startOver(queue, seq + 1);
    this.goOn(queue);
  }

  /** Its first event was not accepted. Returns the time of the retry; null: never. */
  failed(queue: OrderedQueue, nowMs: number, askedMs: number): number | null {
    queue.isBusy = false;
    queue.seq = queue.events[0]!.seq;
    queue.failures++;
    queue.since ??= nowMs;
    this.letGo(queue.events.splice(0));
    queue.hasMore = true;
    const dueAt = nextTryMs(queue.failures, queue.since, nowMs, askedMs);
    queue.dueAt = dueAt ?? nowMs;
    return dueAt;
  }

  /** This event was delivered by hand: if its queue waits for it, the queue continues. */
  deliveredByHand(seq: number): void {
    for (const queue of this.queues.values()) {
      if (queue.seq !== seq || queue.dueAt === null || queue.isBusy) continue;
      this.startOver(queue, seq + 1);
      this.goOn(queue);
    }
  }

  /** When the first waiting queue is due; null: none waits. */
  dueAtMs(): number | null {
    let first: number | null = null;
    for (const queue of this.queues.values()) {
      if (queue.dueAt !== null && !queue.isBusy && !this.ready.has(queue) && (first === null || queue.dueAt < first)) first = queue.dueAt;
    }
    return first;
  }

  saved(): SavedQueue[] {
    return [...this.queues.values()].map(({ taskId, seq, failures, since, dueAt }) => ({ taskId, seq, failures, since, dueAt }));
  }

  /** Drops all queues. */
  drop(): void {
    for (const queue of this.queues.values()) this.letGo(queue.events.splice(0));
    this.queues.clear();
    this.ready.clear();
  }

  private hold(queue: OrderedQueue, events: readonly FeedEvent[]): void {
    queue.events.push(...events);
    this.count(events, 1);
  }

  private letGo(events: readonly FeedEvent[]): void {
    this.count(events, -1);
  }

  private count(events: readonly FeedEvent[], sign: 1 | -1): void {
    let bytes = 0;
    for (const { envelope } of events) bytes += sign * envelope.length;
    this.bytes += bytes;
    this.memory.bytes += bytes;
  }

  private startOver(queue: OrderedQueue, seq: number): void {
    queue.seq = seq;
    queue.failures = 0;
    queue.since = null;
    queue.dueAt = null;
  }

  private goOn(queue: OrderedQueue): void {
    const isOver = queue.events.length === 0 && (!queue.hasMore || queue.taskId === null);
    if (isOver) this.queues.delete(queue.key);
    else this.ready.add(queue);
  }
}

function keyOf(taskId: string | null, seq: number): string {
  return taskId ?? `#${seq}`;
}
