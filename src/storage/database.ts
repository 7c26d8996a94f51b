/** The database as everyone but the commit path sees it: MikroORM for lists, reports and migrations, and tables derived from its metadata. */
import { DriverException, type EntityName, type EntitySchema } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { AppError } from '../errors.ts';
import * as entities from './entities/index.ts';
import { Gate } from './gate.ts';
import { FirstTables } from './migrations/0001-first-tables.ts';
import { ClusterIdentity } from './migrations/0002-cluster-identity.ts';
import { SharedStorage } from './migrations/0003-shared-storage.ts';
import { AccountOverrides } from './migrations/0004-account-overrides.ts';
import { Identity } from './migrations/0005-identity.ts';
import { Accounts } from './migrations/0006-accounts.ts';
import { Webhooks } from './migrations/0007-webhooks.ts';
import { Money } from './migrations/0008-money.ts';
import { Orders } from './migrations/0009-orders.ts';
import { LastingKeys } from './migrations/0010-lasting-keys.ts';
import { Payments } from './migrations/0011-payments.ts';
import { Issuing } from './migrations/0012-issuing.ts';
import { OneBreath } from './migrations/0013-one-breath.ts';
import { Subscriptions } from './migrations/0014-subscriptions.ts';
import { PaidDeposits } from './migrations/0015-paid-deposits.ts';
import { type Table, tableOf } from './table.ts';

export type AnyEntity = EntitySchema<any> | EntityName<any>;

export type DatabaseOptions = {
  /** Connections of the pool at most, opened when needed and closed when idle. */
  poolSize?: number;
  /** The same of lists and reports. */
  listPoolSize?: number;
  applicationName?: string;
  extraEntities?: EntitySchema<any>[];
};

/** For each of many nodes on one database: enough for thousands of short statements a second. A node alone has the defaults. */
export const poolsInCluster = { poolSize: 4, listPoolSize: 2 } as const;

export class Database {
  readonly url: string;
  /** Connections for the loader and other short statements; bounded. */
  readonly pool: pg.Pool;
  private readonly orm: MikroORM;
  private readonly lists: Gate;
  private readonly tables = new Map<string, Table>();

  constructor(url: string, options: DatabaseOptions = {}) {
    this.url = url;
    const applicationName = options.applicationName ?? 'troupe';
    const listPoolSize = options.listPoolSize ?? 4;
    const line = { maxWaiting: maxWaitingLists, maxWaitMs: listWaitMs, burstMs: listBurstMs };
    this.lists = new Gate({ maxInside: listPoolSize, ...line, full: tooManyReads });
    this.orm = new MikroORM({
      clientUrl: url,
      entities: [
        ...(Object.values(entities) as EntitySchema<any>[]).filter((value) => typeof value === 'object'),
        ...(options.extraEntities ?? []),
      ],
      extensions: [Migrator],
      migrations: {
        migrationsList: [
          FirstTables,
          ClusterIdentity,
          SharedStorage,
          AccountOverrides,
          Identity,
          Accounts,
          Webhooks,
          Money,
          Orders,
          LastingKeys,
          Payments,
          Issuing,
          OneBreath,
          Subscriptions,
          PaidDeposits,
        ],
        snapshot: false,
        tableName: 'migration',
      },
      pool: { min: 0, max: listPoolSize },
      driverOptions: {
        application_name: `${applicationName} lists`,
        statement_timeout: listTimeoutMs,
        // For a database that has gone silent: also a list ends.
        query_timeout: listTimeoutMs + 5_000,
        connectionTimeoutMillis: connectTimeoutMs,
      },
      ensureDatabase: false,
      // The migrator would tell each step to people; what fails is thrown.
      logger: () => {},
    } as never);
    this.pool = new pg.Pool({
      connectionString: url,
      max: options.poolSize ?? 6,
      application_name: `${applicationName} reads`,
      statement_timeout: 15_000,
      // Longer than the server's: for a connection that went silent.
      query_timeout: 20_000,
      connectionTimeoutMillis: 5_000,
      types: plainTypes,
    });
    // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
    this.pool.on('error', () => {});
    for (const metadata of this.orm.getMetadata().getAll().values()) this.tables.set(metadata.className, tableOf(metadata));
  }

  /** A fresh unit of MikroORM work, outside of the line for lists. */
  em(): SqlEntityManager {
    return this.orm.em.fork() as SqlEntityManager;
  }

  /** A list or another look through MikroORM: a few at a time. Rejects `overloaded` when too many wait, or it would wait too long. */
  list<T>(look: (em: SqlEntityManager) => Promise<T>): Promise<T> {
    return this.lists.pass(() => look(this.em()));
  }

  /** The table of an entity. Throws for one the database was not built with. */
  table(entity: { meta?: { className: string } } | AnyEntity): Table {
    const name = (entity as EntitySchema<any>).meta.className;
    const table = this.tables.get(name);
    if (table === undefined) throw new Error(`No table for entity ${name}`);
    return table;
  }

  /** Rows by primary key, in the shape of actor state. Throws `unavailable` when the database does not answer. */
  async load(table: Table, ids: string[]): Promise<Map<string, object>> {
    const columns = table.columns.map((column) => column.name).join(', ');
    const key = table.primaryKey[0]!.name;
    const { rows } = await this.read({
      name: `load_${table.name}`,
      text: `select ${columns} from ${table.name} where ${key} = any($1)`,
      values: [ids],
      rowMode: 'array',
    });
    const found = new Map<string, object>();
    for (const values of rows as unknown[][]) {
      const row: Record<string, unknown> = {};
      for (let i = 0; i < table.columns.length; i++) row[table.columns[i]!.property] = values[i];
      found.set(String(row[table.primaryKey[0]!.property]), row);
    }
    return found;
  }

  /** One read statement. Connection trouble becomes `unavailable`; where too many wait for a connection, `overloaded`. */
  async read(query: pg.QueryConfig & { rowMode?: 'array' }): Promise<{ rows: any[] }> {
    if (this.pool.waitingCount >= maxWaitingReads) throw new AppError('overloaded', tooManyReads, { retryAfterS: 1 });
    try {
      const result = await this.pool.query(query as pg.QueryConfig);
      const { rows } = result;
      // pg's queries hang together: once an old one has left the young heap, all that follow would survive there, with rows and all.
      result.rows = [];
      return { rows };
    } catch (error) {
      if (isSqlError(error)) throw error;
      throw unanswered(error);
    }
  }

  /** One write statement beside the commit path, safe to send twice. Connection trouble becomes `unavailable`: it may have happened. Bounded as `read`. */
  async write(statement: pg.QueryConfig): Promise<{ rows: any[] }> {
    return this.read(statement);
  }

  /**
   * Runs the migrations that are missing, once, whichever node is first: the others wait for the lock. Rejects with one line that names the
   * database when it cannot be reached within 5 seconds or does not let us in.
   */
  async migrate(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: 'troupe migrations',
      connectionTimeoutMillis: connectTimeoutMs,
    });
    // A connection that breaks fails the statement on it; unheard, it would end the process.
    client.on('error', () => {});
    await client.connect().catch((error: Error) => {
      const { host, pathname } = new URL(this.url);
      const why = error.message || (error as NodeJS.ErrnoException).code;
      throw new Error(`The database ${pathname.slice(1)} at ${host} cannot be used (${why}): check DATABASE_URL`, { cause: error });
    });
    try {
      await client.query('select pg_advisory_lock($1)', [migrationLock]);
      await this.orm.migrator.up();
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.orm.close(true)]);
  }
}

const migrationLock = 7_081_735;
/** Short statements that wait for a connection: a fraction of a second's work. */
const maxWaitingReads = 1_000;
const maxWaitingLists = 64;
const listWaitMs = 1_000;
/** Lists that find no room for longer than this are no burst. */
const listBurstMs = 100;
const tooManyReads = 'The database has too much to read; try again shortly';
const connectTimeoutMs = 5_000;
const listTimeoutMs = 30_000;

/** True for an error that PostgreSQL itself answered; false where nobody knows what it did. */
export function isSqlError(error: unknown): error is Error & { code: string } {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') && !/^(08|57P0)/.test(code);
}

/** `unavailable` for what MikroORM throws when PostgreSQL could not be asked or took too long; any other error as it is. */
export function unavailableIfUnreachable(error: unknown): unknown {
  if (!(error instanceof DriverException) || (isSqlError(error) && error.code !== queryCanceled)) return error;
  return unanswered(error);
}

function unanswered(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer; try again shortly', { cause, retryAfterS: 2 });
}

const queryCanceled = '57014';
const int8 = 20;
const timestamptz = 1184;
/** Numbers for bigint (all of ours are below 2^53) and milliseconds for timestamps. */
const plainTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number;
    if (oid === timestamptz) return (text: string) => new Date(text).getTime();
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as never;
