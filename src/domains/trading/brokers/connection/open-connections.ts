/**
 * The connections of accounts, for orders and routes on a node. Adapters are opened with decrypted credentials and kept while the
 * connection is unchanged. What the broker reports about the credentials is sent to the connection's actor.
 */
import { LRUCache } from 'lru-cache';
import type { ActorSystem } from '../../../../actors/actor-system.ts';
import { AppError } from '../../../../errors.ts';
import type { Log } from '../../../../log.ts';
import type { AccountMode } from '../../../../mode.ts';
import type { Database } from '../../../../storage/database.ts';
import { SecretError } from '../../../../storage/secrets.ts';
import { within } from '../../../../within.ts';
import type { BarsRequest } from '../../market/port.ts';
import type { TradingStats } from '../../metrics.ts';
import type { VenueCalls } from '../../trading-order/messages.ts';
import { observedBroker } from '../observed.ts';
import { type BrokerParts, openBroker, type VenueCredentials } from '../open-broker.ts';
import type { Answer, BarsAnswer, BrokerConnection, BrokerMode, QuoteAnswer, VenueName } from '../port.ts';
import type { CredentialBox } from './credentials.ts';
import type { ConnectedBrokerRow } from './entity.ts';
import { readFigures } from './figures.ts';
import { brokerConnection, type Figures } from './messages.ts';
import { storedOrders } from './stored-orders.ts';

export type OpenConnectionsParts = BrokerParts & {
  actors: ActorSystem;
  database: Database;
  credentials: CredentialBox;
  log: Log;
  stats: Pick<TradingStats, 'brokerCalls'>;
};

/** A connection as the choice of a broker sees it. */
export type KnownConnection = {
  id: string;
  brokerName: VenueName;
  mode: BrokerMode;
  filledBy: 'broker' | 'embedded';
  status: 'connected' | 'error';
  halted: boolean;
};

/** The text shown for a connection whose credentials cannot be decrypted. */
export const lockedCredentials = 'The stored credentials cannot be read since SECRET_KEY was changed: connect the broker again';

/**
 * Time to wait while the database does not answer. Shorter than what an effect has beyond the broker's own time, so that a post that was
 * not sent is reported as not sent.
 */
const readWithinMs = 4_000;
const keptAdapters = 1_000;
const keptMs = 600_000;

export class OpenConnections {
  /** What orders need of connections. */
  readonly calls: VenueCalls;
  private readonly parts: OpenConnectionsParts;
  private readonly adapters = new LRUCache<string, { credentials: string; broker: BrokerConnection }>({ max: keptAdapters, ttl: keptMs });

  constructor(parts: OpenConnectionsParts) {
    this.parts = parts;
    this.calls = this.venueCalls();
  }

  /** The connections of the account in this mode, newest first. Test keys trade only on the embedded paper broker. */
  async of({ accountId, mode }: AccountMode): Promise<readonly KnownConnection[]> {
    if (mode === 'test') return [];
    const { rows } = await this.parts.database.read({
      name: 'connections_of_account',
      text: `select id, broker_name, order_mode, filled_by, status, halt is not null as halted from broker_connection
        where account_id = $1 and mode = $2 and removed_at is null order by created_at desc, id desc`,
      values: [accountId, mode],
    });
    return rows.map(({ id, broker_name, order_mode, filled_by, status, halted }) => {
      return { id, brokerName: broker_name, mode: order_mode, filledBy: filled_by, status, halted };
    });
  }

  /** A person adopts the broker's own figures, which ends a halt. Throws `not_found`; `unavailable` if the broker does not answer. */
  async resume({ accountId, mode }: AccountMode, id: string, by: string): Promise<void> {
    const { actors } = this.parts;
    const row = await actors.query(brokerConnection, id, 'get', null);
    if (row?.accountId !== accountId || row.mode !== mode) throw new AppError('not_found', 'Broker not found');
    if (row.halt === null) return;
    const figures = await this.figures(row);
    if (figures.kind !== 'known') throw new AppError('unavailable', 'The broker does not return its balances and positions now: try again');
    await actors.ask(brokerConnection, id, 'adopt', { figures: figures.value, by });
  }

  /** The broker's figures and its open orders, without those that this service placed. */
  async figures(row: ConnectedBrokerRow, signal?: AbortSignal): Promise<Answer<Figures>> {
    const { clock, database } = this.parts;
    if (this.isLocked(row)) return { kind: 'unknown', reason: lockedCredentials };
    const answer = await readFigures(this.adapter(row), clock.nowMs(), signal);
    if (answer.kind !== 'known') return answer;
    const { orders } = answer.value;
    const ids = orders.map(({ brokerOrderId }) => brokerOrderId);
    const own = await storedOrders(database, row.id).named(
      ids,
      orders.flatMap(({ ourId }) => ourId ?? []),
    );
    const known = new Set(own.flatMap(({ id, brokerOrderId }) => [id, brokerOrderId]));
    const isForeign = ({ ourId, brokerOrderId }: (typeof orders)[number]) => !known.has(brokerOrderId) && !known.has(ourId);
    return { kind: 'known', value: { ...answer.value, orders: orders.filter(isForeign) } };
  }

  /** The connection with decrypted credentials; null: there is no such connection. */
  async credentialsOf(id: string): Promise<VenueCredentials | null> {
    const row = await this.read(id);
    return row === null || this.isLocked(row) ? null : this.parts.credentials.open(row.credentials, id);
  }

  /** The price source of a connection's broker; none if the connection is removed or its credentials cannot be decrypted. */
  async quote(id: string, symbol: string): Promise<QuoteAnswer> {
    const row = await this.read(id);
    if (row === null || this.isLocked(row)) return { kind: 'unknown', reason: 'the broker connection could not be read' };
    return (await this.adapter(row).quote?.(symbol)) ?? { kind: 'no_data' };
  }

  /** The history of these prices. */
  async bars(id: string, { signal, ...wanted }: BarsRequest): Promise<BarsAnswer> {
    const row = await this.read(id);
    const broker = row === null || this.isLocked(row) ? null : this.adapter(row);
    if (broker === null) return { kind: 'unknown', reason: 'the broker connection could not be read' };
    return (await broker.bars?.(wanted, signal)) ?? { kind: 'known', value: null };
  }

  /** Whether the credentials were encrypted with a SECRET_KEY that this node does not have. */
  isLocked({ id, credentials }: ConnectedBrokerRow): boolean {
    if (this.adapters.get(id)?.credentials === credentials) return false;
    try {
      this.parts.credentials.open(credentials, id);
      return false;
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      return true;
    }
  }

  adapter({ id, accountId, orderMode, credentials }: ConnectedBrokerRow): BrokerConnection {
    const kept = this.adapters.get(id);
    if (kept?.credentials === credentials) return kept.broker;
    const broker = this.open(this.parts.credentials.open(credentials, id), orderMode, accountId);
    this.adapters.set(id, { credentials, broker });
    return broker;
  }

  open(credentials: VenueCredentials, mode: BrokerMode, accountId: string): BrokerConnection {
    return observedBroker(openBroker(credentials, mode, accountId, this.parts), this.parts.stats.brokerCalls);
  }

  /** Notifies the connection's actor that the broker refused the credentials, or accepts them again. */
  async tried({ id, credentials }: ConnectedBrokerRow, error: string | null): Promise<void> {
    const { actors, log } = this.parts;
    await actors.ask(brokerConnection, id, 'tried', { error, credentials }).catch((err) => {
      log.warn({ err, broker_id: id }, 'the status of a broker connection could not be stored');
    });
  }

  private async read(id: string): Promise<ConnectedBrokerRow | null> {
    try {
      return await this.parts.actors.query(brokerConnection, id, 'get', null);
    } catch (err) {
      this.parts.log.warn({ err, broker_id: id }, 'a broker connection could not be read');
      return null;
    }
  }

  /** As `read`; also null if it takes longer than an order can wait. */
  private async readSoon(id: string): Promise<ConnectedBrokerRow | null> {
    const found: { row: ConnectedBrokerRow | null } = { row: null };
    const reading = this.read(id).then((row) => {
      found.row = row;
    });
    await within(reading, Math.min(readWithinMs, this.parts.timeoutMs));
    return found.row;
  }

  private venueCalls(): VenueCalls {
    const watched = async <A extends { kind: string; reason?: string }>(
      id: string,
      ask: (broker: BrokerConnection) => Promise<A>,
      otherwise: A,
    ) => {
      const row = await this.readSoon(id);
      if (row === null || this.isLocked(row)) return otherwise;
      const answer = await ask(this.adapter(row));
      if (answer.kind === 'credentials') await this.tried(row, answer.reason ?? 'the broker does not take the credentials');
      return answer;
    };
    const reason = 'the broker connection could not be read';
    return {
      place: (id, body, signal) => watched(id, (broker) => broker.place(body, signal), { kind: 'not_sent', reason }),
      lookUp: (id, what, signal) => watched(id, (broker) => broker.lookUp(what, signal), { kind: 'unknown', reason }),
      cancel: (id, brokerOrderId, signal) => watched(id, (broker) => broker.cancel(brokerOrderId, signal), { kind: 'unknown', reason }),
    };
  }
}
