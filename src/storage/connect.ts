/**
 * Every connection to PostgreSQL is made here. What a session needs beside its name (time-outs, read only) is set by a statement after
 * connecting, not as a startup parameter: PgBouncer refuses startup parameters that it does not know, or drops them where it was told to.
 */
import pg from 'pg';
import { asPgReadsIt, bindsChannel } from '../database-url.ts';

export type SessionOptions = {
  url: string;
  /** `application_name`: cut off at 63 bytes. */
  name: string;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** The client's own, longer than the server's: for a connection that has gone silent. */
  queryTimeoutMs?: number;
  /** Default 5 s. */
  connectTimeoutMs?: number;
  readOnly?: boolean;
  /** Further statements that the session begins with. */
  begin?: string;
  types?: pg.CustomTypesConfig;
};

export type PoolOptions = SessionOptions & { max: number };

/** Rejects when the database cannot be reached, or does not take the settings. A break is left to the caller's `error` listener. */
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
  // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
  pool.on('error', () => {});
  return pool;
}

/** For code that creates the pool itself. */
export function poolConfig({ max, ...options }: PoolOptions): pg.PoolConfig {
  const statements = sessionStatements(options);
  return {
    ...clientConfig(options),
    max,
    ...(statements !== '' && {
      onConnect: async (client: pg.ClientBase) => {
        await client.query(statements);
      },
    }),
  } as pg.PoolConfig;
}

function clientConfig({ url, name, queryTimeoutMs, connectTimeoutMs = 5_000, types }: SessionOptions): pg.ClientConfig {
  return {
    connectionString: asPgReadsIt(url),
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    keepAlive: true,
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
