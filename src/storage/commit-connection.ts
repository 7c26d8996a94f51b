/** The one connection a group commit writes through: made when needed, given up when it breaks. */
import pg from 'pg';
import { connect } from './connect.ts';
import { connectionName } from './connection-name.ts';

export type CommitConnectionOptions = { url: string; owner: string; statementTimeoutMs: number; lockTimeoutMs: number };

export class CommitConnection {
  private client: pg.Client | null = null;
  private closed = false;
  private readonly options: CommitConnectionOptions;

  constructor(options: CommitConnectionOptions) {
    this.options = options;
  }

  /** Throws when the database cannot be reached now. */
  async get(): Promise<pg.Client> {
    if (this.closed) throw new Error('The commit connection is closed');
    if (this.client !== null) return this.client;
    const { url, owner, statementTimeoutMs, lockTimeoutMs } = this.options;
    // A break is seen by the statement in flight.
    const broke = (_error: Error, broken: pg.Client) => void (this.client === broken && this.drop());
    const client = await connect(
      {
        url,
        name: connectionName('commit', owner),
        statementTimeoutMs,
        lockTimeoutMs,
        // The client gives up later than the server, so that an answer, if there is one, is heard.
        queryTimeoutMs: statementTimeoutMs + 5_000,
        // One plan for all sizes of a batch: made once, and without nested loops, which are quadratic where arrays are joined.
        begin: 'set plan_cache_mode = force_generic_plan; set enable_nestloop = off; set jit = off',
        types: answerTypes,
      },
      broke,
    );
    if (this.closed) {
      client.end().catch(() => {});
      throw new Error('The commit connection is closed');
    }
    this.client = client;
    return client;
  }

  /** Gives the connection up without waiting for what is on it. */
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
/** The few types of a commit's answer, read without the general array parser. */
const answerTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8Array || oid === int4Array) return (text: string) => (text.length <= 2 ? [] : text.slice(1, -1).split(',').map(Number));
    if (oid === bool) return (text: string) => text === 't';
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as never;
