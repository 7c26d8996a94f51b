/**
 * Detects whether the database still has the commits that this node has seen. A promoted standby that lacked the last commits, a restored
 * backup and a truncated log have the same effect: earlier commits no longer exist, while memory still contains them.
 *
 * The check compares positions in PostgreSQL's log: cluster, timeline, and the flushed length of the log. A position is read together with
 * other queries. By default any role may read it; if a service lacks these functions, epochs that fall are the only sign
 * (`shard-reconciler.ts`, K6).
 *
 * D1 A log that is shorter than before a query was sent, or that has another timeline or cluster, is another history.
 * D2 Of several answers to one such change only the first is reported, and answers from before the change are distinguished from later
 *    ones.
 */
import type pg from 'pg';

/** `system`: PostgreSQL's own id of the cluster. `bytes`: the flushed length of its log. */
export type Position = { system: string; timeline: number; bytes: number };

/** The known state when a query was sent. */
export type QueryStart = { position: Position | null; change: number };

/** `changed`: state in memory may no longer exist in the database. `past`: the answer is older than a change that is already known. */
export type Verdict = 'same' | 'changed' | 'past';

const positionSql = `(select json_build_array(c.system_identifier::text, pg_walfile_name(w.lsn), (w.lsn - '0/0')::float8)
  from pg_control_system() c, (select pg_current_wal_flush_lsn() as lsn) w)`;

/** insufficient_privilege, undefined_function, feature_not_supported */
const refusals = new Set(['42501', '42883', '0A000']);

export class DatabaseHistory {
  private latest: Position | null = null;
  private changes = 0;
  private isReadable = true;

  /**
   * Sends a query that also returns the position. `ask` gets an SQL expression for a column `position`, and returns the one row of the
   * answer with that column. `variant` distinguishes the texts of the query, for the names of prepared statements.
   */
  async with<Row extends { position?: unknown }>(
    ask: (position: string, variant: string) => Promise<Row>,
  ): Promise<{ row: Row; verdict: Verdict }> {
    const queryStart: QueryStart = { position: this.latest, change: this.changes };
    const without = async () => {
      const row = await ask('null::json', 'none');
      return { row, verdict: this.answered(queryStart, positionOf(row.position)) };
    };
    if (!this.isReadable) return without();
    let row: Row;
    try {
      row = await ask(positionSql, 'position');
    } catch (error) {
      if (!refusals.has((error as { code?: string }).code ?? '')) throw error;
      const answer = await without();
      // Only after it is certain that nothing else was refused: while a disk is read-only, everything is refused.
      this.isReadable = false;
      return answer;
    }
    return { row, verdict: this.answered(queryStart, positionOf(row.position)) };
  }

  /** For a new connection. */
  async compare(client: pg.ClientBase): Promise<Verdict> {
    const { verdict } = await this.with(async (position) => (await client.query(`select ${position} as position`)).rows[0]);
    return verdict;
  }

  /** D1, D2. */
  answered(queryStart: QueryStart, now: Position | null): Verdict {
    if (now === null) return 'same';
    const isOther = queryStart.position !== null && isOtherHistory(queryStart.position, now);
    if (queryStart.change < this.changes) {
      if (!isOther) return queryStart.position === null ? 'same' : 'past';
      if (isSameLine(this.latest!, now)) return 'same';
    }
    if (isOther) this.changes++;
    if (isOther || this.latest === null || now.bytes > this.latest.bytes) this.latest = now;
    return isOther ? 'changed' : 'same';
  }
}

export function isOtherHistory(before: Position, now: Position): boolean {
  return !isSameLine(before, now) || now.bytes < before.bytes;
}

function isSameLine(a: Position, b: Position): boolean {
  return a.system === b.system && a.timeline === b.timeline;
}

/** The name of a log file begins with the timeline, eight hexadecimal digits. */
function positionOf(value: unknown): Position | null {
  if (!Array.isArray(value)) return null;
  const [system, file, bytes] = value as [string, string, number];
  return { system, timeline: Number.parseInt(file.slice(0, 8), 16), bytes };
}
