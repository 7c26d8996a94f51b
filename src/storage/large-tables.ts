/**
 * What the tables that grow with all work need beside their columns: indexes for what is deleted by age, and vacuuming after a small part of the
 * table has changed. A migration gives both to small tables; where a table is large, an index is built here, while commits go on.
 *
 * Building takes minutes for a hundred million rows and nobody waits for it: neither the round nor a node that stops. PostgreSQL ends what it has
 * begun also when the node is gone. One session at a time builds: it holds a lock as long as it lives.
 */
import type pg from 'pg';
import type { Log } from '../log.ts';
import { isUsable } from './aged-rows.ts';
import { connect } from './connect.ts';
import type { HousekeepingJob } from './maintenance.ts';
import { tryAdvisoryLock } from './server-functions.ts';

const largeTablesLock = 7_081_739;
/** For settings, which wait while the table is vacuumed, and for what is left of a broken build. */
const lockTimeoutMs = 500;

/** In the words of migration 31. */
const indexes: Readonly<Record<string, string>> = {
  event_to_forget: 'event (created_at) where task_id is null',
  command_record_to_forget: `command_record (created_at) where not starts_with(id, 'idem30_')`,
  command_record_to_forget_monthly: `command_record (created_at) where starts_with(id, 'idem30_')`,
  webhook_delivery_to_forget: 'webhook_delivery (created_at)',
  checkout_to_forget: `checkout (expires_at) where status in ('failed', 'open', 'cancelled', 'contacted', 'expired')`,
};

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

  /** Begins to build what is missing. */
  async doSome(_limit: number, client: pg.Client): Promise<{ seen: number; removed: number }> {
    if (this.client === null && (await missing(client)).length > 0) await this.begin();
    for (const table of vacuumed) await this.adjust(client, table);
    return { seen: 0, removed: 0 };
  }

  /** Resolves when nothing is being built. */
  built(): Promise<void> {
    return this.building;
  }

  async close(): Promise<void> {
    (this.client as unknown as { connection: { stream: { destroy(): void } } } | null)?.connection.stream.destroy();
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
      this.log.info({ index }, 'building an index of a large table concurrently; its old rows are not deleted until it is ready');
      // What a broken build has left is no index.
      await client.query(`set lock_timeout = ${lockTimeoutMs}`);
      await client.query(`drop index concurrently if exists ${index}`);
      // It waits for whoever holds an old snapshot, and keeps nobody waiting meanwhile.
      await client.query('set lock_timeout = 0');
      await client.query(`create index concurrently ${index} on ${indexes[index]}`);
      this.log.info({ index }, 'an index of a large table is ready');
    }
  }

  /** Once: what an operator has set stays. */
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

async function missing(client: pg.Client): Promise<string[]> {
  const usable = [];
  for (const index of Object.keys(indexes)) usable.push((await isUsable(client, index)) ? [] : [index]);
  return usable.flat();
}
