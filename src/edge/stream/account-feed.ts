/**
 * Events of an account for a reader in this process, in order and without a gap, from any number on: the hub's live events and its replay.
 * The feed keeps its own position, so a reader whose buffer is full costs nothing: the feed unsubscribes it, and subscribes again when it accepts events.
 */

import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { Gate } from '../../storage/gate.ts';
import type { EventFeed, FeedEvent, FeedHandle, FeedReader } from './event-feed.ts';
import { type StreamEvent, streamEvent } from './event-frame.ts';
import type { StreamHub } from './stream-hub.ts';
import type { Reader, Subscriber } from './subscriber.ts';

export type AccountFeedParts = { hub: StreamHub; database: Pick<Database, 'read'>; log: Log };

const retryMs = 1_000;
/** After a failover many feeds start at once: other reads have priority. */
const startLimits = { maxInside: 4, maxWaiting: 100_000, maxWaitMs: 60_000, full: 'Too many feeds begin at once' };

export class AccountFeed implements EventFeed {
  private readonly parts: AccountFeedParts;
  private readonly gate = new Gate(startLimits);

  constructor(parts: AccountFeedParts) {
    this.parts = parts;
  }

  open(accountId: string, seq: number, reader: FeedReader): FeedHandle {
    return new Follower(this.parts, this.gate, accountId, seq, reader);
  }

  async read(accountId: string, taskId: string | null, from: number, to: number, limit: number): Promise<FeedEvent[]> {
    const columns = 'seq, id, type, task_id as "taskId", data::text as data, created_at as "createdAt"';
    const { rows } = await this.parts.database.read(
      taskId === null
        ? { name: 'feed_event', text: `select ${columns} from event where account_id = $1 and seq = $2`, values: [accountId, from] }
        : {
            name: 'feed_of_task',
            text: `select ${columns} from event where task_id = $2 and account_id = $1 and seq >= $3 and seq <= $4 order by seq limit $5`,
            values: [accountId, taskId, from, to, limit],
          },
    );
    return rows.map(({ data, ...row }) => feedEvent(streamEvent({ ...row, accountId }, data)));
  }
}

class Follower implements FeedHandle {
  private readonly parts: AccountFeedParts;
  private readonly gate: Gate;
  private readonly accountId: string;
  private readonly reader: FeedReader;
  private position: number;
  private subscriber: Subscriber | null = null;
  private state: 'following' | 'paused' | 'closed' = 'following';
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: AccountFeedParts, gate: Gate, accountId: string, seq: number, reader: FeedReader) {
    this.parts = parts;
    this.gate = gate;
    this.accountId = accountId;
    this.position = seq;
    this.reader = reader;
    void this.follow();
  }

  resume(): void {
    this.subscriber?.onDrain?.();
    if (this.state !== 'paused' || !this.reader.hasCapacity()) return;
    this.state = 'following';
    void this.follow();
  }

  close(): void {
    this.state = 'closed';
    this.unsubscribe();
  }

  private async follow(): Promise<void> {
    const { hub, log } = this.parts;
    try {
      await this.gate.pass(() => this.skipExpired());
      if (this.state !== 'following') return;
      const subscriber = hub.subscribe(this.flowControl(), this.accountId);
      this.subscriber = subscriber;
      // The filter sees every event in order, so the reader sends nothing.
      subscriber.filter = (event) => this.deliver(subscriber, event as StreamEvent);
      await hub.follow(subscriber, this.position, null);
    } catch (err) {
      if (!(err instanceof AppError)) log.warn({ account_id: this.accountId, err }, 'an event feed was interrupted; resuming');
      this.retryLater();
    }
  }

  /** Events past their retention leave gaps. If no later event is stored, the position moves to the newest number. */
  private async skipExpired(): Promise<void> {
    const { rows } = await this.parts.database.read({
      name: 'feed_begin',
      text: 'select last_seq as newest, (select seq from event where account_id = $1 and seq > $2 order by seq limit 1) as next from event_counter where account_id = $1',
      values: [this.accountId, this.position],
    });
    const [counter] = rows;
    if (counter !== undefined && counter.next === null) this.position = Math.max(this.position, counter.newest);
  }

  private flowControl(): Reader {
    return {
      send: () => 'sent',
      bufferedBytes: () => (this.reader.hasCapacity() ? 0 : Number.POSITIVE_INFINITY),
      cork: (work) => work(),
      tooSlow: () => this.retryLater(),
      // The reader has lost its shard; the new owner starts from the reader's row.
      mustRestart: () => this.retryLater(),
    };
  }

  private deliver(subscriber: Subscriber, event: StreamEvent): null {
    if (this.subscriber !== subscriber) return null;
    this.position = event.seq;
    this.reader.take(feedEvent(event));
    if (this.subscriber === subscriber && subscriber.mode === 'live' && !this.reader.hasCapacity()) {
      this.state = 'paused';
      this.unsubscribe();
    }
    return null;
  }

  private retryLater(): void {
    this.unsubscribe();
    if (this.state !== 'following') return;
    this.timer = setTimeout(() => this.state === 'following' && void this.follow(), retryMs).unref();
  }

  private unsubscribe(): void {
    clearTimeout(this.timer);
    if (this.subscriber !== null) this.parts.hub.unsubscribe(this.subscriber);
    this.subscriber = null;
  }
}

function feedEvent({ id, seq, type, taskId, createdAt, envelope }: StreamEvent): FeedEvent {
  return { id, seq, type, taskId, createdAtMs: createdAt, envelope };
}
