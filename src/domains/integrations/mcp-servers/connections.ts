/**
 * The MCP servers of accounts, for agents and routes on a node. A connection stays open between calls, because servers of the previous
 * protocol keep state in it and notify changed tools through it; it is closed after a time without use.
 */
import { LRUCache } from 'lru-cache';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { FairGate } from '../../../fair-queue.ts';
import type { Log } from '../../../log.ts';
import type { Compute } from '../../../providers/compute/port.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { Database } from '../../../storage/database.ts';
import { SecretError } from '../../../storage/secrets.ts';
import type { IntegrationStats } from '../metrics.ts';
import { renewalWaitMs, type TokenReply } from '../renewal/turns.ts';
import type { McpServerRow } from './entity.ts';
import { mcpServer } from './messages.ts';
import type { FoundTool } from './pins.ts';
import { McpFailed } from './protocol/failure.ts';
import { type SchemaCheck, schemaCheck } from './protocol/schema-check.ts';
import { type CallRequest, type McpSession, mcpLimits, openSession, type SessionOptions } from './protocol/session.ts';
import type { McpSecretBox, McpSecrets } from './secrets.ts';
import { namesInUse } from './tool-names.ts';

export type McpConnectionsParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  database: Pick<Database, 'read'>;
  outbound: Outbound;
  compute: Compute;
  clock: Clock;
  log: Log;
  box: McpSecretBox;
  stats: Pick<IntegrationStats, 'calls' | 'callS'>;
  limits?: SessionOptions['limits'];
};

export type TriedServer = { found: FoundTool[]; session: McpSession };

type Kept = { generation: number; session: Promise<McpSession> };

const maxSessions = 200;
const idleMs = 300_000;
/** Calls of one node that run at once, so that answers in memory are bounded; and those of one account. */
const callsAtOnce = { maxRunning: 64, maxRunningEach: 16, maxWaiting: 1_000, full: 'Too many calls of MCP servers wait' };
/** After a failed list request a server is not queried for this time. */
const unreachableForMs = 30_000;
/** Between two list requests that notifications of a server cause. */
const notificationIntervalMs = 5_000;

export class McpConnections {
  private readonly parts: McpConnectionsParts;
  private readonly gate = new FairGate(callsAtOnce);
  private readonly sessions = new LRUCache<string, Kept>({
    max: maxSessions,
    ttl: idleMs,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    dispose: ({ session }) => void session.then((open) => open.close()).catch(() => {}),
  });
  private readonly listing = new Map<string, Promise<McpServerRow>>();
  private readonly notifications = new Map<string, { hasNext: boolean; timer: NodeJS.Timeout }>();
  private readonly unreachable = new LRUCache<string, true>({ max: 10_000, ttl: unreachableForMs });

  /** Of arguments and results against the schemas of servers. */
  readonly check: SchemaCheck;

  constructor(parts: McpConnectionsParts) {
    this.parts = parts;
    this.check = schemaCheck(parts.compute);
  }

  /** Its tools, before it is stored, and the connection for `keep`. Throws `McpFailed`. */
  async tryOut(id: string, server: Pick<SessionOptions, 'url' | 'headers' | 'accountId'>): Promise<TriedServer> {
    const session = await this.open(id, server);
    try {
      return { found: await session.tools(), session };
    } catch (error) {
      void session.close();
      throw error;
    }
  }

  /** The test connection stays open: the server can notify changed tools from now on. */
  keep({ id, generation }: McpServerRow, session: McpSession): void {
    this.sessions.set(id, { generation, session: Promise.resolve(session) });
  }

  /** The server with its tools as it lists them now. Throws `McpFailed`; `not_found` where it was removed. */
  list(row: McpServerRow): Promise<McpServerRow> {
    let listing = this.listing.get(row.id);
    if (listing === undefined) {
      listing = this.listTools(row).finally(() => this.listing.delete(row.id));
      this.listing.set(row.id, listing);
    }
    return listing;
  }

  /** As `list` where its last list is older; the stored server if the list request fails. */
  async fresh(row: McpServerRow, olderThanMs: number): Promise<McpServerRow> {
    if (row.status !== 'connected' || this.unreachable.has(row.id)) return row;
    if (row.listedAt !== null && this.parts.clock.nowMs() - row.listedAt < olderThanMs) return row;
    try {
      return await this.list(row);
    } catch (err) {
      if (!(err instanceof McpFailed)) throw err;
      this.unreachable.set(row.id, true);
      this.parts.log.info({ mcp_server: row.id, detail: err.message }, 'the tools of an MCP server could not be listed');
      return row;
    }
  }

  /** Throws `McpFailed`. */
  async call(row: McpServerRow, request: CallRequest): Promise<{ content: unknown; isError: boolean }> {
    const { stats } = this.parts;
    const leave = await this.gate.enter(row.accountId, request.signal);
    const beganMs = monotonicMs();
    try {
      const result = await this.withSession(row, (session) => session.call(request));
      stats.calls.add(['mcp', result.isError ? 'failed' : 'ok']);
      return result;
    } catch (error) {
      stats.calls.add(['mcp', error instanceof McpFailed ? error.failure.type : 'aborted']);
      throw error;
    } finally {
      stats.callS.record((monotonicMs() - beganMs) / 1_000);
      leave();
    }
  }

  forget(id: string): void {
    this.sessions.delete(id);
  }

  /** For metrics. */
  get size(): { sessions: number; calls: number } {
    return { sessions: this.sessions.size, calls: this.gate.size.running };
  }

  close(): void {
    this.sessions.clear();
    for (const { timer } of this.notifications.values()) clearTimeout(timer);
    this.notifications.clear();
  }

  private async listTools(row: McpServerRow): Promise<McpServerRow> {
    const found = await this.withSession(row, (session) => session.tools());
    this.unreachable.delete(row.id);
    const inUse = await namesInUse(this.parts.database, row);
    return this.parts.actors.ask(mcpServer, row.id, 'listed', { found, namesInUse: inUse });
  }

  /** A refused token is renewed once, and a session that the server has dropped is opened again once. */
  private async withSession<T>(row: McpServerRow, work: (session: McpSession) => Promise<T>): Promise<T> {
    let current = await this.withToken(row);
    for (let tries = 1; ; tries++) {
      try {
        return await work(await this.session(current));
      } catch (error) {
        if (!(error instanceof McpFailed)) throw error;
        const { failure } = error;
        if (failure.type === 'unauthorized') {
          this.forget(current.id);
          const renewed = await this.renewed(current, 'rejected');
          if (tries > 1 || renewed === null) throw error;
          current = renewed;
          continue;
        }
        if (failure.type === 'forbidden' && failure.scope !== null && current.authority !== null)
          await this.parts.actors.ask(mcpServer, current.id, 'lacksScope', { scope: failure.scope });
        if (failure.type !== 'unavailable' || failure.sent) throw error;
        this.forget(current.id);
        if (tries > 1) throw error;
      }
    }
  }

  private async withToken(row: McpServerRow): Promise<McpServerRow> {
    if (row.renewAt === null || row.renewAt > this.parts.clock.nowMs()) return row;
    const renewed = await this.renewed(row, 'due');
    const challenge = { resourceMetadataUrl: null, scope: null };
    if (renewed === null) throw new McpFailed({ type: 'unauthorized', challenge }, 'Its access has ended');
    return renewed;
  }

  /** null: there is no other token. Throws `McpFailed` while the authorization server gives none. */
  private async renewed(row: McpServerRow, why: 'due' | 'rejected'): Promise<McpServerRow | null> {
    const { actors } = this.parts;
    const { generation } = row;
    let reply: TokenReply;
    try {
      reply = await actors.ask(mcpServer, row.id, 'needToken', { generation, why }, { timeoutMs: renewalWaitMs });
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'draining') throw error;
      throw new McpFailed({ type: 'unavailable', sent: false }, 'Its token could not be renewed in time', { cause: error });
    }
    if (reply.kind === 'unavailable') throw new McpFailed({ type: 'unavailable', sent: false }, reply.message);
    if (reply.kind === 'ended') return null;
    return actors.query(mcpServer, row.id, 'get', null);
  }

  private async session(row: McpServerRow): Promise<McpSession> {
    const kept = this.sessions.get(row.id);
    if (kept?.generation === row.generation) return kept.session;
    const { id, accountId, generation } = row;
    const secrets = this.opened(row);
    const otherSecrets = [secrets.refresh, secrets.clientSecret].filter((secret) => secret !== null);
    const session = this.open(id, { url: secrets.url ?? row.url, accountId, headers: headersOf(secrets), otherSecrets });
    this.sessions.set(id, { generation, session });
    session.catch(() => {
      if (this.sessions.peek(id)?.session === session) this.sessions.delete(id);
    });
    return session;
  }

  private open(id: string, server: Pick<SessionOptions, 'url' | 'headers' | 'accountId' | 'otherSecrets'>): Promise<McpSession> {
    const { outbound, limits } = this.parts;
    return openSession({ ...server, outbound, check: this.check, toolsChanged: () => this.onToolsChanged(id), ...(limits && { limits }) });
  }

  /** Notifications in quick succession cause one list request per interval. */
  private onToolsChanged(id: string): void {
    const notification = this.notifications.get(id);
    if (notification !== undefined) {
      notification.hasNext = true;
      return;
    }
    const over = () => {
      const { hasNext } = this.notifications.get(id)!;
      this.notifications.delete(id);
      if (hasNext) this.onToolsChanged(id);
    };
    this.notifications.set(id, { hasNext: false, timer: setTimeout(over, notificationIntervalMs) });
    void this.currently(id)
      .then((now) => (now === null ? null : this.list(now)))
      .catch((error) =>
        this.parts.log.info({ mcp_server: id, detail: error.message }, 'the changed tools of an MCP server could not be listed'),
      );
  }

  private currently(id: string): Promise<McpServerRow | null> {
    return Promise.resolve(this.parts.actors.query(mcpServer, id, 'get', null));
  }

  private opened({ secrets, id }: McpServerRow): McpSecrets {
    try {
      return this.parts.box.open(secrets, id);
    } catch (cause) {
      if (!(cause instanceof SecretError)) throw cause;
      throw new McpFailed(
        { type: 'unavailable', sent: false },
        'Its credentials cannot be read since SECRET_KEY was changed: connect it again',
      );
    }
  }
}

/** Longer than any call, for effects that make calls. */
export const mcpCallMs = renewalWaitMs + mcpLimits.connectMs + mcpLimits.callMs;

function headersOf({ headers, access }: McpSecrets): Record<string, string> {
  if (access === null) return headers;
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), authorization: `Bearer ${access}` };
}

/** Whether the server's name leads to an address that may not be reached. */
export function isAddressRefused(error: unknown): boolean {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 8; at = (at as { cause?: unknown }).cause, depth++)
    if (at instanceof AppError && at.code === 'forbidden') return true;
  return false;
}
