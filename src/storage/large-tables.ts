/**
 * Maintenance of the tables that grow with all work: indexes that were added later, and vacuum settings that start after a small part of the
 * table has changed. A migration adds both to small tables; for a large table the index is built here, concurrently with commits. Replaced
 * indexes are dropped here, whatever the size: a migration that drops one waits for all readers of the table, with all later statements
 * behind it.
 *
 * A build takes minutes for a hundred million rows, and nothing waits for it: neither the round nor a node that stops. PostgreSQL finishes
 * a statement also after the node has ended. One session at a time builds: it holds a lock until it ends.
 */
import type pg from 'pg';
import type { Log } from '../log.ts';
import { isUsable } from './aged-rows.ts';
import { breakConnection, connect } from './connect.ts';
import type { HousekeepingJob } from './maintenance.ts';
import { tryAdvisoryLock } from './server-functions.ts';

const largeTablesLock = 7_081_739;
/** For settings, which wait while the table is vacuumed, and for dropping the rest of a failed build. */
const lockTimeoutMs = 500;

/** The same definitions as in migrations 31 and 49. */
const indexes: Readonly<Record<string, string>> = {
  event_to_forget: 'event (created_at) where task_id is null',
  command_record_to_forget: `command_record (created_at) where not starts_with(id, 'idem30_')`,
  command_record_to_forget_monthly: `command_record (created_at) where starts_with(id, 'idem30_')`,
  webhook_delivery_to_forget: 'webhook_delivery (created_at)',
  checkout_to_forget: `checkout (expires_at) where status in ('failed', 'open', 'cancelled', 'contacted', 'expired')`,
  snapshot_file_by_content_and_sha1: 'snapshot_file (content_key, sha1)',
};
/** Indexes that another one replaces, in the statements of the version before too: dropped when that one is usable. */
const replaced: Readonly<Record<string, string>> = { snapshot_file_by_content: 'snapshot_file_by_content_and_sha1' };

const vacuumed = ['event', 'command_record', 'webhook_delivery'];
const vacuumSettings =
  'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02, vacuum_truncate = false';

export class LargeTables implements HousekeepingJob {
  readonly name = 'large tables';
  private readonly url: string;
  private readonly log: Log;
  private client: pg.Client | null = null;
  private building: Promise<void> = Promise.resolve();

  constructor(databaseUrl: string, log: Log) {
    this.url = databaseUrl;
    this.log = log;
  }

  /** Starts to build missing indexes and to drop replaced ones. */
  async runBatch(_limit: number, client: pg.Client): Promise<{ seen: number; removed: number }> {
    if (this.client === null && (await isIncomplete(client))) await this.begin();
    for (const table of vacuumed) await this.adjust(client, table);
    return { seen: 0, removed: 0 };
  }

  /** Resolves when no index is being built or dropped. */
  built(): Promise<void> {
    return this.building;
  }

  async close(): Promise<void> {
    if (this.client !== null) breakConnection(this.client);
    await this.building;
  }

  private async begin(): Promise<void> {
    const client = await connect({ url: this.url, name: 'troupe indexes', statementTimeoutMs: 0 });
    this.client = client;
    this.building = this.build(client)
      .catch((error) => this.log.warn({ err: error }, 'an index could not be built; retrying in the next round'))
      .finally(async () => {
        await client.end().catch(() => {});
        this.client = null;
      });
  }

  private async build(client: pg.Client): Promise<void> {
    if (!(await tryAdvisoryLock(client, largeTablesLock))) return;
    for (const index of await missing(client)) {
      this.log.info({ index }, 'building an index of a large table concurrently; deletions that use it begin when it is ready');
      // A failed build leaves an invalid index.
      await client.query(`set lock_timeout = ${lockTimeoutMs}`);
      await client.query(`drop index concurrently if exists ${index}`);
      // The build waits for all old snapshots, and blocks no other session meanwhile.
      await client.query('set lock_timeout = 0');
      await client.query(`create index concurrently ${index} on ${indexes[index]}`);
      this.log.info({ index }, 'an index of a large table is ready');
    }
    await client.query('set lock_timeout = 0');
    for (const index of await unneeded(client)) {
      await client.query(`drop index concurrently if exists ${index}`);
      this.log.info({ index }, 'a replaced index is dropped');
    }
  }

  /** Once: settings of an operator are kept. */
  private async adjust(client: pg.Client, table: string): Promise<void> {
    const { rowCount } = await client.query('select from pg_class where oid = to_regclass($1) and reloptions is null', [table]);
    if (rowCount === 0) return;
    await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
    try {
      await client.query(`alter table ${table} set (${vacuumSettings}); commit`);
    } catch (error) {
      await client.query('rollback');
      this.log.debug({ err: error, table }, 'a table is being vacuumed; its settings are changed in a later round');
    }
  }
}

async function isIncomplete(client: pg.Client): Promise<boolean> {
  return (await missing(client)).length > 0 || (await unneeded(client)).length > 0;
}

async function missing(client: pg.Client): Promise<string[]> {
  const usable = [];
  for (const index of Object.keys(indexes)) usable.push((await isUsable(client, index)) ? [] : [index]);
  return usable.flat();
}

async function unneeded(client: pg.Client): Promise<string[]> {
  const found = [];
  for (const [index, by] of Object.entries(replaced)) {
    const { rowCount } = await client.query('select where to_regclass($1) is not null', [index]);
    if (rowCount === 1 && (await isUsable(client, by))) found.push(index);
  }
  return found;
}
