/** The couriers of this node: one for each webhook that lives here and has something to deliver, or may have. They come and go with the shards. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Placement } from '../../../cluster/placement.ts';
import { CountBy } from '../../../counts.ts';
import type { EventCatalogue } from '../../../edge/stream/event-catalogue.ts';
import type { EventFeed } from '../../../edge/stream/event-feed.ts';
import type { Log } from '../../../log.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { Database } from '../../../storage/database.ts';
import { within } from '../../../within.ts';
import { Courier } from './courier.ts';
import type { LaneMemory } from './lanes.ts';
import { webhook } from './messages.ts';
import { Slots } from './slots.ts';

export type CouriersOptions = {
  actors: ActorSystem;
  database: Pick<Database, 'read'>;
  placement: Placement;
  feed: EventFeed;
  eventCatalogue: EventCatalogue;
  outbound: Outbound;
  /** The signing key in an encrypted secret of this webhook. */
  keyOf(secret: string, webhookId: string): Buffer;
  clock: Clock;
  log: Log;
  /** How long a receiver may take for its whole answer; default 10 s. */
  timeoutMs?: number;
};
export type CouriersParts = CouriersOptions & { ended(courier: Courier): void; tries: CountBy };

const pageSize = 500;
const maxOnTheirWay = 2_048;
/** Four webhooks at their full pace. */
const maxToOneReceiver = 64;
const againMs = 1_000;
/** Webhooks whose rows are read at once after shards have come. */
const readAtOnce = 16;

export class Couriers {
  /** For metrics: deliveries that were tried. */
  readonly tries = new CountBy(['outcome']);
  private readonly parts: CouriersParts;
  private readonly couriers = new Map<string, Courier>();
  private readonly slots = new Slots(maxOnTheirWay, maxToOneReceiver);
  private readonly memory: LaneMemory = { bytes: 0 };
  private state: 'open' | 'finishing' | 'stopped' = 'open';

  constructor(options: CouriersOptions) {
    const ended = (courier: Courier) => this.couriers.get(courier.id) === courier && this.couriers.delete(courier.id);
    this.parts = { ...options, ended, tries: this.tries };
    const { placement } = options;
    placement.onAcquired((shards) => void this.takeUp(shards));
    placement.onSealing(async (shards) => this.drop(new Set(shards)));
    placement.onLost((shards) => this.drop(new Set(shards)));
  }

  /** For metrics. */
  get size(): { couriers: number; onTheirWay: number } {
    return { couriers: this.couriers.size, onTheirWay: this.slots.taken };
  }

  /** A webhook that lives here has changed. */
  changed(id: string): void {
    void this.courier(id)?.refresh();
  }

  /** What is due by the clock goes on: for whoever has moved it. */
  wake(): void {
    for (const courier of this.couriers.values()) courier.wake();
  }

  /** Begins no delivery any more and tells of those that end within `graceMs`, so that whoever takes over does not repeat them. */
  async finish(graceMs: number): Promise<void> {
    if (this.state === 'open') this.state = 'finishing';
    await within(Promise.all([...this.couriers.values()].map((courier) => courier.finish())), graceMs);
  }

  stop(): void {
    this.state = 'stopped';
    for (const courier of [...this.couriers.values()]) courier.end();
  }

  private courier(id: string): Courier | null {
    const shard = shardOf(webhook.kind, id);
    if (this.state !== 'open' || this.parts.placement.epochOf(shard) === null) return null;
    let courier = this.couriers.get(id);
    if (courier === undefined) this.couriers.set(id, (courier = new Courier(id, shard, this.parts, this.slots, this.memory)));
    return courier;
  }

  private async takeUp(shards: number[]): Promise<void> {
    const { database, log } = this.parts;
    for (let after = ''; this.state === 'open'; ) {
      try {
        const { rows } = await database.read({
          name: 'webhooks_of_shards',
          text: `select id from webhook where shard = any($1) and id > $2 and (status = 'active' or (status = 'disabled' and json_array_length(asked) > 0)) order by id limit ${pageSize}`,
          values: [shards, after],
        });
        for (let i = 0; i < rows.length; i += readAtOnce)
          await Promise.all(rows.slice(i, i + readAtOnce).map(({ id }: { id: string }) => this.courier(id)?.refresh()));
        if (rows.length < pageSize) return;
        after = rows[rows.length - 1].id;
      } catch (err) {
        log.warn({ err }, 'the webhooks of acquired shards could not be read; trying again');
        await new Promise((resolve) => setTimeout(resolve, againMs).unref());
      }
    }
  }

  private drop(shards: ReadonlySet<number>): void {
    for (const courier of [...this.couriers.values()]) if (shards.has(courier.shard)) courier.end();
  }
}
