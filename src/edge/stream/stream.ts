/** `/ws`: the protocol of contract §8 between one client and the stream hub. */
import { setTimeout as after } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import type { Principal } from '../auth/principal.ts';
import type { Connection, WebSocketHandlers } from '../http/web-socket.ts';
import { type ConnectionLease, type ConnectionLimits, unlimitedConnections } from '../limits/connection-limits.ts';
import type { EventCatalogue } from './event-catalogue.ts';
import { filterFor, isTopic } from './filter.ts';
import { newestSeq } from './newest-event.ts';
import { oldestKeptSeq } from './oldest-event.ts';
import type { StreamHub } from './stream-hub.ts';
import type { Reader, Subscriber } from './subscriber.ts';

/** Close codes. After 4430 and 1012 a client should reconnect and resume; after the others not. */
export const closeCodes = { badMessage: 4400, badToken: 4401, authTimeout: 4408, tooMany: 4429, tooSlow: 4430, leaving: 1012 } as const;

export type StreamParts = {
  hub: StreamHub;
  eventCatalogue: EventCatalogue;
  database: Database;
  authenticate(token: string): Principal | null | Promise<Principal | null>;
  /** Counts a refused token against the client's address; false: the address has had too many. Default: counts nothing. */
  admitRefusedToken?(clientAddress: string): Promise<boolean>;
  /** Whether the principal's key or session is still valid. */
  isStillValid(principal: Principal): boolean | Promise<boolean>;
  /** Limits the connections of each caller. Default: unlimited. */
  connections?: ConnectionLimits;
  retentionDays: number;
  /** Time a client has to authenticate, in milliseconds. Default 10,000. */
  authTimeoutMs?: number;
  /** While more than `sockets` sockets are not authenticated, each has only `authTimeoutMs`. */
  unauthenticatedLimits?: { sockets: number; authTimeoutMs: number };
  log: Log;
};

const defaultAuthTimeoutMs = 10_000;
const defaultUnauthenticatedLimits = { sockets: 256, authTimeoutMs: 1_000 };
const sweepMs = 500;
const maxTopics = 100;
/**
 * Waits of a client that has all its connections before it is refused: the client may come from a node that just died, and the other nodes
 * count its connections there until they notice.
 */
const leaseRetriesMs = [100, 200, 400, 800, 1_600] as const;
/** Clients that are disconnected because the database has lost events reconnect within this time. */
const reconnectWithinMs = 1_000;
/** Keys and sessions that are revalidated concurrently. */
const revalidationBatch = 100;

type Client = {
  state: 'new' | 'authenticating' | 'open' | 'closed';
  openedAtMs: number;
  principal: Principal | null;
  subscriber: Subscriber | null;
  lease: ConnectionLease | null;
  /** Selected while the token is checked; null: none. */
  topics: readonly string[] | null;
};
type Socket = Connection<Client>;

export class Stream implements WebSocketHandlers<Client> {
  private readonly sockets = new Set<Socket>();
  private readonly parts: StreamParts;
  private readonly limits: ConnectionLimits;
  private readonly sweeper: NodeJS.Timeout;
  private isRevalidating = false;
  private disconnectWithinMs: number | null = null;

  constructor(parts: StreamParts) {
    this.parts = parts;
    this.limits = parts.connections ?? unlimitedConnections;
    this.sweeper = setInterval(() => {
      this.endUnauthenticated();
      void this.endRevoked();
    }, sweepMs);
    this.sweeper.unref();
  }

  get connections(): number {
    return this.sockets.size;
  }

  open(socket: Socket): void {
    socket.data = { state: 'new', openedAtMs: performance.now(), principal: null, subscriber: null, lease: null, topics: null };
    this.sockets.add(socket);
    const { disconnectWithinMs } = this;
    if (disconnectWithinMs !== null) setImmediate(() => this.disconnect(socket, disconnectWithinMs));
  }

  message(socket: Socket, message: string | Buffer): void {
    const parsed = typeof message === 'string' ? parse(message) : null;
    if (parsed === null) return end(socket, closeCodes.badMessage, 'Messages are JSON objects with a type');
    const { data } = socket;
    if (data.state === 'new') return void this.authenticate(socket, parsed).catch((err: unknown) => this.failed(socket, err));
    if (parsed.type === 'ping') return reply(socket, { type: 'pong' });
    if (parsed.type === 'subscribe') return this.narrow(socket, parsed.topics);
    end(socket, closeCodes.badMessage, 'After auth come {"type":"subscribe","topics":[…]} and {"type":"ping"}');
  }

  tooLong(socket: Socket): void {
    end(socket, closeCodes.badMessage, 'The message is too long');
  }

  drain(socket: Socket): void {
    socket.data.subscriber?.onDrain?.();
  }

  close(socket: Socket): void {
    socket.data.state = 'closed';
    this.sockets.delete(socket);
    if (socket.data.subscriber !== null) this.parts.hub.unsubscribe(socket.data.subscriber);
    if (socket.data.lease !== null) this.limits.close(socket.data.lease);
  }

  /** Disconnects every client; each reconnects elsewhere at a random time within `overMs`. Also for clients that connect later. */
  disconnectAll(overMs: number): void {
    this.disconnectWithinMs = overMs;
    clearInterval(this.sweeper);
    for (const socket of this.sockets) this.disconnect(socket, overMs);
  }

  private disconnect(socket: Socket, overMs: number, reason = 'The node is leaving'): void {
    if (isClosed(socket)) return;
    socket.send(JSON.stringify({ type: 'goaway', reconnect_after_ms: Math.round(Math.random() * overMs) }));
    end(socket, closeCodes.leaving, reason);
  }

  private async authenticate(socket: Socket, { type, token, resume_from: resumeFrom }: Message): Promise<void> {
    if (type !== 'auth' || typeof token !== 'string')
      return end(socket, closeCodes.badMessage, 'The first message is {"type":"auth","token":"…"}');
    const from = resumeFrom ?? undefined;
    if (from !== undefined && !isSeq(from)) return end(socket, closeCodes.badMessage, 'resume_from is the seq of the last event you have');
    socket.data.state = 'authenticating';
    const principal = await this.parts.authenticate(token);
    if (principal === null || principal.kind === 'link') return this.refuseToken(socket);
    if (isClosed(socket)) return;
    if (!(await this.acquireLease(socket, principal))) return end(socket, closeCodes.tooMany, 'Too many connections');
    if (isClosed(socket)) return;
    const { hub } = this.parts;
    const subscriber = hub.subscribe(this.readerOf(socket), principal.accountId);
    socket.data.subscriber = subscriber;
    socket.data.principal = principal;
    const newest = await newestSeq(this.parts.database, principal.accountId);
    const resumed = from !== undefined && (await this.canResume(principal.accountId, from, newest));
    if (isClosed(socket)) return;
    socket.data.state = 'open';
    const { topics } = socket.data;
    subscriber.filter = filterFor(this.parts.eventCatalogue, principal, topics ?? []);
    reply(socket, { type: 'auth_ok', account_id: principal.accountId, seq: newest, resumed });
    if (topics !== null) reply(socket, { type: 'subscribed', topics });
    if (from !== undefined && !resumed) {
      const oldest = await oldestKeptSeq(this.parts.database, principal.accountId, newest, this.parts.retentionDays);
      reply(socket, { type: 'reset', oldest_seq: oldest });
    }
    const replayed = () => reply(socket, { type: 'replayed', seq: subscriber.position });
    await hub.follow(subscriber, resumed ? from : newest, resumed ? replayed : null);
  }

  private async refuseToken(socket: Socket): Promise<void> {
    const isWithinLimit = (await this.parts.admitRefusedToken?.(socket.clientAddress)) ?? true;
    if (isWithinLimit) end(socket, closeCodes.badToken, 'The token is not valid');
    else end(socket, closeCodes.tooMany, 'Too many tokens from this address were refused; try again in a minute');
  }

  /** Whether the client may have one more connection; the slot is held until the connection is closed. */
  private async acquireLease(socket: Socket, principal: Principal): Promise<boolean> {
    const { limits } = this;
    let lease = await limits.open(principal);
    for (const waitMs of leaseRetriesMs) {
      if (lease !== null || isClosed(socket)) break;
      await after(waitMs, null, { ref: false });
      lease = await limits.open(principal);
    }
    // The client has disconnected meanwhile: release the slot here.
    if (lease !== null && !this.sockets.has(socket)) limits.close(lease);
    else socket.data.lease = lease;
    return lease !== null;
  }

  private narrow(socket: Socket, topics: unknown): void {
    if (!Array.isArray(topics) || topics.length > maxTopics || !topics.every(isTopic)) {
      return end(socket, closeCodes.badMessage, `topics is a list of at most ${maxTopics} like "task:task_…" or "type:approval.*"`);
    }
    const { data } = socket;
    // A client need not wait for auth_ok: the topics apply from the first event on.
    if (data.state === 'authenticating') data.topics = topics;
    if (data.state !== 'open') return;
    data.subscriber!.filter = filterFor(this.parts.eventCatalogue, data.principal!, topics);
    reply(socket, { type: 'subscribed', topics });
  }

  /** Whether every event after `from` is still kept. */
  private async canResume(accountId: string, from: number, newest: number): Promise<boolean> {
    if (from >= newest) return from === newest;
    const { rows } = await this.parts.database.read({
      name: 'resume_point',
      text: 'select 1 from event where account_id = $1 and seq = $2 and created_at > now() - make_interval(days => $3)',
      values: [accountId, from + 1, this.parts.retentionDays],
    });
    return rows.length === 1;
  }

  private readerOf(socket: Socket): Reader {
    return {
      send: (frame) => socket.send(frame),
      bufferedBytes: () => socket.bufferedBytes(),
      cork: (work) => socket.cork(work),
      tooSlow: () => endSlow(socket),
      mustRestart: () => this.disconnect(socket, reconnectWithinMs, 'The database has lost events; reconnect and resume'),
    };
  }

  private failed(socket: Socket, err: unknown): void {
    this.parts.log.warn({ err }, 'a stream could not be opened or replayed');
    end(socket, closeCodes.leaving, 'The stream cannot go on here; reconnect and resume');
  }

  /** While too many sockets are not authenticated, slow ones are cut off: each holds the received part of a message. */
  private endUnauthenticated(): void {
    const nowMs = performance.now();
    const openedBeforeMs = nowMs - (this.parts.authTimeoutMs ?? defaultAuthTimeoutMs);
    const unauthenticated = [...this.sockets].filter(({ data }) => data.principal === null);
    for (const socket of unauthenticated) {
      if (socket.data.openedAtMs >= openedBeforeMs) continue;
      if (socket.data.state === 'new') end(socket, closeCodes.authTimeout, 'No auth message in time');
      // The client did nothing wrong: it may reconnect.
      else this.disconnect(socket, reconnectWithinMs, 'The token could not be checked in time; reconnect and resume');
    }
    const { sockets, authTimeoutMs } = this.parts.unauthenticatedLimits ?? defaultUnauthenticatedLimits;
    if (unauthenticated.length <= sockets) return;
    for (const socket of unauthenticated) if (socket.data.state === 'new' && socket.data.openedAtMs < nowMs - authTimeoutMs) socket.cut();
  }

  private async endRevoked(): Promise<void> {
    if (this.isRevalidating) return;
    this.isRevalidating = true;
    const principals = new Map<string, Principal>();
    for (const { data } of this.sockets) if (data.principal !== null) principals.set(data.principal.id, data.principal);
    const all = [...principals.values()];
    for (let i = 0; i < all.length; i += revalidationBatch)
      await Promise.all(all.slice(i, i + revalidationBatch).map((one) => this.endIfRevoked(one)));
    this.isRevalidating = false;
  }

  private async endIfRevoked(principal: Principal): Promise<void> {
    // Clients stay connected while the database does not answer; the next check follows in half a second.
    const isValid = await (async () => this.parts.isStillValid(principal))().catch(() => true);
    if (isValid) return;
    for (const socket of this.sockets)
      if (socket.data.principal?.id === principal.id) end(socket, closeCodes.badToken, 'The token was revoked');
  }
}

type Message = { type?: unknown; token?: unknown; resume_from?: unknown; topics?: unknown };

function parse(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A client that does not read its answers is as slow as one that does not read its events: none is left out silently. */
function reply(socket: Socket, message: object): void {
  if (socket.send(JSON.stringify(message)) === 'dropped') endSlow(socket);
}

function endSlow(socket: Socket): void {
  end(socket, closeCodes.tooSlow, 'Reading too slowly; reconnect and resume');
}

function end(socket: Socket, code: number, reason: string): void {
  if (isClosed(socket)) return;
  socket.data.state = 'closed';
  if (socket.data.subscriber !== null) socket.data.subscriber.mode = 'ended';
  socket.end(code, reason);
}

/** Check again after every await: the client may have disconnected meanwhile. */
function isClosed(socket: Socket): boolean {
  return socket.data.state === 'closed';
}
