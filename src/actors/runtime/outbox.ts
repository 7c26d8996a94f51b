/**
 * Durable messages on their way to actors of this node. A message is a row from its sender's commit until its receiver's commit deletes it;
 * memory only says which rows are in hand, so that none is delivered twice at once. What found no room is found again by the sweep.
 */
import { shardCount } from '../../cluster/address.ts';
import type { Placement } from '../../cluster/placement.ts';
import type { Log } from '../../log.ts';
import type { MessageDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import type { ActorSystem } from './actor-system.ts';
import { newEnvelope } from './envelope.ts';

const pageSize = 1_000;
const sweepIntervalMs = 2_000;
/** Messages in hand at most; beyond it they stay in the database until the sweep comes by. */
const maxInHand = 20_000;

export class Outbox {
  private readonly inHand = new Set<string>();
  private sweeping = false;
  private timer: NodeJS.Timeout | null = null;
  /** Something was left in the database: the next sweep has to look. */
  private leftBehind = false;
  private readonly parts: { system: ActorSystem; database: Database; placement: Placement; log: Log };

  constructor(parts: { system: ActorSystem; database: Database; placement: Placement; log: Log }) {
    this.parts = parts;
  }

  start(): void {
    this.timer = setInterval(() => this.leftBehind && void this.sweep(), sweepIntervalMs);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  deliver(messages: MessageDraft[]): void {
    for (const message of messages) this.deliverOne(message);
  }

  /** Delivers what stands in the database for shards of this node, oldest first. */
  async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    this.leftBehind = false;
    try {
      const { placement, database } = this.parts;
      const shards = Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => placement.epochOf(shard) !== null);
      for (let after = ''; ; ) {
        const { rows } = await database.read({
          name: 'outbox_page',
          text: `select id, shard, kind, actor_id as "actorId", command, input from message where shard = any($1) and id > $2 order by id limit ${pageSize}`,
          values: [shards, after],
        });
        for (const row of rows) if (!this.inHand.has(row.id)) this.deliverOne(row);
        if (rows.length < pageSize) return;
        after = rows[rows.length - 1].id;
      }
    } catch (error) {
      this.leftBehind = true;
      this.parts.log.warn({ err: error }, 'the outbox could not be read; trying again');
    } finally {
      this.sweeping = false;
    }
  }

  private deliverOne(message: MessageDraft): void {
    if (this.inHand.size >= maxInHand) {
      this.leftBehind = true;
      return;
    }
    this.inHand.add(message.id);
    const envelope = newEnvelope(message.command, message.input, Infinity, null, { kind: 'message', id: message.id });
    envelope.resolve = () => this.inHand.delete(message.id);
    envelope.reject = () => this.leave(message.id);
    if (!this.parts.system.deliver(message.kind, message.actorId, envelope)) this.leave(message.id);
  }

  private leave(id: string): void {
    this.inHand.delete(id);
    this.leftBehind = true;
  }
}
