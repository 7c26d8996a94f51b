/** The database as everyone but the commit path sees it: MikroORM for lists, reports and migrations, and tables derived from its metadata. */
import type { EntityName, EntitySchema } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { AppError } from '../errors.ts';
import * as entities from './entities/index.ts';
import { FirstTables } from './migrations/0001-first-tables.ts';
import { type Table, tableOf } from './table.ts';

export type AnyEntity = EntitySchema<any> | EntityName<any>;

export class Database {
  readonly url: string;
  /** Connections for the loader and other short statements; bounded. */
  readonly pool: pg.Pool;
  private readonly orm: MikroORM;
  private readonly tables = new Map<string, Table>();

  constructor(url: string, options: { poolSize?: number; applicationName?: string; extraEntities?: EntitySchema<any>[] } = {}) {
    this.url = url;
    const applicationName = options.applicationName ?? 'troupe';
    this.orm = new MikroORM({
      clientUrl: url,
      entities: [
        ...(Object.values(entities) as EntitySchema<any>[]).filter((value) => typeof value === 'object'),
        ...(options.extraEntities ?? []),
      ],
      extensions: [Migrator],
      migrations: { migrationsList: [FirstTables], snapshot: false, tableName: 'migration' },
      pool: { min: 0, max: 4 },
      driverOptions: { application_name: `${applicationName} lists`, statement_timeout: 30_000 },
      ensureDatabase: false,
    } as never);
    this.pool = new pg.Pool({
      connectionString: url,
      max: options.poolSize ?? 6,
      application_name: `${applicationName} reads`,
      statement_timeout: 15_000,
      connectionTimeoutMillis: 5_000,
      types: plainTypes,
    });
    // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
    this.pool.on('error', () => {});
    for (const metadata of this.orm.getMetadata().getAll().values()) this.tables.set(metadata.className, tableOf(metadata));
  }

  /** A fresh unit of MikroORM work: one per request. */
  em(): SqlEntityManager {
    return this.orm.em.fork() as SqlEntityManager;
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

  /** One read statement. Connection trouble becomes `unavailable`. */
  async read(query: pg.QueryConfig & { rowMode?: 'array' }): Promise<{ rows: any[] }> {
    try {
      return await this.pool.query(query as pg.QueryConfig);
    } catch (error) {
      if (isSqlError(error)) throw error;
      throw new AppError('unavailable', 'The database does not answer; try again shortly', { cause: error, retryAfterS: 2 });
    }
  }

  /** One write statement beside the commit path, safe to send twice. Connection trouble becomes `unavailable`: it may have happened. */
  async write(statement: pg.QueryConfig): Promise<{ rows: any[] }> {
    return this.read(statement);
  }

  /** Runs the migrations that are missing, once, whichever node is first: the others wait for the lock. */
  async migrate(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url, application_name: 'troupe migrations' });
    await client.connect();
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

/** True for an error that PostgreSQL itself answered; false where nobody knows what it did. */
export function isSqlError(error: unknown): error is Error & { code: string } {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') && !/^(08|57P0)/.test(code);
}

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
