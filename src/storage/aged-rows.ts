/**
 * Deletes rows past their retention time, oldest first, in pieces limited in rows and time, for any size of table.
 *
 * A1 No row is examined twice: the database stores the time up to which all rows are done (`chore.done_until`, the mark), so a restart or
 *    another node continues after the last piece. The statement that deletes also moves the mark.
 * A2 A row inserted with a time up to `overlapMs` before the mark is found in the next round; an older one within a day, when a walk begins
 *    at the oldest row again. Such a walk reads only the index, which no longer contains deleted rows.
 * A3 A piece that takes longer than `pieceMs` is rolled back and retried smaller: its range may hold many dead rows that an old snapshot
 *    protects from vacuum.
 */
import type pg from 'pg';
import type { Clock } from '../clock.ts';
import { queryCanceled } from './database-errors.ts';
import type { HousekeepingJob } from './maintenance.ts';

export type AgedRows = {
  /** Name of the job and of its mark. */
  name: string;
  table: string;
  /** The time from which a row's age counts; indexed, for the rows that `only` selects. */
  column: string;
  /** SQL condition of the rows to delete; default: every row. */
  only?: string;
  /** The required index: without it the job does nothing, because one piece would read the whole table. */
  index?: string;
  keepMs: number;
  /** Rows of this table are updated after their insert: a row that is locked is left for later. */
  areChanged?: boolean;
  clock: Clock;
  pieceMs?: number;
};

const overlapMs = 2 * 3_600_000;
const walkAgainMs = 24 * 3_600_000;
const firstSliceMs = 3_600_000;
/** Longer than any retention time. */
const maxIntervalMs = 100 * 365 * 24 * 3_600_000;
const minRows = 50;

export function deleteAgedRows(options: AgedRows): HousekeepingJob {
  const { name, table, column, index, keepMs, clock, pieceMs = 500 } = options;
  const only = options.only === undefined ? '' : `${options.only} and `;
  const lock = options.areChanged === true ? ' for update skip locked' : '';
  // Current limits of a piece in time and rows; both shrink where pieces take too long.
  let sliceMs = maxIntervalMs;
  let rows = Number.POSITIVE_INFINITY;
  const text = `with mark as materialized (
      select coalesce((select done_until from chore where name = $1 and walked_at > $2::timestamptz - $6 * interval '1 millisecond'), to_timestamp(0)) as at),
    piece as materialized (select at, least(at + $4 * interval '1 millisecond', $3::timestamptz) as until from mark),
    gone as (delete from ${table} where ctid = any(array(select ctid from ${table} where ${only}${column} >= (select at from piece)
      and ${column} < (select until from piece) order by ${column} limit $5${lock})) returning ${column} as time),
    found as materialized (select (select count(*)::int from gone) as count, (select max(time) from gone) as newest),
    next as materialized (select count, count < $5 and until >= $3 as finished,
      case when count >= $5 then newest when until >= $3 then $3::timestamptz - $7 * interval '1 millisecond' else until end as mark from found, piece),
    marked as (insert into chore as c (name, begun_at, done_until, walked_at) select $1, now(), mark, $2 from next
      on conflict (name) do update set done_until = excluded.done_until,
        walked_at = case when c.walked_at > $2::timestamptz - $6 * interval '1 millisecond' then c.walked_at else $2 end)
    select count, finished from next`;

  async function piece(client: pg.Client, limit: number): Promise<{ count: number; finished: boolean }> {
    const nowMs = clock.nowMs();
    const values = [name, new Date(nowMs), new Date(nowMs - keepMs), sliceMs, limit, walkAgainMs, overlapMs];
    await client.query(`begin; set local statement_timeout = ${pieceMs}`);
    try {
      const result = await client.query(text, values);
      await client.query('commit');
      return result.rows[0];
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }

  return {
    name,
    async runBatch(limit, client) {
      if (index !== undefined && !(await isUsable(client, index))) return { seen: 0, removed: 0 };
      rows = Math.min(rows, limit);
      const begunAtMs = performance.now();
      try {
        const { count, finished } = await piece(client, rows);
        if (performance.now() - begunAtMs < pieceMs / 4) {
          sliceMs = Math.min(maxIntervalMs, sliceMs * 4);
          rows *= 2;
        }
        return { seen: finished ? 0 : limit, removed: count };
      } catch (error) {
        const isSmallest = rows <= minRows && sliceMs <= 1;
        if ((error as { code?: string }).code !== queryCanceled || isSmallest) throw error;
        sliceMs = sliceMs === maxIntervalMs ? firstSliceMs : Math.max(1, Math.floor(sliceMs / 16));
        rows = Math.max(Math.min(minRows, limit), Math.floor(rows / 2));
        return { seen: limit, removed: 0 };
      }
    },
  };
}

/** An index that is being built, or whose build was interrupted, is in the catalog too. */
export async function isUsable(client: pg.Client, index: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_index where indexrelid = to_regclass($1) and indisvalid', [index]);
  return rowCount === 1;
}
