/** The connection of one lane of the group commit: opened on first use, dropped when it breaks. */
import pg from 'pg';
import { connect } from './connect.ts';
import { connectionName } from './connection-name.ts';

export type CommitConnectionOptions = {
  url: string;
  owner: string;
  statementTimeoutMs: number;
  /** Checks each new connection before its first use; if it rejects, the connection is closed. */
  connected?: (client: pg.Client) => Promise<void>;
};

/**
 * One generic plan for all batch sizes. No nested loops, which are quadratic where arrays are joined. Rows are found by their index, in its
 * order, even while a table is small or has no statistics: counters are locked in that order (S2).
 */
export const commitSession =
  'set plan_cache_mode = force_generic_plan; set enable_nestloop = off; set enable_seqscan = off; set enable_bitmapscan = off; set jit = off';

export class CommitConnection {
  private client: pg.Client | null = null;
  /** Server process of the newest connection. */
  pid: number | null = null;
  private lockTimeoutMs = 0;
  private closed = false;
  private readonly options: CommitConnectionOptions;

  constructor(options: CommitConnectionOptions) {
    this.options = options;
  }

  /** The open connection, if it has this lock time-out already: a statement is then sent at once, not after all promises of this tick. null: use `get`. */
  ready(lockTimeoutMs: number): pg.Client | null {
    return lockTimeoutMs === this.lockTimeoutMs ? this.client : null;
  }

  /** Throws when the database is not reachable now. From here on a statement waits for one lock at most `lockTimeoutMs`. */
  async get(lockTimeoutMs: number): Promise<pg.Client> {
    const client = this.client ?? (await this.connect());
    if (lockTimeoutMs === this.lockTimeoutMs) return client;
    await client.query(`set lock_timeout = ${lockTimeoutMs}`);
    this.lockTimeoutMs = lockTimeoutMs;
    return client;
  }

  private async connect(): Promise<pg.Client> {
    if (this.closed) throw new Error('The commit connection is closed');
    const { url, owner, statementTimeoutMs } = this.options;
    // The statement in flight reports the break.
    const broke = (_error: Error, broken: pg.Client) => void (this.client === broken && this.drop());
    const client = await connect(
      {
        url,
        name: connectionName('commit', owner),
        statementTimeoutMs,
        // The client times out after the server, so that a server's answer still arrives.
        queryTimeoutMs: statementTimeoutMs + 5_000,
        begin: commitSession,
        types: answerTypes,
      },
      broke,
    );
    try {
      const { rows } = await client.query('select pg_backend_pid()');
      this.pid = Number((rows[0] as { pg_backend_pid: unknown }).pg_backend_pid);
      await this.options.connected?.(client);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.closed) {
      client.end().catch(() => {});
      throw new Error('The commit connection is closed');
    }
    this.client = client;
    this.lockTimeoutMs = 0;
    return client;
  }

  /** Drops the connection without waiting for its statements. */
  drop(): void {
    const client = this.client;
    this.client = null;
    client?.end().catch(() => {});
  }

  async close(): Promise<void> {
    this.closed = true;
    const client = this.client;
    this.client = null;
    await client?.end().catch(() => {});
  }
}

const int8 = 20;
const int8Array = 1016;
const int4Array = 1007;
const bool = 16;
/** The few types in a commit's answer, parsed without the general array parser. */
const answerTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8Array || oid === int4Array) return (text: string) => (text.length <= 2 ? [] : text.slice(1, -1).split(',').map(Number));
    if (oid === bool) return (text: string) => text === 't';
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as never;
