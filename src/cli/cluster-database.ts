/** The cluster's state in PostgreSQL: shard owners, waiting work, committed batches. One connection, reads only, all bounded. */
import type pg from 'pg';
import { connect } from '../storage/connect.ts';
import { connectionName } from '../storage/connection-name.ts';
import { connectionNames } from '../storage/server-functions.ts';
import { outOfReach } from './find-database.ts';

export type ShardOwner = { shard: number; owner: string | null; epoch: number };
/** `oldestMs` is null if nothing waits. Counts stop at `countLimit`. */
export type Backlog = { count: number; oldestMs: number | null };

export type DatabaseReading = {
  /** The database's clock. */
  nowMs: number;
  shards: ShardOwner[];
  /** null: the query exceeded its time limit. */
  backlogs: { messages: Backlog; effects: Backlog; timers: Backlog; deadLetters: Backlog } | null;
  /** Number of committed batches, by marker: an owner has one marker for each lane. */
  batches: Map<string, number>;
  /** Number of events of all accounts; null as with the backlogs. */
  events: number | null;
  /** Whether the database has a connection of this owner, as far as it shows: the owner may be alive, or have failed without closing it. */
  isConnected(owner: string): boolean;
};

export const countLimit = 100_000;
const commandName = 'troupe command';
const statementTimeoutMs = 4_000;

/** Throws `Failure`: `unreachable`, or `refused` if the database has no service's tables. */
export async function readDatabase(url: string): Promise<DatabaseReading> {
  return withClient(url, async (client) => {
    const { rows: shards } = await client.query('select shard, owner, epoch::float8 as epoch from shard order by shard');
    const { rows: markers } = await client.query('select owner, batch::float8 as batch from commit_marker');
    const connected = await connectionNames(client, commandName);
    const backlogs = await inTime(client.query(backlogQuery));
    const counted = await inTime(client.query('select coalesce(sum(last_seq), 0)::float8 as events from event_counter'));
    const { rows: clock } = await client.query('select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms');
    return {
      nowMs: clock[0].now_ms,
      shards,
      backlogs: backlogs === null ? null : backlogsOf(backlogs.rows),
      batches: new Map(markers.map(({ owner, batch }) => [owner, batch])),
      events: counted?.rows[0].events ?? null,
      isConnected: (owner) => (['commit', 'node'] as const).some((kind) => connected?.has(connectionName(kind, owner))),
    };
  });
}

/** The shards of this owner's process, or of any earlier one with its name. */
export async function shardsByOwner(url: string): Promise<Map<string, number>> {
  return withClient(url, async (client) => {
    const { rows } = await client.query('select owner, count(*)::int as count from shard where owner is not null group by owner');
    return new Map(rows.map(({ owner, count }) => [owner, count]));
  });
}

/** Tables that may be long are counted up to a limit, in physical order: an outbox is normally short. */
const backlogQuery = ['message', 'effect', 'timer', 'dead_letter']
  .map((table) => {
    const time = table === 'timer' ? 'due_at' : 'created_at';
    const overdue = table === 'timer' ? 'where due_at < now()' : '';
    return `select '${table}' as name, count(*)::int as count, extract(epoch from now() - min(at))::float8 * 1000 as oldest_ms
      from (select ${time} as at from ${table} ${overdue} limit ${countLimit}) waiting`;
  })
  .join(' union all ');

function backlogsOf(rows: { name: string; count: number; oldest_ms: number | null }[]): NonNullable<DatabaseReading['backlogs']> {
  const of = (name: string): Backlog => {
    const row = rows.find((one) => one.name === name)!;
    return { count: row.count, oldestMs: row.oldest_ms === null ? null : Math.max(0, row.oldest_ms) };
  };
  return { messages: of('message'), effects: of('effect'), timers: of('timer'), deadLetters: of('dead_letter') };
}

const queryCanceled = '57014';

/** A database under load may not count in time; the rest is shown without the counts. */
async function inTime<T>(query: Promise<T>): Promise<T | null> {
  return query.catch((error: Error & { code?: string }) => {
    if (error.code === queryCanceled) return null;
    throw error;
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client | null = null;
  try {
    client = await connect({
      url,
      name: commandName,
      statementTimeoutMs,
      queryTimeoutMs: statementTimeoutMs + 1_000,
      readOnly: true,
    });
    return await work(client);
  } catch (error) {
    throw outOfReach(error as Error, url);
  } finally {
    await client?.end().catch(() => {});
  }
}
