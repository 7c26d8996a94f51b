/**
 * Durable messages in transit to actors of this node. A message is a row from its sender's commit until its receiver's commit deletes it;
 * memory only says which rows are in flight (`in-flight-messages.ts`).
 *
 * O1 No message is in flight twice at once.
 * O2 Messages of one sender to one actor are delivered in the order of the sender's turns. A message that was just committed is delivered
 *    if memory proves that all earlier ones were; otherwise the rows of its shard are read in order. A row that must stay in the database
 *    delays only the later messages of its pair.
 * O3 A message that this version does not know is left (`left-work.ts`), and later messages of its sender to the same actor wait behind it.
 * O4 Rows are read in the order of their numbers. A statement that sees a row sees all earlier rows of its sender, because they were
 *    committed before it. If there are several pages, only rows with a number drawn before the first page are read.
 */
import { ownedShards, type Placement } from '../cluster/placement.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';
import type { ActorSystem } from './actor-system.ts';
import { type Envelope, newEnvelope } from './envelope.ts';
import { InFlightMessages, pairOf } from './in-flight-messages.ts';
import type { LeftWork } from './left-work.ts';

export type OutboxParts = { system: ActorSystem; database: Database; placement: Placement; log: Log; left: LeftWork };
export type OutboxOptions = {
  /** Most messages in flight; further ones stay in the database until a sweep. */
  maxInFlight?: number;
  sweepIntervalMs?: number;
};

type MessageRow = MessageDraft & { seq: number };
type Page = { shards: number[]; after: { shard: number; seq: number; id: string }; upTo: number };

const pageSize = 1_000;
/** A full sweep after every so many intervals: notifications between nodes may be lost. */
const fullSweepEvery = 10;
/** Bound of `toVerify`. */
const maxToVerify = 10_000;
const waitsForEarlier = new AppError('unavailable', 'An earlier message of its sender is still in the database');

export class Outbox {
  private readonly inFlight = new InFlightMessages();
  /** Messages whose shard must be read to find their predecessors. */
  private readonly messagesToVerify = new Map<string, MessageDraft>();
  /** Shards to read at once, and with the next interval. */
  private readonly shardsToRead = new Set<number>();
  private readonly shardsToReadLater = new Set<number>();
  private scheduled = false;
  /** The sweep that is running. */
  private sweeping: Promise<void> | null = null;
  /** If the limit was reached, the next sweep begins with the first unread shard. */
  private firstShard = 0;
  private releasing: Envelope[] | null = null;
  /** Pairs of sender and receiver with a message that this sweep has left; later messages of the pair are left too. */
  private readonly left = new Set<string>();
  /** O3: pairs whose next message this version does not know; their later messages wait for a sweep. */
  private readonly held = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | null = null;
  private readonly parts: OutboxParts;
  private readonly maxInFlight: number;
  private readonly sweepIntervalMs: number;

  constructor(parts: OutboxParts, options: OutboxOptions = {}) {
    this.parts = parts;
    this.maxInFlight = options.maxInFlight ?? 20_000;
    this.sweepIntervalMs = options.sweepIntervalMs ?? 1_000;
  }

  get size(): number {
    return this.inFlight.size;
  }

  start(): void {
    let ticks = 0;
    this.timer = setInterval(() => {
      if (++ticks % fullSweepEvery === 0) void this.sweep();
      else if (this.shardsToReadLater.size > 0) void this.read([...this.shardsToReadLater]);
    }, this.sweepIntervalMs);
    this.timer.unref();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** These shards are lost: all records about their messages are dropped. */
  lost(shards: ReadonlySet<number>): void {
    this.inFlight.lost(shards);
  }

  /** Delivers messages that were just committed. */
  deliver(messages: readonly MessageDraft[]): void {
    for (const message of messages) {
      const { id, shard, sender, kind, actorId } = message;
      if (this.parts.placement.epochOf(shard) === null || this.inFlight.has(id)) continue;
      // A message without an order goes after all left messages.
      const isLast = sender == null && (this.sweeping !== null || this.shardsToReadLater.has(shard));
      const waits =
        isLast || this.inFlight.size >= this.maxInFlight || (this.held.size > 0 && this.held.has(pairOf(sender ?? '', kind, actorId)));
      if (waits || this.isUnknown(message)) this.shardsToReadLater.add(shard);
      else if (!this.inFlight.isInOrder(message)) this.verifyOrder(message);
      else if (!this.deliverInOrder(message)) this.shardsToReadLater.add(shard);
    }
  }

  /** As `sweep`, including messages that were left before: this node has other shards, or the left messages may have been deleted. */
  sweepAll(): Promise<void> {
    this.held.clear();
    return this.sweep();
  }

  /** Delivers the messages in the database for shards of this node, up to the limit. */
  sweep(): Promise<void> {
    return this.read(ownedShards(this.parts.placement));
  }

  /** O2. All messages of one tick are read together. */
  private verifyOrder(message: MessageDraft): void {
    if (this.messagesToVerify.size >= maxToVerify) this.messagesToVerify.clear();
    this.messagesToVerify.set(message.id, message);
    this.shardsToRead.add(message.shard);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => void this.read([]));
  }

  private read(shards: number[]): Promise<void> {
    this.scheduled = false;
    for (const shard of shards) this.shardsToRead.add(shard);
    if (this.shardsToRead.size === 0 || this.stopped) return Promise.resolve();
    this.sweeping ??= this.readAll();
    return this.sweeping;
  }

  /** Also reads shards requested meanwhile. Rows that cannot be read, or that exceed the limit, are read later. */
  private async readAll(): Promise<void> {
    this.inFlight.keepsAllConsumed = true;
    while (this.shardsToRead.size > 0 && !this.stopped) {
      const shards = [...this.shardsToRead].sort((a, b) => a - b);
      this.shardsToRead.clear();
      for (const shard of shards) this.shardsToReadLater.delete(shard);
      this.left.clear();
      const later = shards.filter((shard) => shard >= this.firstShard);
      const earlier = shards.filter((shard) => shard < this.firstShard);
      try {
        if ((await this.readShards(later)) && (await this.readShards(earlier))) continue;
      } catch (error) {
        this.parts.log.warn({ err: error }, 'the outbox could not be read; retrying');
      }
      for (const shard of [...shards, ...this.shardsToRead]) this.shardsToReadLater.add(shard);
      this.shardsToRead.clear();
    }
    this.inFlight.keepsAllConsumed = false;
    this.inFlight.trimConsumed();
    this.sweeping = null;
  }

  /** False if the limit was reached. */
  private async readShards(shards: number[]): Promise<boolean> {
    if (shards.length === 0) return true;
    const page: Page = { shards, after: { shard: -1, seq: 0, id: '' }, upTo: Number.MAX_SAFE_INTEGER };
    let rows = await this.page(page);
    if (rows.length === pageSize) {
      // O4: there are several pages, so all of them are read with a bound.
      page.upTo = await this.lastSeq();
      rows = await this.page(page);
    }
    for (;;) {
      for (const row of rows) {
        if (this.take(row)) continue;
        this.firstShard = row.shard;
        return false;
      }
      if (rows.length < pageSize) return true;
      page.after = rows.at(-1)!;
      rows = await this.page(page);
    }
  }

  private async page({ shards, after, upTo }: Page): Promise<MessageRow[]> {
    const { rows } = await this.parts.database.read({
      name: 'outbox_page',
      text: `select id, shard, kind, actor_id as "actorId", command, input, sender, seq from message
        where shard = any($1) and (shard, seq, id) > ($2, $3, $4) and seq <= $5 order by shard, seq, id limit ${pageSize}`,
      values: [shards, after.shard, after.seq, after.id, upTo],
    });
    return rows as MessageRow[];
  }

  private async lastSeq(): Promise<number> {
    const { rows } = await this.parts.database.read({ name: 'outbox_bound', text: 'select last_value from message_seq', values: [] });
    return Number(rows[0].last_value);
  }

  /** Takes a row, after all before it. False if the limit is reached. */
  private take(row: MessageRow): boolean {
    const { id, shard, sender, kind, actorId } = row;
    const trace = this.messagesToVerify.get(id)?.trace;
    this.messagesToVerify.delete(id);
    if (this.inFlight.has(id) || this.parts.placement.epochOf(shard) === null) return true;
    const pair = sender == null ? null : pairOf(sender, kind, actorId);
    if (pair !== null && this.left.has(pair)) return true;
    if (!this.isUnknown(row)) return this.deliverInOrder({ ...row, trace });
    if (pair !== null) this.left.add(pair);
    return true;
  }

  /** O3. */
  private isUnknown({ sender, kind, actorId, command }: MessageDraft): boolean {
    if (this.parts.left.isSupported('message', kind, command)) return false;
    if (sender != null) this.held.add(pairOf(sender, kind, actorId));
    return true;
  }

  /** False if the limit is reached. All earlier messages of the same sender are consumed or in flight. */
  private deliverInOrder(message: MessageDraft): boolean {
    const { system } = this.parts;
    if (this.inFlight.size >= this.maxInFlight) return false;
    const { id, shard, kind, actorId, command, input, sender, trace = null } = message;
    const envelope = newEnvelope(command, input, Infinity, null, { kind: 'message', id }, trace);
    envelope.resolve = () => {
      this.inFlight.done(id);
      const { successor } = envelope;
      envelope.successor = null;
      if (successor !== null && !successor.settled && !system.deliver(kind, actorId, successor))
        system.pending.settle(successor, waitsForEarlier, undefined);
    };
    envelope.reject = () => {
      this.shardsToReadLater.add(shard);
      if (sender != null && this.sweeping !== null) this.left.add(pairOf(sender, kind, actorId));
      envelope.successor = null;
      this.release(this.inFlight.release(id));
    };
    this.inFlight.add(message, envelope);
    if (system.deliver(kind, actorId, envelope)) return true;
    this.inFlight.release(id);
    return false;
  }

  /** H1. Iterative, not recursive: there may be thousands. */
  private release(envelope: Envelope | null): void {
    if (envelope === null) return;
    if (this.releasing !== null) return void this.releasing.push(envelope);
    this.releasing = [envelope];
    for (const waiting of this.releasing) this.parts.system.pending.settle(waiting, waitsForEarlier, undefined);
    this.releasing = null;
  }
}
