/**
 * Watches one connection on the node that owns its shard: polls the broker for changes, updates the orders, compares positions, and polls
 * at once when the stream reports a change. Its memory may be lost: another watcher begins with a full round and finds the same.
 */

import type { ActorSystem } from '../../../../actors/actor-system.ts';
import { type Clock, monotonicMs } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import type { Database } from '../../../../storage/database.ts';
import { nextCloseMs, utcDay } from '../../market/calendar.ts';
import { tradingAccount, tradingAccountIdOf } from '../../trading-account/messages.ts';
import { tradingOrder } from '../../trading-order/messages.ts';
import { afterUnknownOf } from '../order-body.ts';
import type { BrokerConnection, UpdateStream, VenueAccount } from '../port.ts';
import { comparePositions, type Difference, type SeenOrder } from '../reconciliation.ts';
import { failureText, venueAccountKey } from './connect.ts';
import { foreignOrderId } from './connection.ts';
import type { ConnectedBrokerRow } from './entity.ts';
import { ForgottenOrders } from './forgotten-orders.ts';
import { brokerConnection } from './messages.ts';
import { lockedCredentials, type OpenConnections } from './open-connections.ts';
import { queryBroker, type RoundResult } from './round.ts';
import { RoundPace } from './round-pace.ts';
import { type StoredOrder, storedOrders } from './stored-orders.ts';

export type WatcherParts = {
  actors: ActorSystem;
  database: Database;
  connections: OpenConnections;
  clock: Clock;
  log: Log;
  pollMs: number;
  reconcileMs: number;
  lookUpMs: number;
};

type Extent = 'orders' | 'all';

const maxConcurrentUpdates = 8;
/** Ids of confirmed trades in memory; trades beyond it are sent again, which changes nothing. */
const rememberedTrades = 5_000;
/** Fills that the broker counts but has not listed after this many polls are booked as counted. */
const pollsForFills = 10;
const dayMs = 86_400_000;

export class ConnectionWatcher {
  readonly id: string;
  readonly shard: number;
  private readonly parts: WatcherParts;
  private readonly stop = new AbortController();
  private row: ConnectedBrokerRow | null = null;
  private stream: UpdateStream | null = null;
  /** The encrypted credentials with which the stream was opened. */
  private streamCredentials: string | null = null;
  private wanted: Extent | null = null;
  private running: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly pace: RoundPace;
  private pause: NodeJS.Timeout | null = null;
  private readonly booked = new Set<string>();
  /** When the broker first counted fills of an order that it has not listed. By the broker's id. */
  private readonly lacking = new Map<string, number>();
  /** The connection has the broker's id of the account. */
  private isIdentified = false;
  private differences: Difference[] = [];
  private readonly forgotten: ForgottenOrders;
  /** When a full round first did not find an order with an unknown outcome at the broker. By our id. */
  private readonly absent = new Map<string, number>();

  constructor(id: string, shard: number, parts: WatcherParts) {
    this.id = id;
    this.shard = shard;
    this.parts = parts;
    this.forgotten = new ForgottenOrders(parts);
    this.pace = new RoundPace(parts.pollMs / 2);
  }

  /** The connection is new or has changed: begins with a full round. */
  changed(): void {
    this.row = null;
    this.request('all');
  }

  /** Polls for changes of these open orders. */
  poll(open: readonly StoredOrder[]): void {
    const nowMs = monotonicMs();
    const isResting = ({ brokerOrderId }: StoredOrder) => brokerOrderId !== null && this.forgotten.isResting(brokerOrderId, nowMs);
    if (!open.every(isResting)) this.request('orders');
  }

  get isEnded(): boolean {
    return this.stop.signal.aborted;
  }

  end(): void {
    this.stop.abort();
    clearTimeout(this.timer);
    if (this.pause !== null) clearTimeout(this.pause);
    this.stream?.close();
    this.stream = null;
  }

  /** One round at a time; a request during a round is served after it. */
  private request(extent: Extent): void {
    if (this.wanted !== 'all') this.wanted = extent;
    this.begin();
  }

  private begin(): void {
    if (this.stop.signal.aborted || this.wanted === null || this.running !== null || this.pause !== null) return;
    const pauseMs = this.pace.pauseMs(monotonicMs());
    if (pauseMs > 0) {
      this.pause = setTimeout(() => {
        this.pause = null;
        this.begin();
      }, pauseMs);
      this.pause.unref();
      return;
    }
    this.pace.began(monotonicMs());
    this.running = this.run().finally(() => {
      this.running = null;
      this.begin();
    });
  }

  private async run(): Promise<void> {
    const extent = this.wanted!;
    this.wanted = null;
    // Also if this round fails.
    if (extent === 'all') this.scheduleNextRound();
    try {
      this.row ??= await this.parts.actors.query(brokerConnection, this.id, 'get', null);
      if (this.row === null) return this.end();
      if (this.parts.connections.isLocked(this.row)) return await this.report(lockedCredentials);
      const isReady = this.row.filledBy === 'broker' && this.row.error === null && this.row.adopted;
      if (isReady) await this.round(this.row, extent);
      // Polls do not repeat credentials that the broker refuses.
      else if (extent === 'all') await this.connect(this.row);
    } catch (err) {
      if (!this.stop.signal.aborted) this.parts.log.warn({ err, broker_id: this.id }, 'a broker could not be reconciled; trying again');
    }
  }

  /** Schedules the next full round. */
  private scheduleNextRound(): void {
    clearTimeout(this.timer);
    if (this.stop.signal.aborted) return;
    this.timer = setTimeout(() => this.request('all'), this.parts.reconcileMs);
    this.timer.unref();
  }

  /** Tests the credentials, and adopts the broker's figures for the first time. */
  private async connect(row: ConnectedBrokerRow): Promise<void> {
    const { connections, actors } = this.parts;
    const broker = connections.adapter(row);
    const account = this.noteWait(await broker.account(this.stop.signal));
    if (account.kind !== 'known') {
      // An existing connection stays connected while its broker does not answer.
      if (account.kind === 'credentials' || row.error !== null) await this.report(failureText(account));
      return;
    }
    const other = await this.identify(account.value);
    // A second connection to the same account would book everything twice.
    if (other !== null && row.filledBy === 'broker' && !row.adopted)
      return this.report(`The broker account is connected already, as ${other}: delete this connection`);
    if (row.filledBy === 'broker' && !row.adopted) {
      const figures = this.noteWait(await connections.figures(row, this.stop.signal));
      if (figures.kind !== 'known') return this.report(failureText(figures));
      await actors.ask(brokerConnection, this.id, 'adopt', { figures: figures.value, by: null });
    }
    await this.report(null);
    this.listen(row, broker);
  }

  /** Stores, once for this watcher, to which account the credentials belong. Returns the id of another connection to it. */
  private async identify(account: VenueAccount): Promise<string | null> {
    const venueAccount = venueAccountKey(account);
    if (this.isIdentified || venueAccount === null) return null;
    const other = await this.parts.actors.ask(brokerConnection, this.id, 'identify', { venueAccount });
    this.isIdentified = other === null;
    return other;
  }

  /** If the broker demands a pause, no round begins before its end. */
  private noteWait<A extends { kind: string; waitMs?: number }>(answer: A): A {
    if (answer.kind === 'retry_after' && answer.waitMs !== undefined) this.pace.wait(answer.waitMs, monotonicMs());
    return answer;
  }

  private async report(error: string | null): Promise<void> {
    if (this.row === null || this.row.error === error) return;
    await this.parts.connections.tried(this.row, error);
    this.row = null;
  }

  private listen(row: ConnectedBrokerRow, broker: BrokerConnection): void {
    if (row.filledBy === 'embedded' || this.stop.signal.aborted) return;
    if (this.stream !== null && this.streamCredentials === row.credentials) return;
    this.stream?.close();
    this.streamCredentials = row.credentials;
    let isFirst = true;
    this.stream = broker.updates({
      changed: () => this.request('orders'),
      connected: () => {
        // Polling finds updates that were sent while there was no connection.
        if (!isFirst) this.request('all');
        isFirst = false;
      },
      lost: () => {},
    });
  }

  private async round(row: ConnectedBrokerRow, extent: Extent): Promise<void> {
    const { actors, database, connections } = this.parts;
    const broker = connections.adapter(row);
    this.listen(row, broker);
    if (extent === 'all' && !this.isIdentified) {
      const account = this.noteWait(await broker.account(this.stop.signal));
      if (account.kind === 'known') await this.identify(account.value);
    }
    const before = extent === 'all' ? await this.positions(row) : {};
    const held = storedOrders(database, row.id);
    const earlier = new Set(row.earlier);
    const input = {
      ...{ extent, cursor: row.cursor, sinceMs: row.since },
      isBooked: (id: string) => this.booked.has(id),
      isEarlier: (id: string) => earlier.has(id),
      overdue: this.overdue(),
      // A full round queries all.
      isResting: (id: string) => extent === 'orders' && this.forgotten.isResting(id, monotonicMs()),
    };
    const result = this.noteWait(await queryBroker(broker, held, input, this.stop.signal));
    if (result.kind === 'credentials') return this.report(result.reason);
    if (result.kind !== 'answered') return;
    if (result.retryAfterMs !== null) this.pace.wait(result.retryAfterMs, monotonicMs());
    await this.updateOrders(row, result);
    this.remember(result);
    this.forgotten.update(result.missing, monotonicMs());
    this.forgotten.keep(result.missing.all);
    if (result.cursor !== null && result.cursor !== row.cursor) {
      // Not if the connection has changed meanwhile, for example its credentials.
      if (this.row === row) this.row = { ...row, cursor: result.cursor };
      if (extent === 'all') await actors.ask(brokerConnection, this.id, 'advanced', { cursor: result.cursor });
    }
    // The same fills would be listed again if the cursor stays.
    if (result.more && result.cursor !== row.cursor) this.request('orders');
    if (result.positions === null) return;
    const open = await held.open();
    const unknown = open.filter(({ unknownOutcome }) => unknownOutcome);
    const ours = await this.positions(row);
    const moved = Object.keys({ ...before, ...ours }).filter((symbol) => before[symbol] !== ours[symbol]);
    const waiting = unknown.filter((order) => !this.isSettling(order, row)).map(({ symbol }) => symbol);
    const moving = new Set([...result.moving, ...moved, ...waiting]);
    const compared = { ours, theirs: result.positions, before: this.differences, moving };
    const { differences, mismatches } = comparePositions({ ...compared, nowMs: monotonicMs(), roundMs: this.parts.reconcileMs });
    this.differences = differences;
    const [mismatch] = mismatches;
    if (mismatch !== undefined && row.halt === null) {
      const { symbol, ours: own, theirs } = mismatch;
      await actors.ask(brokerConnection, this.id, 'mismatched', { symbol, ours: own, theirs });
      this.row = null;
    }
    await this.settleUnknown(
      unknown.filter((order) => this.isSettling(order, row)),
      broker,
    );
    const unclear = new Set([...moving, ...this.differences.map((difference) => difference.symbol)]);
    await this.settleForgotten(
      open.filter(({ symbol }) => !unclear.has(symbol)),
      result.missing.absent,
      broker,
    );
  }

  private async updateOrders(row: ConnectedBrokerRow, { updates, foreign }: RoundResult): Promise<void> {
    const { actors } = this.parts;
    const { accountId, mode, id: brokerKey, brokerName, orderMode, filledBy } = row;
    const route = { brokerKey, brokerName, orderMode, filledBy };
    const see = (orderId: string, { order, fills, filledSoFar }: SeenOrder) =>
      actors.ask(tradingOrder, orderId, 'seen', { order, fills, filledSoFar });
    const work = [
      ...updates.map((seen) => () => see(seen.orderId, seen)),
      ...foreign.map((seen) => async () => {
        const orderId = foreignOrderId(row, seen.order.brokerOrderId);
        await actors.ask(tradingOrder, orderId, 'adoptOrder', {
          ...route,
          tradingAccountId: tradingAccountIdOf({ accountId, mode }),
          order: seen.order,
        });
        await see(orderId, seen);
      }),
    ];
    for (let i = 0; i < work.length; i += maxConcurrentUpdates)
      await Promise.all(work.slice(i, i + maxConcurrentUpdates).map((one) => one()));
  }

  private remember({ updates, foreign, lacking }: RoundResult): void {
    for (const { fills } of [...updates, ...foreign]) for (const { venueTradeId } of fills) this.booked.add(venueTradeId);
    for (const id of this.booked) {
      if (this.booked.size <= rememberedTrades) break;
      this.booked.delete(id);
    }
    const nowMs = monotonicMs();
    const still = new Set(lacking);
    for (const id of this.lacking.keys()) if (!still.has(id)) this.lacking.delete(id);
    for (const id of still) if (!this.lacking.has(id)) this.lacking.set(id, nowMs);
  }

  private overdue(): Set<string> {
    const sinceMs = monotonicMs() - pollsForFills * this.parts.pollMs;
    return new Set([...this.lacking].flatMap(([id, atMs]) => (atMs <= sinceMs ? [id] : [])));
  }

  private async positions(row: ConnectedBrokerRow): Promise<Record<string, string>> {
    const held = await this.parts.actors.query(tradingAccount, tradingAccountIdOf(row), 'positions', { brokerKey: row.id });
    return Object.fromEntries(held.map(({ symbol, quantity }) => [symbol, quantity]));
  }

  /**
   * From now on the broker's lists and positions decide whether the order exists: its session is over, or it was cancelled and the broker
   * keeps our id unique.
   */
  private isSettling({ assetClass, sentAtMs, isGivenUp }: StoredOrder, { brokerName }: ConnectedBrokerRow): boolean {
    if (sentAtMs === null) return false;
    if (isGivenUp && afterUnknownOf[brokerName] !== 'look_up') return true;
    const endMs = assetClass === 'crypto' ? (utcDay(sentAtMs) + 1) * dayMs : nextCloseMs(sentAtMs);
    return this.parts.clock.nowMs() > endMs;
  }

  /**
   * An order that the broker accepted, and that neither its list nor queries show for longer than a broker may be late, while fills and
   * positions agree. The cancel makes it harmless if it exists after all, and shows that: then it is looked for as before.
   */
  private async settleForgotten(open: readonly StoredOrder[], absent: readonly string[], broker: BrokerConnection): Promise<void> {
    const { actors } = this.parts;
    const overdue = new Set(this.forgotten.overdue(monotonicMs()));
    for (const { id, brokerOrderId } of open) {
      if (brokerOrderId === null || !absent.includes(brokerOrderId) || !overdue.has(brokerOrderId)) continue;
      const answer = this.noteWait(await broker.cancel(brokerOrderId, this.stop.signal));
      if (answer.kind === 'requested') this.forgotten.delete(brokerOrderId);
      if (answer.kind !== 'refused') continue;
      const reason = 'The broker accepted the order and does not have it any more: how it ended is not known';
      await actors.ask(tradingOrder, id, 'settledAbsent', { reason, brokerOrderId });
    }
  }

  /**
   * An order that two full rounds with a regular pause between them and lookups do not find, while positions agree, does not exist at the
   * broker.
   */
  private async settleUnknown(settling: readonly StoredOrder[], broker: BrokerConnection): Promise<void> {
    const { actors, reconcileMs } = this.parts;
    for (const id of this.absent.keys()) if (!settling.some((order) => order.id === id)) this.absent.delete(id);
    const different = new Set(this.differences.map(({ symbol }) => symbol));
    for (const { id, symbol, brokerOrderId, sentAtMs } of settling) {
      const isDifferent = different.has(symbol);
      const about = { ourId: id, symbol, brokerOrderId, sinceMs: sentAtMs! };
      const found = isDifferent ? null : this.noteWait(await broker.lookUp(about, this.stop.signal));
      const isAbsent = found?.kind === 'known' && found.value.kind === 'absent';
      if (!isAbsent) {
        this.absent.delete(id);
        continue;
      }
      const nowMs = monotonicMs();
      const sinceMs = this.absent.get(id) ?? nowMs;
      this.absent.set(id, sinceMs);
      if (sinceMs <= nowMs - reconcileMs)
        await actors.ask(tradingOrder, id, 'settledAbsent', { reason: 'the broker does not have the order' });
    }
  }
}
