/**
 * Makes every connection to PostgreSQL. Settings of a session other than its name (time-outs, read only) are set by a statement after
 * connecting, not as startup parameters: PgBouncer refuses unknown startup parameters, or ignores them if configured to.
 */
import pg from 'pg';
import { asPgReadsIt, bindsChannel } from '../database-url.ts';

export type SessionOptions = {
  url: string;
  /** `application_name`: truncated at 63 bytes. */
  name: string;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** The client's time-out, longer than the server's: for a connection that no longer answers. */
  queryTimeoutMs?: number;
  /** Default 5 s. */
  connectTimeoutMs?: number;
  readOnly?: boolean;
  /** Further statements at the start of the session. */
  begin?: string;
  types?: pg.CustomTypesConfig;
};

export type PoolOptions = SessionOptions & {
  max: number;
  /** Called with each connection of the pool. */
  opened?: (client: pg.ClientBase) => void;
};

/** The open connections of pools, for an end that does not wait for answers. */
export class OpenConnections {
  private readonly clients = new Set<pg.ClientBase>();

  add(client: pg.ClientBase): void {
    this.clients.add(client);
    client.once('end', () => this.clients.delete(client));
  }

  /** What they were asked is rejected. */
  breakAll(): void {
    for (const client of this.clients) breakConnection(client);
  }
}

/** Does not wait for the server, which may be unreachable. */
export function breakConnection(client: pg.ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Rejects when the database is not reachable, or refuses the settings. The caller's `error` listener handles a later break. */
export async function connect(options: SessionOptions, onError: (error: Error, client: pg.Client) => void = () => {}): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(options));
  // Without a listener a broken connection would end the process.
  client.on('error', (error) => onError(error, client));
  try {
    await client.connect();
    const statements = sessionStatements(options);
    if (statements !== '') await client.query(statements);
    return client;
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}

export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool(poolConfig(options));
  // An idle connection that breaks is replaced on the next use; without a listener the error would end the process.
  pool.on('error', () => {});
  return pool;
}

/** For code that creates the pool itself. */
export function poolConfig({ max, opened = () => {}, ...options }: PoolOptions): pg.PoolConfig {
  const statements = sessionStatements(options);
  return {
    ...clientConfig(options),
    max,
    onConnect: async (client: pg.ClientBase) => {
      opened(client);
      if (statements !== '') await client.query(statements);
    },
  } as pg.PoolConfig;
}

function clientConfig({ url, name, queryTimeoutMs, connectTimeoutMs = 5_000, types }: SessionOptions): pg.ClientConfig {
  return {
    connectionString: asPgReadsIt(url),
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    // A server that vanished without closing the connection is detected after twenty seconds (ten more probes, one a second), during any wait.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(bindsChannel(url) && { enableChannelBinding: true }),
    ...(types !== undefined && { types }),
  } as pg.ClientConfig;
}

function sessionStatements({ statementTimeoutMs, lockTimeoutMs, readOnly = false, begin = '' }: SessionOptions): string {
  return [
    statementTimeoutMs === undefined ? '' : `set statement_timeout = ${Math.round(statementTimeoutMs)}`,
    lockTimeoutMs === undefined ? '' : `set lock_timeout = ${Math.round(lockTimeoutMs)}`,
    readOnly ? 'set default_transaction_read_only = on' : '',
    begin,
  ]
    .filter((statement) => statement !== '')
    .join('; ');
}
