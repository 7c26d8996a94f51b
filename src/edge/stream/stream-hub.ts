/**
 * Event streams of the accounts that somebody on this edge listens to: live events as they are committed, and replay from PostgreSQL.
 *
 * H1 A subscriber sees each event of its account once, in order of `seq`: an event that is not the next one is either known already or
 *    means a gap, and a gap is filled from PostgreSQL before anything later is sent.
 * H2 A subscriber who reads too slowly is ended; nothing is left out for it silently. A replay waits for its reader instead, and holds
 *    nothing meanwhile but what is on its way.
 */
import type { Log } from '../../log.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { frameOf, type StreamEvent, streamEvent } from './event-frame.ts';
import type { Filter } from './filter.ts';

/** What the hub needs of a connection. */
export interface Reader {
  send(frame: string | Uint8Array): 'sent' | 'buffered' | 'dropped';
  bufferedBytes(): number;
  cork(work: () => void): void;
  /** Ends it: it reads too slowly. */
  tooSlow(): void;
}

export type Subscriber = {
  readonly reader: Reader;
  readonly accountId: string;
  filter: Filter | null;
  mode: 'replaying' | 'live' | 'ended';
  /** The newest event that was sent or left out by the filter. */
  position: number;
  /** The newest event that was sent. */
  sent: number;
  /** Wakes a replay that waits for its reader. */
  onDrain: (() => void) | null;
  /** Called once, between the last replayed and the first live event. */
  onLive: (() => void) | null;
};

const pageSize = 500;
/** A replay waits while more than this is on its way to the reader. */
const replayAheadBytes = 256 * 1024;

type Account = { subscribers: Set<Subscriber>; newest: number; batch: StreamEvent[] };

export class StreamHub {
  private readonly accounts = new Map<string, Account>();
  private readonly touched = new Set<Account>();
  private readonly database: Pick<Database, 'read'>;
  private readonly log: Log;

  constructor(database: Pick<Database, 'read'>, log: Log) {
    this.database = database;
    this.log = log;
  }

  get subscribers(): number {
    let count = 0;
    for (const account of this.accounts.values()) count += account.subscribers.size;
    return count;
  }

  /** Takes committed events; what arrives in one tick leaves together. */
  publish(events: readonly EventDraft[], seqs: readonly number[]): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      const account = this.accounts.get(event.accountId);
      if (account === undefined) continue;
      if (this.touched.size === 0) queueMicrotask(() => this.flush());
      this.touched.add(account);
      account.batch.push(streamEvent({ ...event, seq: seqs[i]! }, event.data.text));
    }
  }

  /** Adds a subscriber that starts in replay; events from here on are known to it. */
  subscribe(reader: Reader, accountId: string): Subscriber {
    const subscriber: Subscriber = {
      reader,
      accountId,
      filter: null,
      mode: 'replaying',
      position: 0,
      sent: 0,
      onDrain: null,
      onLive: null,
    };
    let account = this.accounts.get(accountId);
    if (account === undefined) this.accounts.set(accountId, (account = { subscribers: new Set(), newest: 0, batch: [] }));
    account.subscribers.add(subscriber);
    return subscriber;
  }

  unsubscribe(subscriber: Subscriber): void {
    subscriber.mode = 'ended';
    subscriber.onDrain?.();
    const account = this.accounts.get(subscriber.accountId);
    account?.subscribers.delete(subscriber);
    if (account?.subscribers.size === 0) this.accounts.delete(subscriber.accountId);
  }

  /** Goes live from `seq`: everything after it is sent, first from PostgreSQL if need be. Resolves when the subscriber is live or ended. */
  async follow(subscriber: Subscriber, seq: number, onLive: (() => void) | null): Promise<void> {
    subscriber.position = seq;
    subscriber.sent = seq;
    subscriber.onLive = onLive;
    await this.catchUp(subscriber);
  }

  private flush(): void {
    for (const account of this.touched) {
      const { batch } = account;
      account.batch = [];
      for (const event of batch) account.newest = Math.max(account.newest, event.seq);
      for (const subscriber of account.subscribers) if (subscriber.mode === 'live') this.deliver(subscriber, batch);
    }
    this.touched.clear();
  }

  private deliver(subscriber: Subscriber, batch: readonly StreamEvent[]): void {
    if (batch.length === 1) this.deliverEach(subscriber, batch);
    else subscriber.reader.cork(() => this.deliverEach(subscriber, batch));
  }

  private deliverEach(subscriber: Subscriber, batch: readonly StreamEvent[]): void {
    for (const event of batch) {
      if (event.seq <= subscriber.position) continue;
      if (event.seq !== subscriber.position + 1) return this.fillGap(subscriber);
      if (!this.send(subscriber, event)) return;
    }
  }

  private send(subscriber: Subscriber, event: StreamEvent): boolean {
    subscriber.position = event.seq;
    if (subscriber.filter !== null && !subscriber.filter(event)) return true;
    if (subscriber.reader.send(frameOf(event, subscriber.sent)) === 'dropped') {
      subscriber.mode = 'ended';
      subscriber.reader.tooSlow();
      return false;
    }
    subscriber.sent = event.seq;
    return true;
  }

  private fillGap(subscriber: Subscriber): void {
    subscriber.mode = 'replaying';
    this.catchUp(subscriber).catch((err: unknown) => {
      this.log.warn({ account_id: subscriber.accountId, err }, 'a gap in a stream could not be filled; the reader is sent away to resume');
      if (subscriber.mode !== 'ended') subscriber.reader.tooSlow();
    });
  }

  /** Reads on from the position until nothing newer was published; the switch to live is in one step with that look. */
  private async catchUp(subscriber: Subscriber): Promise<void> {
    while (subscriber.mode === 'replaying') {
      const publishedBefore = this.newestPublished(subscriber);
      const found = await this.sendPage(subscriber);
      await this.readerKeepsUp(subscriber);
      if (found > 0 || subscriber.mode !== 'replaying') continue;
      // What is published is committed, so a look that began later sees it.
      if (publishedBefore > subscriber.position) throw new Error(`event ${publishedBefore} was published and is not in the database`);
      if (this.newestPublished(subscriber) > subscriber.position) continue;
      subscriber.mode = 'live';
      subscriber.onLive?.();
      subscriber.onLive = null;
    }
  }

  private newestPublished({ accountId }: Subscriber): number {
    const account = this.accounts.get(accountId);
    return account === undefined ? 0 : account.batch.reduce((newest, event) => Math.max(newest, event.seq), account.newest);
  }

  /** Sends what comes next, as far as the reader takes it. Returns how many events there were. */
  private async sendPage(subscriber: Subscriber): Promise<number> {
    const { reader } = subscriber;
    const { rows } = await this.database.read({
      name: 'stream_page',
      text: `select seq, id, type, task_id as "taskId", data::text as data, created_at as "createdAt" from event where account_id = $1 and seq > $2 order by seq limit ${pageSize}`,
      values: [subscriber.accountId, subscriber.position],
    });
    reader.cork(() => {
      for (const { data, ...row } of rows) {
        if (subscriber.mode !== 'replaying' || reader.bufferedBytes() > replayAheadBytes) return;
        this.send(subscriber, streamEvent({ ...row, accountId: subscriber.accountId }, data));
      }
    });
    return rows.length;
  }

  private async readerKeepsUp(subscriber: Subscriber): Promise<void> {
    while (subscriber.mode === 'replaying' && subscriber.reader.bufferedBytes() > replayAheadBytes) {
      await new Promise<void>((resolve) => (subscriber.onDrain = resolve));
      subscriber.onDrain = null;
    }
  }
}
