/** The database for all code except the commit path: MikroORM for lists, reports and migrations, and tables derived from its metadata. */
import { DriverException, type EntityName, type EntitySchema, type FilterQuery, type QueryOrderMap } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { AppError } from '../errors.ts';
import { FairGate } from '../fair-queue.ts';
import { within } from '../within.ts';
import { applyMigrations } from './apply-migrations.ts';
import { connect, OpenConnections, openPool, poolConfig } from './connect.ts';
import { migrationsName, refuseUnderRunningNodes } from './contraction.ts';
import { diskFull, isPassingRefusal, isServersFault, isSqlError, queryCanceled } from './database-errors.ts';
import { storageFull } from './disk-space.ts';
import * as entities from './entities/index.ts';
import { firstMigrations } from './migrations/index.ts';
import type { Schema } from './schema.ts';
import { connectionNames, takeAdvisoryLock } from './server-functions.ts';
import { requireSessions, SessionsLost } from './session-check.ts';
import { type Table, tableOf } from './table.ts';

export type AnyEntity = EntitySchema<any> | EntityName<any>;

export type DatabaseOptions = {
  /** Most connections of the pool, opened when needed and closed when idle. */
  poolSize?: number;
  /** Likewise for lists and reports: at least this many, and more while PostgreSQL has spare ones (`useSpareConnections`). */
  listPoolSize?: number;
  applicationName?: string;
  /** Schema of the domains, in addition to the platform's tables. */
  schema?: Schema;
};

/** Pool sizes of a node in a cluster: enough for thousands of short statements a second. A single node has the defaults. */
export const poolsInCluster = { poolSize: 4, listPoolSize: 2 } as const;

export class Database {
  readonly url: string;
  /** Connections for the loader and other short statements; bounded. */
  readonly pool: pg.Pool;
  /** Opened when it is first needed: MikroORM reads all entities again for each database, which takes longer than anything else here. */
  private openedOrm: MikroORM | null = null;
  private closed: Promise<unknown> | null = null;
  private readonly lists: FairGate;
  private readonly options: DatabaseOptions;
  private readonly connections = new OpenConnections();
  private readonly tables = new Map<string, Table>();

  constructor(url: string, options: DatabaseOptions = {}) {
    this.url = url;
    this.options = options;
    this.lists = new FairGate({
      ...listLimits(options.listPoolSize ?? defaultListPoolSize),
      maxWaiting: maxWaitingLists,
      maxWaitingEach: maxWaitingListsEach,
      maxWaitMs: listWaitMs,
      full: tooManyReads,
    });
    this.pool = openPool({
      url,
      max: options.poolSize ?? 6,
      name: readsName(options),
      statementTimeoutMs: 15_000,
      queryTimeoutMs: 20_000,
      // A statement's plan is kept: one that was made while a table was small would read all of it for ever after.
      begin: 'set enable_seqscan = off',
      types: plainTypes,
      opened: (client) => this.connections.add(client),
    });
    for (const entity of this.entities) this.tables.set(entity.meta.className, this.deriveTable(entity));
  }

  private get entities(): EntitySchema<any>[] {
    const platform = (Object.values(entities) as EntitySchema<any>[]).filter((value) => typeof value === 'object');
    return [...platform, ...(this.options.schema?.entities ?? [])];
  }

  private deriveTable(entity: EntitySchema<any>): Table {
    let table = derivedTables.get(entity);
    if (table === undefined) {
      table = tableOf(this.orm.getMetadata(entity));
      derivedTables.set(entity, table);
    }
    return table;
  }

  private get orm(): MikroORM {
    if (this.openedOrm === null && this.closed !== null) throw unanswered(new Error('the database has been closed'));
    this.openedOrm ??= this.openOrm();
    return this.openedOrm;
  }

  private openOrm(): MikroORM {
    const { applicationName = 'troupe', listPoolSize = defaultListPoolSize, schema } = this.options;
    return new MikroORM({
      clientUrl: this.url,
      entities: this.entities,
      extensions: [Migrator],
      migrations: {
        migrationsList: [...firstMigrations, ...(schema?.migrations ?? [])],
        snapshot: false,
        tableName: 'migration',
      },
      pool: { min: 0, max: Math.max(listPoolSize, maxListPoolSize) },
      driverOptions: poolConfig({
        url: this.url,
        name: `${applicationName} lists`,
        max: Math.max(listPoolSize, maxListPoolSize),
        statementTimeoutMs: listTimeoutMs,
        // For a database that no longer answers: a list must also end.
        queryTimeoutMs: listTimeoutMs + 5_000,
        opened: (client) => this.connections.add(client),
      }),
      ensureDatabase: false,
      // The migrator would print each step; failures are thrown.
      logger: () => {},
    } as never);
  }

  /** A fresh MikroORM unit of work, outside the queue for lists. */
  em(): SqlEntityManager {
    return this.orm.em.fork() as SqlEntityManager;
  }

  /**
   * Runs a list or another MikroORM query for an account: a few at a time, accounts round-robin, at most half of the slots for one account.
   * Rejects `overloaded` when too many wait, or this one has waited too long.
   */
  list<T>(accountId: string, query: (em: SqlEntityManager) => Promise<T>): Promise<T> {
    return this.lists.pass(accountId, () => query(this.em()));
  }

  /** A page of an account's rows, newest first unless `orderBy` says otherwise; and the number of all rows. */
  listPage<E extends object>(
    accountId: string,
    entity: EntityName<E>,
    where: FilterQuery<NoInfer<E>>,
    { limit, offset }: { limit: number; offset: number },
    orderBy: Record<string, 'asc' | 'desc'> = newestFirst,
  ) {
    const options = { orderBy: orderBy as QueryOrderMap<E>, limit, offset, disableIdentityMap: true };
    return this.list(accountId, (em) => em.findAndCount<E>(entity, where, options));
  }

  /** For metrics: running and waiting lists, and those rejected since the start. */
  get listLoad(): { running: number; waiting: number; rejected: number } {
    return { ...this.lists.size, rejected: this.lists.rejected };
  }

  /**
   * Lets lists use PostgreSQL's spare connections, so that each node, and one that may join, still finds all it needs. Call it at the start
   * and periodically, because nodes join and leave.
   */
  async useSpareConnections(): Promise<void> {
    const names = await connectionNames(this.pool, readsName(this.options));
    if (names === null) return;
    const nodes = [...names].filter((name) => name.startsWith('troupe node ')).length;
    const { rows } = await this.read({ name: 'most_connections', text: `select current_setting('max_connections')::int as max` });
    const size = listPoolSizeFor(this.options.listPoolSize ?? defaultListPoolSize, { max: rows[0].max, nodes });
    const { maxRunning, maxRunningEach } = listLimits(size);
    this.lists.resize(maxRunning, maxRunningEach);
  }

  /** The table of an entity. Throws for an entity that is not in this database's schema. */
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

  /**
   * Runs one read statement. Connection failures, and what the server cannot do now for any caller, become `unavailable`; if too many wait
   * for a connection, `overloaded`.
   */
  async read(query: pg.QueryConfig & { rowMode?: 'array' }): Promise<{ rows: any[] }> {
    if (this.pool.waitingCount >= maxWaitingReads) throw new AppError('overloaded', tooManyReads, { retryAfterS: 1 });
    try {
      const result = await this.pool.query(query as pg.QueryConfig);
      const { rows } = result;
      // pg links its queries: if an old one is in the old heap, all later ones would survive with their rows.
      result.rows = [];
      return { rows };
    } catch (error) {
      if (isSqlError(error)) throw serversFault(error) ?? error;
      throw unanswered(error);
    }
  }

  /**
   * Runs one write statement outside the commit path; it must be safe to send twice. A connection failure becomes `unavailable`: the write
   * may have happened. Bounded as `read`.
   */
  async write(statement: pg.QueryConfig): Promise<{ rows: any[] }> {
    return this.read(statement);
  }

  /**
   * Runs the missing migrations once: the first node runs them, the others wait for the lock. Rejects with one line that names the database
   * when it cannot be reached within 5 seconds, refuses the login, breaks the connection, or is behind a pooler that does not keep sessions; and when a table
   * stays locked for `lockPatienceMs` (two minutes).
   */
  async migrate(lockPatienceMs?: number): Promise<void> {
    // A time-out set for the role is not meant for changes of tables.
    const client = await connect({ url: this.url, name: migrationsName, statementTimeoutMs: 0 }).catch((error) => this.unusable(error));
    try {
      await requireSessions(client, this.url).catch((error) => this.unusable(error));
      await takeAdvisoryLock(client, migrationLock);
      await refuseUnderRunningNodes(client);
      const { rows } = await client.query<{ schema: string | null }>('select current_schema() as schema');
      // By default the migrator keeps its table in `public`, which a role with another schema may not have.
      if (rows[0]!.schema !== 'public') Object.assign(this.orm.config.get('migrations'), { schema: rows[0]!.schema });
      await applyMigrations(this.orm, lockPatienceMs);
    } catch (error) {
      if (isPassingRefusal(error)) this.unusable(error as Error);
      throw error;
    } finally {
      await client.end();
    }
  }

  private unusable(error: Error): never {
    if (error instanceof Unusable || error instanceof SessionsLost) throw error;
    const { host, pathname } = new URL(this.url);
    const why = error.message || (error as NodeJS.ErrnoException).code;
    throw new Unusable(`The database ${pathname.slice(1)} at ${host} cannot be used (${why}): check DATABASE_URL`, { cause: error });
  }

  /** Waits for statements that run, but no longer than `graceMs` (a second): those without an answer then are rejected. */
  async close(graceMs = closeGraceMs): Promise<void> {
    this.closed = Promise.all([this.pool.end(), this.openedOrm?.close(true)]);
    await within(this.closed, graceMs);
    this.connections.breakAll();
    // A connection that is being made is not waited for: it ends with its time-out.
    await within(this.closed, brokenMs);
  }
}

class Unusable extends Error {}

/** The same for all databases of a process. */
const derivedTables = new WeakMap<EntitySchema<any>, Table>();

function readsName({ applicationName = 'troupe' }: DatabaseOptions): string {
  return `${applicationName} reads`;
}

const newestFirst = { createdAt: 'desc', id: 'desc' } as const;
const closeGraceMs = 1_000;
/** Until what was asked on broken connections is rejected. */
const brokenMs = 250;
const migrationLock = 7_081_735;
/** Most short statements that wait for a connection: a fraction of a second of work. */
const maxWaitingReads = 1_000;
const defaultListPoolSize = 4;
/** More concurrent lists are not faster: they share the processors. */
const maxListPoolSize = 8;
const maxWaitingLists = 2_048;
/** As many as a key of the largest plan may send concurrently: every request that the edge admits is answered. */
const maxWaitingListsEach = 512;
/** Shorter than a caller's timeout, so that the caller gets an answer. */
const listWaitMs = 8_000;
/** Connections of a node with the fewest lists (decision 13), and those reserved for everything else (tools, migrations, PostgreSQL itself). */
const connectionsOfNode = 15;
const connectionsOfOthers = 10;
const tooManyReads = 'The database has too much to read; try again shortly';
const listTimeoutMs = 30_000;

/** @param fewest the minimum. Lists get at most half of each node's remaining share. */
export function listPoolSizeFor(fewest: number, { max, nodes }: { max: number; nodes: number }): number {
  const share = (max - connectionsOfOthers) / (Math.max(nodes, 1) + 1);
  const spare = Math.floor((share - connectionsOfNode) / 2);
  return Math.min(Math.max(maxListPoolSize, fewest), fewest + Math.max(0, spare));
}

/** One account has at most half of them, so that another gets a slot at once. */
function listLimits(size: number): { maxRunning: number; maxRunningEach: number } {
  return { maxRunning: size, maxRunningEach: Math.ceil(size / 2) };
}

/** `unavailable` for errors of MikroORM when PostgreSQL was not reachable, took too long or cannot do it now; other errors unchanged. */
export function unavailableIfUnreachable(error: unknown): unknown {
  if (!(error instanceof DriverException)) return error;
  if (isSqlError(error) && error.code !== queryCanceled) return serversFault(error) ?? error;
  return unanswered(error);
}

function unanswered(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer; try again shortly', { cause, retryAfterS: 2 });
}

/**
 * The error for a caller that may try again later; null if the statement is the cause. A read can also find the disk full, because it may
 * have to write there.
 */
function serversFault(error: { code: string }): AppError | null {
  if (error.code === diskFull) return storageFull(error);
  if (!isServersFault(error)) return null;
  return new AppError('unavailable', 'The database cannot do this now; try again shortly', { cause: error, retryAfterS: 2 });
}

const int8 = 20;
const timestamptz = 1184;
/** Numbers for bigint (all values are below 2^53) and milliseconds for timestamps. */
const plainTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number;
    if (oid === timestamptz) return (text: string) => new Date(text).getTime();
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as never;
