/**
 * What one webhook still has to deliver, in lanes: the events of a task are one lane and go one after the other; an event without a task is
 * a lane of its own. Plain data and rules; sending and reading are the courier's.
 *
 * W1 Everything up to `cursor` is delivered, save what stands in the lanes: what `saved` says at any moment loses nothing.
 * W2 In a lane nothing is sent before what is ahead of it was delivered.
 * W3 Bounded: so many lanes, so many bytes of events in memory. Behind a lane that waits, its later events stay in the database.
 */
import type { FeedEvent } from '../../../edge/stream/event-feed.ts';
import { nextTryMs } from './retry.ts';

/** A lane as the webhook's row keeps it. */
export type SavedLane = {
  /** The task, or null for the one event without a task. */
  taskId: string | null;
  /** What is delivered of it lies before this event. */
  seq: number;
  failures: number;
  /** When the first of them failed first; null where it has not failed. */
  since: number | null;
  dueAt: number | null;
};

export type Lane = SavedLane & {
  readonly key: string;
  /** The next ones, as far as they are in memory. */
  events: FeedEvent[];
  /** Later ones stand in the database alone. */
  hasMore: boolean;
  isBusy: boolean;
};

/** What is to be done with a lane: send its first event, or read on. */
export type Work = { kind: 'send'; lane: Lane; event: FeedEvent } | { kind: 'read'; lane: Lane; from: number; to: number };

export const laneEvents = 16;
const maxLanes = 128;
const maxBytes = 256 * 1024;
/** Of all webhooks of a node together. */
const maxBytesTogether = 64 * 1024 * 1024;

/** Bytes of events in memory, shared by all lanes of a node. */
export type LaneMemory = { bytes: number };

export class Lanes {
  /** The newest event that was looked at. */
  cursor: number;
  private bytes = 0;
  private readonly memory: LaneMemory;
  private isFull = false;
  private readonly lanes = new Map<string, Lane>();
  /** Lanes that something can be done with now, first come first served. */
  private readonly ready = new Set<Lane>();

  constructor(cursor: number, saved: readonly SavedLane[], memory: LaneMemory = { bytes: 0 }) {
    this.cursor = cursor;
    this.memory = memory;
    for (const lane of saved) {
      const key = keyOf(lane.taskId, lane.seq);
      const known: Lane = { ...lane, key, events: [], hasMore: true, isBusy: false };
      this.lanes.set(key, known);
      if (known.dueAt === null) this.ready.add(known);
    }
  }

  /** W3. Once full, there is room again when half is done. Whoever goes on taking loses nothing; it only grows. */
  get hasRoom(): boolean {
    const share = this.isFull ? 0.5 : 1;
    const isShort = this.lanes.size > 0 && this.memory.bytes >= maxBytesTogether * share;
    this.isFull = isShort || this.lanes.size >= maxLanes * share || this.bytes >= maxBytes * share;
    return !this.isFull;
  }

  get hasWork(): boolean {
    return this.ready.size > 0;
  }

  /** Looks at the next event of the account. */
  take(event: FeedEvent, isWanted: boolean): void {
    if (event.seq <= this.cursor) return;
    this.cursor = event.seq;
    if (!isWanted) return;
    const key = keyOf(event.taskId, event.seq);
    let lane = this.lanes.get(key);
    if (lane === undefined) {
      const { taskId, seq } = event;
      lane = { key, taskId, seq, failures: 0, since: null, dueAt: null, events: [], hasMore: false, isBusy: false };
      this.lanes.set(key, lane);
    }
    if (lane.hasMore || lane.dueAt !== null || lane.events.length >= laneEvents || (lane.isBusy && lane.events.length === 0)) {
      lane.hasMore = true;
      return;
    }
    this.hold(lane, [event]);
    if (!lane.isBusy) this.ready.add(lane);
  }

  /** Lanes that have waited long enough are ready again. */
  wake(nowMs: number): void {
    for (const lane of this.lanes.values()) if (!lane.isBusy && lane.dueAt !== null && lane.dueAt <= nowMs) this.ready.add(lane);
  }

  /** The next thing to do; its lane is busy until told how it went. null: nothing now. */
  next(): Work | null {
    const [lane] = this.ready;
    if (lane === undefined) return null;
    this.ready.delete(lane);
    lane.isBusy = true;
    const event = lane.events[0];
    if (event !== undefined) return { kind: 'send', lane, event };
    lane.hasMore = false;
    return { kind: 'read', lane, from: lane.seq, to: this.cursor };
  }

  /** The page that was asked for. An empty one means that there is nothing more. */
  gave(lane: Lane, events: readonly FeedEvent[], isWanted: (event: FeedEvent) => boolean): void {
    lane.isBusy = false;
    if (events.length >= laneEvents) lane.hasMore = true;
    const wanted = events.filter(isWanted);
    this.hold(lane, wanted);
    const last = events.at(-1);
    // The times it has failed stay with the event that failed, should it still be wanted.
    if (wanted.length === 0 || wanted[0]!.seq !== lane.seq)
      this.startOver(lane, wanted[0]?.seq ?? (last === undefined ? lane.seq : last.seq + 1));
    this.goOn(lane);
  }

  /** The page could not be read. */
  keptWaiting(lane: Lane, untilMs: number): void {
    lane.isBusy = false;
    lane.hasMore = true;
    lane.dueAt = untilMs;
  }

  delivered(lane: Lane): void {
    lane.isBusy = false;
    const { seq } = lane.events[0]!;
    this.letGo(lane.events.splice(0, 1));
    this.startOver(lane, seq + 1);
    this.goOn(lane);
  }

  /** Its first event was not taken. Answers when it is tried again; null: never. */
  failed(lane: Lane, nowMs: number, askedMs: number): number | null {
    lane.isBusy = false;
    lane.seq = lane.events[0]!.seq;
    lane.failures++;
    lane.since ??= nowMs;
    this.letGo(lane.events.splice(0));
    lane.hasMore = true;
    const dueAt = nextTryMs(lane.failures, lane.since, nowMs, askedMs);
    lane.dueAt = dueAt ?? nowMs;
    return dueAt;
  }

  /** A person has had this event delivered: where its lane waits for it, the lane goes on. */
  deliveredByHand(seq: number): void {
    for (const lane of this.lanes.values()) {
      if (lane.seq !== seq || lane.dueAt === null || lane.isBusy) continue;
      this.startOver(lane, seq + 1);
      this.goOn(lane);
    }
  }

  /** When the first lane that waits is due; null: none waits. */
  dueAtMs(): number | null {
    let first: number | null = null;
    for (const lane of this.lanes.values()) {
      if (lane.dueAt !== null && !lane.isBusy && !this.ready.has(lane) && (first === null || lane.dueAt < first)) first = lane.dueAt;
    }
    return first;
  }

  saved(): SavedLane[] {
    return [...this.lanes.values()].map(({ taskId, seq, failures, since, dueAt }) => ({ taskId, seq, failures, since, dueAt }));
  }

  /** Nothing is done with them any more. */
  drop(): void {
    for (const lane of this.lanes.values()) this.letGo(lane.events.splice(0));
    this.lanes.clear();
    this.ready.clear();
  }

  private hold(lane: Lane, events: readonly FeedEvent[]): void {
    lane.events.push(...events);
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

  private startOver(lane: Lane, seq: number): void {
    lane.seq = seq;
    lane.failures = 0;
    lane.since = null;
    lane.dueAt = null;
  }

  private goOn(lane: Lane): void {
    const isOver = lane.events.length === 0 && (!lane.hasMore || lane.taskId === null);
    if (isOver) this.lanes.delete(lane.key);
    else this.ready.add(lane);
  }
}

function keyOf(taskId: string | null, seq: number): string {
  return taskId ?? `#${seq}`;
}
