/** The dispatchers of this node: one for each webhook of its shards that has, or may have, events to deliver. */

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
import { DeliverySemaphore } from './delivery-semaphore.ts';
import { webhook } from './messages.ts';
import type { QueueMemory } from './ordered-queues.ts';
import { WebhookDispatcher } from './webhook-dispatcher.ts';

export type WebhookDispatchersOptions = {
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
export type WebhookDispatchersParts = WebhookDispatchersOptions & { ended(dispatcher: WebhookDispatcher): void; tries: CountBy };

const pageSize = 500;
const maxInProgress = 2_048;
/** Four webhooks at full rate. */
const maxToOneReceiver = 64;
const retryMs = 1_000;
/** Webhooks whose rows are read at once after shards are acquired. */
const readAtOnce = 16;

export class WebhookDispatchers {
  /** For metrics: deliveries that were tried. */
  readonly tries = new CountBy(['outcome']);
  private readonly parts: WebhookDispatchersParts;
  private readonly dispatchers = new Map<string, WebhookDispatcher>();
  private readonly semaphore = new DeliverySemaphore(maxInProgress, maxToOneReceiver);
  private readonly memory: QueueMemory = { bytes: 0 };
  private state: 'open' | 'finishing' | 'stopped' = 'open';

  constructor(options: WebhookDispatchersOptions) {
    const ended = (dispatcher: WebhookDispatcher) =>
      this.dispatchers.get(dispatcher.id) === dispatcher && this.dispatchers.delete(dispatcher.id);
    this.parts = { ...options, ended, tries: this.tries };
    const { placement } = options;
    placement.onAcquired((shards) => void this.startDispatchers(shards));
    placement.onSealing(async (shards) => this.drop(new Set(shards)));
    placement.onLost((shards) => this.drop(new Set(shards)));
  }

  /** For metrics. */
  get size(): { dispatchers: number; inProgress: number } {
    return { dispatchers: this.dispatchers.size, inProgress: this.semaphore.taken };
  }

  /** A webhook of this node has changed. */
  changed(id: string): void {
    void this.dispatcher(id)?.refresh();
  }

  /** Continues all due work: for tests that move the clock. */
  wake(): void {
    for (const dispatcher of this.dispatchers.values()) dispatcher.wake();
  }

  /** Starts no more deliveries and reports those that end within `graceMs`, so that the next owner does not repeat them. */
  async finish(graceMs: number): Promise<void> {
    if (this.state === 'open') this.state = 'finishing';
    await within(Promise.all([...this.dispatchers.values()].map((dispatcher) => dispatcher.finish())), graceMs);
  }

  stop(): void {
    this.state = 'stopped';
    for (const dispatcher of [...this.dispatchers.values()]) dispatcher.end();
  }

  private dispatcher(id: string): WebhookDispatcher | null {
    const shard = shardOf(webhook.kind, id);
    if (this.state !== 'open' || this.parts.placement.epochOf(shard) === null) return null;
    let dispatcher = this.dispatchers.get(id);
    if (dispatcher === undefined)
      this.dispatchers.set(id, (dispatcher = new WebhookDispatcher(id, shard, this.parts, this.semaphore, this.memory)));
    return dispatcher;
  }

  private async startDispatchers(shards: number[]): Promise<void> {
    const { database, log } = this.parts;
    for (let after = ''; this.state === 'open'; ) {
      try {
        const { rows } = await database.read({
          name: 'webhooks_of_shards',
          text: `select id from webhook where shard = any($1) and id > $2 and (status = 'active' or (status = 'disabled' and json_array_length(asked) > 0)) order by id limit ${pageSize}`,
          values: [shards, after],
        });
        for (let i = 0; i < rows.length; i += readAtOnce)
          await Promise.all(rows.slice(i, i + readAtOnce).map(({ id }: { id: string }) => this.dispatcher(id)?.refresh()));
        if (rows.length < pageSize) return;
        after = rows[rows.length - 1].id;
      } catch (err) {
        log.warn({ err }, 'the webhooks of acquired shards could not be read; retrying');
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
  }

  private drop(shards: ReadonlySet<number>): void {
    for (const dispatcher of [...this.dispatchers.values()]) if (shards.has(dispatcher.shard)) dispatcher.end();
  }
}
