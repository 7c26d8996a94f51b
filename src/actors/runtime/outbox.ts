/**
 * Durable messages on their way to actors of this node. A message is a row from its sender's commit until its receiver's commit deletes
 * it; memory only says which rows are in hand.
 *
 * O1 No message is in hand twice at once.
 * O2 Messages are handed over in the order of their ids, which is the order of their sender's turns. Once one had to stay in the database,
 *    all later ones stay there too until a sweep, oldest first, has caught up.
 * O3 What this version does not know is left (`left-work.ts`), and later messages to the same actor wait behind it, so that their order stays.
 */
import { ownedShards, type Placement } from '../../cluster/placement.ts';
import type { Log } from '../../log.ts';
import type { MessageDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import type { ActorSystem } from './actor-system.ts';
import { newEnvelope } from './envelope.ts';
import type { LeftWork } from './left-work.ts';

export type OutboxParts = { system: ActorSystem; database: Database; placement: Placement; log: Log; left: LeftWork };
export type OutboxOptions = {
  /** Messages in hand at most; beyond it they stay in the database until a sweep comes by. */
  maxInHand?: number;
  sweepIntervalMs?: number;
};

const pageSize = 1_000;
/** Every so many intervals a sweep looks although nothing says that something is left: news between nodes may be lost. */
const unaskedEvery = 10;
/** Receivers that a read leaves out because messages to them wait behind one that is left; with more of them it reads all again. */
const maxLeftOut = 1_000;

export class Outbox {
  private readonly inHand = new Set<string>();
  /** Consumed while a page was read, which may still show them. */
  private readonly consumed = new Set<string>();
  private sweeping = false;
  private stopped = false;
  private timer: NodeJS.Timeout | null = null;
  /** Something was left in the database: nothing may overtake it, and the next sweep has to look. */
  private leftBehind = false;
  /** O3: receivers of messages that are left. Found anew by a look at everything, which `mustFindHeld` asks for. */
  private held = new Set<string>();
  private mustFindHeld = false;
  private readonly parts: OutboxParts;
  private readonly maxInHand: number;
  private readonly sweepIntervalMs: number;

  constructor(parts: OutboxParts, options: OutboxOptions = {}) {
    this.parts = parts;
    this.maxInHand = options.maxInHand ?? 20_000;
    this.sweepIntervalMs = options.sweepIntervalMs ?? 1_000;
  }

  get size(): number {
    return this.inHand.size;
  }

  start(): void {
    let ticks = 0;
    this.timer = setInterval(() => {
      if (this.leftBehind || ++ticks % unaskedEvery === 0) void this.sweep();
    }, this.sweepIntervalMs);
    this.timer.unref();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Takes messages that were just committed. */
  deliver(messages: readonly MessageDraft[]): void {
    for (const message of messages) {
      if (this.parts.placement.epochOf(message.shard) === null) continue;
      if (this.leftBehind || this.sweeping || !this.handOver(message)) this.leftBehind = true;
    }
  }

  /** As `sweep`, also of what was left: this node has other shards, or what was left may be gone. */
  sweepAll(): Promise<void> {
    this.mustFindHeld = true;
    return this.sweep();
  }

  /** Delivers what stands in the database for shards of this node, oldest first, as far as there is room. */
  async sweep(): Promise<void> {
    this.leftBehind = true;
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      // What is committed while a page is read is left behind, and found by another round.
      while (this.leftBehind && !this.stopped) {
        this.leftBehind = false;
        if (!(await this.sweepOnce())) {
          this.leftBehind = true;
          return;
        }
      }
    } catch (error) {
      this.leftBehind = true;
      this.mustFindHeld = true;
      this.parts.log.warn({ err: error }, 'the outbox could not be read; trying again');
    } finally {
      this.sweeping = false;
      this.consumed.clear();
    }
  }

  /** False when there was no room for all. */
  private async sweepOnce(): Promise<boolean> {
    const { placement, database } = this.parts;
    const shards = ownedShards(placement);
    const isWhole = this.mustFindHeld;
    // Nothing else is handed over while this reads.
    if (isWhole) this.held = new Set();
    this.mustFindHeld = false;
    const leftOut = this.held.size > maxLeftOut ? [] : [...this.held];
    for (let after = ''; ; ) {
      const { rows } = await database.read({
        name: 'outbox_page',
        text: `select id, shard, kind, actor_id as "actorId", command, input from message where shard = any($1) and id > $2 and kind || '/' || actor_id <> all($3) order by id limit ${pageSize}`,
        values: [shards, after, leftOut],
      });
      for (const row of rows as MessageDraft[]) {
        if (this.consumed.has(row.id) || this.handOver(row)) continue;
        this.mustFindHeld ||= isWhole;
        return false;
      }
      this.consumed.clear();
      if (rows.length < pageSize) return true;
      after = rows[rows.length - 1].id;
    }
  }

  /** True when it is in hand or is left for a node that knows it; false when there is no room for it. */
  private handOver(message: MessageDraft): boolean {
    const { system, placement, left } = this.parts;
    if (this.inHand.has(message.id) || placement.epochOf(message.shard) === null) return true;
    if (this.held.size > 0 && this.held.has(receiverOf(message))) return true;
    if (!left.knows('message', message.kind, message.command)) {
      this.held.add(receiverOf(message));
      return true;
    }
    if (this.inHand.size >= this.maxInHand) return false;
    this.inHand.add(message.id);
    const envelope = newEnvelope(
      message.command,
      message.input,
      Infinity,
      null,
      { kind: 'message', id: message.id },
      message.trace ?? null,
    );
    envelope.resolve = () => {
      this.inHand.delete(message.id);
      if (this.sweeping) this.consumed.add(message.id);
    };
    envelope.reject = () => {
      this.inHand.delete(message.id);
      this.leftBehind = true;
    };
    if (system.deliver(message.kind, message.actorId, envelope)) return true;
    this.inHand.delete(message.id);
    return false;
  }
}

function receiverOf({ kind, actorId }: MessageDraft): string {
  return `${kind}/${actorId}`;
}
