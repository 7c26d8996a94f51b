/**
 * Event streams of the accounts with subscribers on this edge: live events as they are committed, and replay from PostgreSQL.
 *
 * H1 A subscriber sees each event of its account once, in order of `seq`: an event that is not the next one is either a duplicate or means
 *    a gap. A missing event may be in transit from another node, so later events wait briefly; then the gap is filled from PostgreSQL
 *    before any later event is sent.
 * H2 A subscriber that reads too slowly is ended; no event is left out silently. A replay waits for its reader instead, and holds only the
 *    events in transit.
 * H3 While a live subscriber has not seen the newest event that is known to be committed, a timer runs that fetches it.
 * H4 When the database has lost commits, all cached events are dropped: the same numbers are assigned again, to other events.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { type StreamEvent, streamEvent } from './event-frame.ts';
import { eventsOfPage, pageSize, pageSql } from './event-page.ts';
import { newSubscriber, type Reader, replay, type Subscriber, sendLive, waitForReader } from './subscriber.ts';

/** An event that was committed here or on another node. */
export type CommittedEvent = Omit<EventDraft, 'data'> & { data: { text: string } };

/** A replay sends at most so many events at once, so live subscribers wait no longer than that takes. */
const sliceSize = 50;
/** A missing event may be in transit for this time, and for this many later events; then it is read from PostgreSQL. */
const defaultMissingForMs = 50;
const maxWaiting = 256;

type Account = {
  readonly id: string;
  readonly subscribers: Set<Subscriber>;
  /** The newest event known to be committed, whether or not it has arrived here. */
  newest: number;
  /** Events that have arrived and that some live subscribers have not seen, or that a page being read may need. */
  arrived: StreamEvent[];
  /** Pages being read. An array, because there are few: a Map that is often filled and emptied keeps its entries alive for long. */
  readonly reads: PendingRead[];
  gapTimer: NodeJS.Timeout | null;
};

/** A page being read: the events after `after`, and the newest known event when the read began. */
type PendingRead = { readonly after: number; readonly newestBefore: number; readonly page: Promise<StreamEvent[]> };

export class StreamHub {
  /** For metrics: gaps that were filled from PostgreSQL, and pages read for replays and gaps. */
  readonly counts = { gapsFilled: 0, pagesRead: 0 };
  /** Called when an account gets its first subscriber or loses its last. */
  onListening: (accountId: string) => void = () => {};
  private readonly accounts = new Map<string, Account>();
  private readonly changed = new Set<Account>();
  private readonly database: Pick<Database, 'read'>;
  private readonly log: Log;
  private readonly missingForMs: number;

  /** @param options.missingForMs how long a missing event may be in transit before it is read */
  constructor(database: Pick<Database, 'read'>, log: Log, { missingForMs = defaultMissingForMs }: { missingForMs?: number } = {}) {
    this.database = database;
    this.log = log;
    this.missingForMs = missingForMs;
  }

  get subscribers(): number {
    let count = 0;
    for (const account of this.accounts.values()) count += account.subscribers.size;
    return count;
  }

  /** Accounts with subscribers here. */
  get listening(): ReadonlyMap<string, { readonly newest: number }> {
    return this.accounts;
  }

  /** For metrics: events that wait for an earlier one. */
  get waitingEvents(): number {
    let count = 0;
    for (const account of this.accounts.values()) count += account.arrived.length;
    return count;
  }

  /** Takes committed events, of this node and of others, in any order; events that arrive in one tick are sent together. */
  publish(events: readonly CommittedEvent[], seqs: readonly number[]): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      const account = this.accounts.get(event.accountId);
      if (account === undefined) continue;
      const seq = seqs[i]!;
      if (seq > account.newest) account.newest = seq;
      account.arrived.push(streamEvent({ ...event, seq }, event.data.text));
      this.scheduleDelivery(account);
    }
  }

  /** The account's events up to `seq` are committed: those that do not arrive soon are read from PostgreSQL. */
  expect(accountId: string, seq: number): void {
    const account = this.accounts.get(accountId);
    if (account === undefined || seq <= account.newest) return;
    account.newest = seq;
    this.scheduleDelivery(account);
  }

  /** Adds a subscriber, which starts in replay; events from now on are recorded for it. */
  subscribe(reader: Reader, accountId: string): Subscriber {
    const subscriber = newSubscriber(reader, accountId);
    const existing = this.accounts.get(accountId);
    if (existing !== undefined) {
      existing.subscribers.add(subscriber);
      return subscriber;
    }
    const account = { id: accountId, subscribers: new Set([subscriber]), newest: 0, arrived: [], reads: [], gapTimer: null };
    this.accounts.set(accountId, account);
    this.onListening(accountId);
    return subscriber;
  }

  unsubscribe(subscriber: Subscriber): void {
    subscriber.mode = 'ended';
    subscriber.onDrain?.();
    const account = this.accounts.get(subscriber.accountId);
    if (account === undefined || !account.subscribers.delete(subscriber) || account.subscribers.size > 0) return;
    if (account.gapTimer !== null) clearTimeout(account.gapTimer);
    this.accounts.delete(account.id);
    this.onListening(account.id);
  }

  /** H4. Every subscriber is ended; its reader must start over with the current state of the database. */
  endAll(): void {
    const all = [...this.accounts.values()].flatMap(({ subscribers }) => [...subscribers]);
    for (const subscriber of all) this.unsubscribe(subscriber);
    for (const { reader } of all) reader.mustRestart();
  }

  /** Goes live from `seq`: all later events are sent, if necessary first from PostgreSQL. Resolves when the subscriber is live or ended. */
  async follow(subscriber: Subscriber, seq: number, onLive: (() => void) | null): Promise<void> {
    subscriber.position = seq;
    subscriber.sent = seq;
    subscriber.onLive = onLive;
    await this.catchUp(subscriber);
  }

  private scheduleDelivery(account: Account): void {
    if (this.changed.size === 0) queueMicrotask(() => this.flush());
    this.changed.add(account);
  }

  private flush(): void {
    for (const account of this.changed) this.deliver(account);
    this.changed.clear();
  }

  private deliver(account: Account): void {
    const { arrived, reads } = account;
    sortBySeq(arrived);
    const seenBefore = reads.length === 0 ? 0 : seenByAllLive(account);
    const newEvents = reads.length === 0 ? arrived : arrived.filter((event) => event.seq > seenBefore);
    for (const subscriber of account.subscribers) if (subscriber.mode === 'live') sendLive(subscriber, newEvents);
    const seen = seenByAllLive(account);
    if (reads.length === 0 && arrived.length > 0) {
      account.arrived = arrived.at(-1)!.seq <= seen ? [] : arrived.filter((event) => event.seq > seen);
    }
    const tooMany = account.arrived.length - maxWaiting;
    if (tooMany > 0) account.arrived.splice(0, tooMany);
    if (seen >= account.newest) return;
    if (tooMany > 0 && account.arrived[0]!.seq > seen + 1) this.fillGaps(account);
    else this.waitForMissing(account, seen);
  }

  /** H3. While missing events keep arriving, nothing is read. */
  private waitForMissing(account: Account, seenBefore: number): void {
    account.gapTimer ??= setTimeout(() => {
      account.gapTimer = null;
      const seen = seenByAllLive(account);
      if (seen >= account.newest) return;
      if (seen > seenBefore) this.waitForMissing(account, seen);
      else this.fillGaps(account);
    }, this.missingForMs).unref();
  }

  private fillGaps(account: Account): void {
    this.counts.gapsFilled++;
    for (const subscriber of account.subscribers) {
      if (subscriber.mode !== 'live' || subscriber.position >= account.newest) continue;
      subscriber.mode = 'replaying';
      this.catchUp(subscriber).catch((err: unknown) => {
        this.log.warn({ account_id: account.id, err }, 'a gap in a stream could not be filled; the reader must reconnect and resume');
        if (subscriber.mode !== 'ended') subscriber.reader.tooSlow();
      });
    }
  }

  /** Reads on from the position until nothing newer is known; the last read and the switch to live happen in one synchronous step. */
  private async catchUp(subscriber: Subscriber): Promise<void> {
    let read: PendingRead | null = null;
    while (subscriber.mode === 'replaying') {
      const account = this.accounts.get(subscriber.accountId)!;
      if (read?.after !== subscriber.position) read = this.readAfter(account, subscriber.position);
      const { newestBefore }: PendingRead = read;
      const { last, next }: { last: number; next: PendingRead | null } = await this.sendPage(subscriber, account, read);
      read = next;
      if (subscriber.position < last) {
        // The page is not kept for a slow reader.
        read = null;
        await waitForReader(subscriber);
        continue;
      }
      if (subscriber.mode !== 'replaying') return;
      if (next !== null) continue;
      // Known events are committed, so a read that began later includes them.
      if (newestBefore > subscriber.position) throw new Error(`event ${newestBefore} was published and is not in the database`);
      replay(subscriber, following(account.arrived, subscriber.position));
      if (account.newest > subscriber.position) continue;
      // The read may have found events without a notification: live subscribers need them too.
      this.expect(account.id, subscriber.position);
      subscriber.mode = 'live';
      subscriber.onLive?.();
      subscriber.onLive = null;
    }
  }

  /** Sends as much of a page as the reader accepts, while the next page is read. `last` is the page's last number. */
  private async sendPage(
    subscriber: Subscriber,
    account: Account,
    { after, page: reading }: PendingRead,
  ): Promise<{ last: number; next: PendingRead | null }> {
    const page = await reading;
    const last = page.at(-1)?.seq ?? after;
    const next = page.length === pageSize ? this.readAfter(account, last) : null;
    await sendInSlices(subscriber, page);
    return { last, next };
  }

  /** Reads the events after a position. Equal requests share one read: a gap concerns all live subscribers. */
  private readAfter(account: Account, after: number): PendingRead {
    const { reads, newest } = account;
    const pending = reads.find((other) => other.after === after && other.newestBefore === newest);
    if (pending !== undefined) return pending;
    const page = this.readPage(account.id, after).finally(() => {
      reads.splice(reads.indexOf(read), 1);
      this.scheduleDelivery(account);
    });
    // If all subscribers leave, nothing handles its failure.
    page.catch(() => {});
    const read = { after, newestBefore: newest, page };
    reads.push(read);
    return read;
  }

  private async readPage(accountId: string, position: number): Promise<StreamEvent[]> {
    this.counts.pagesRead++;
    const { rows } = await this.database.read({ name: 'stream_page', text: pageSql, values: [accountId, position] });
    return eventsOfPage(accountId, rows[0]);
  }
}

/** Stops early where the reader falls behind. */
async function sendInSlices(subscriber: Subscriber, page: readonly StreamEvent[]): Promise<void> {
  for (let from = 0; from < page.length; from += sliceSize) {
    if (from > 0) await nextTurn();
    const slice = page.slice(from, from + sliceSize);
    replay(subscriber, slice);
    if (subscriber.position < slice.at(-1)!.seq) return;
  }
}

/** The newest event up to which all live subscribers have seen everything; infinite where there is none. */
function seenByAllLive({ subscribers }: Account): number {
  let seen = Number.POSITIVE_INFINITY;
  for (const { mode, position } of subscribers) if (mode === 'live' && position < seen) seen = position;
  return seen;
}

/** The events that follow `position` without a gap. */
function following(arrived: StreamEvent[], position: number): StreamEvent[] {
  sortBySeq(arrived);
  let next = position + 1;
  return arrived.filter(({ seq }) => seq === next && next++ > 0);
}

function sortBySeq(events: StreamEvent[]): void {
  for (let i = 1; i < events.length; i++) {
    if (events[i]!.seq < events[i - 1]!.seq) {
      events.sort((a, b) => a.seq - b.seq);
      return;
    }
  }
}
