/**
 * Event streams of the accounts with subscribers on this edge: live events as they are committed, and replay from PostgreSQL.
 *
 * H1 A subscriber sees each event of its account once, in order of `seq`: an event that is not the next one is either known already or
 *    means a gap. What is missing may be on its way from another node, so later events wait for it a moment; then the gap is filled from
 *    PostgreSQL before anything later is sent.
 * H2 A subscriber who reads too slowly is ended; nothing is left out for it silently. A replay waits for its reader instead, and holds
 *    nothing meanwhile but what is on its way.
 * H3 While a live subscriber has not seen the newest event that is known to be committed, a timer runs that will fetch it.
 * H4 When the database has lost commits, nothing of what was known is kept: the same numbers are given again, to other events.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';
import type { Database } from '../../storage/database.ts';
import { type StreamEvent, streamEvent } from './event-frame.ts';
import { eventsOfPage, pageSize, pageSql } from './event-page.ts';
import { newSubscriber, type Reader, readerKeepsUp, replay, type Subscriber, sendLive } from './subscriber.ts';

/** An event as it was committed, here or on another node. */
export type CommittedEvent = Omit<EventDraft, 'data'> & { data: { text: string } };

/** A replay sends so many events in one go: whoever is live waits no longer than that takes. */
const sliceSize = 50;
/** How long, and for how many later events, one that is missing may be on its way before it is looked for in PostgreSQL. */
const missingForMs = 50;
const maxWaiting = 256;

type Account = {
  readonly id: string;
  readonly subscribers: Set<Subscriber>;
  /** The newest event that is known to be committed, whether or not it has come here. */
  newest: number;
  /** What has come here and has not been seen by all who are live, or may be of use to a page that is being read. */
  arrived: StreamEvent[];
  /** Pages that are being read: a few, and no Map, which would keep what it held alive for long where it is filled and emptied all the time. */
  readonly reads: PendingRead[];
  gapTimer: NodeJS.Timeout | null;
};

/** A page that is being read: what follows `after`, and the newest event that was known when the read began. */
type PendingRead = { readonly after: number; readonly newestBefore: number; readonly page: Promise<StreamEvent[]> };

export class StreamHub {
  /** For metrics: gaps that lasted and were filled from PostgreSQL, pages that were read for replays and gaps. */
  readonly counts = { gapsFilled: 0, pagesRead: 0 };
  /** Called when the first subscriber of an account has come, or the last one has gone. */
  onListening: (accountId: string) => void = () => {};
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

  /** Takes committed events, of this node and of others, in any order; what arrives in one tick leaves together. */
  publish(events: readonly CommittedEvent[], seqs: readonly number[]): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      const account = this.accounts.get(event.accountId);
      if (account === undefined) continue;
      const seq = seqs[i]!;
      if (seq > account.newest) account.newest = seq;
      account.arrived.push(streamEvent({ ...event, seq }, event.data.text));
      this.touch(account);
    }
  }

  /** The account's events up to `seq` are committed: what does not arrive in a moment is looked for in PostgreSQL. */
  expect(accountId: string, seq: number): void {
    const account = this.accounts.get(accountId);
    if (account === undefined || seq <= account.newest) return;
    account.newest = seq;
    this.touch(account);
  }

  /** Adds a subscriber that starts in replay; events from here on are known to it. */
  subscribe(reader: Reader, accountId: string): Subscriber {
    const subscriber = newSubscriber(reader, accountId);
    const known = this.accounts.get(accountId);
    if (known !== undefined) {
      known.subscribers.add(subscriber);
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

  /** H4. Every subscriber is ended; its reader is told to start over from what the database has now. */
  startOver(): void {
    const all = [...this.accounts.values()].flatMap(({ subscribers }) => [...subscribers]);
    for (const subscriber of all) this.unsubscribe(subscriber);
    for (const { reader } of all) reader.startOver();
  }

  /** Goes live from `seq`: everything after it is sent, first from PostgreSQL if need be. Resolves when the subscriber is live or ended. */
  async follow(subscriber: Subscriber, seq: number, onLive: (() => void) | null): Promise<void> {
    subscriber.position = seq;
    subscriber.sent = seq;
    subscriber.onLive = onLive;
    await this.catchUp(subscriber);
  }

  private touch(account: Account): void {
    if (this.touched.size === 0) queueMicrotask(() => this.flush());
    this.touched.add(account);
  }

  private flush(): void {
    for (const account of this.touched) this.passOn(account);
    this.touched.clear();
  }

  private passOn(account: Account): void {
    const { arrived, reads } = account;
    sortBySeq(arrived);
    const seenBefore = reads.length === 0 ? 0 : seenByAllLive(account);
    const fresh = reads.length === 0 ? arrived : arrived.filter((event) => event.seq > seenBefore);
    for (const subscriber of account.subscribers) if (subscriber.mode === 'live') sendLive(subscriber, fresh);
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

  /** H3. As long as others arrive that were missing before, nothing is looked for. */
  private waitForMissing(account: Account, seenBefore: number): void {
    account.gapTimer ??= setTimeout(() => {
      account.gapTimer = null;
      const seen = seenByAllLive(account);
      if (seen >= account.newest) return;
      if (seen > seenBefore) this.waitForMissing(account, seen);
      else this.fillGaps(account);
    }, missingForMs).unref();
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

  /** Reads on from the position until nothing newer is known; the switch to live is in one step with that read. */
  private async catchUp(subscriber: Subscriber): Promise<void> {
    let read: PendingRead | null = null;
    while (subscriber.mode === 'replaying') {
      const account = this.accounts.get(subscriber.accountId)!;
      if (read?.after !== subscriber.position) read = this.readAfter(account, subscriber.position);
      const { newestBefore }: PendingRead = read;
      const { last, next }: { last: number; next: PendingRead | null } = await this.sendPage(subscriber, account, read);
      read = next;
      if (subscriber.position < last) {
        // For a reader who may take its time nothing is kept.
        read = null;
        await readerKeepsUp(subscriber);
        continue;
      }
      if (subscriber.mode !== 'replaying') return;
      if (next !== null) continue;
      // Known events are committed, so a read that began later includes them.
      if (newestBefore > subscriber.position) throw new Error(`event ${newestBefore} was published and is not in the database`);
      replay(subscriber, following(account.arrived, subscriber.position));
      if (account.newest > subscriber.position) continue;
      // It may have read events without a notification: live subscribers need them too.
      this.expect(account.id, subscriber.position);
      subscriber.mode = 'live';
      subscriber.onLive?.();
      subscriber.onLive = null;
    }
  }

  /** Sends as much of a page as the reader takes; the next one is on its way meanwhile. `last` is the page's last number. */
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
    const shared = reads.find((other) => other.after === after && other.newestBefore === newest);
    if (shared !== undefined) return shared;
    const page = this.readPage(account.id, after).finally(() => {
      reads.splice(reads.indexOf(read), 1);
      this.touch(account);
    });
    // All subscribers may have left: its failure must not be unhandled.
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

/** Ends early where the reader falls behind. */
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

/** Those that follow `position` without a gap. */
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
