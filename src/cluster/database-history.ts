/**
 * Whether the database still is the one whose commits this node has seen. A promoted standby that lacked the last of them, a restored backup and
 * a lost tail of the log have one thing in common: what was committed before is no longer there, while memory still holds it.
 *
 * The sign is the position in PostgreSQL's log: cluster, timeline, and how far the log is on disk. It is read with whatever is asked of the
 * database anyway. Any role may read it with PostgreSQL as it comes; where a service does not have these functions, epochs that fall are the
 * only sign (`shard-reconciler.ts`, K6).
 *
 * D1 A log that is shorter than it was before a question was put, or of another timeline or cluster, is another history.
 * D2 Of several answers to one such change only the first is reported, and answers from before the change are distinguished from later ones.
 */
import type pg from 'pg';

/** `system`: PostgreSQL's own number of the cluster. `bytes`: the length of its log that is on disk. */
export type Position = { system: string; timeline: number; bytes: number };

/** What was known when a question was put. */
export type Asked = { position: Position | null; change: number };

/** `changed`: what this node remembers may never have happened. `past`: the answer was given before a change that is known by now. */
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
   * Puts a question together with that for the position. `ask` is given an expression for a column, `position`, and returns the one row of the
   * answer with it in place. `variant` tells the texts of the question apart, for the names of prepared statements.
   */
  async with<Row extends { position?: unknown }>(
    ask: (position: string, variant: string) => Promise<Row>,
  ): Promise<{ row: Row; verdict: Verdict }> {
    const asked: Asked = { position: this.latest, change: this.changes };
    const without = async () => {
      const row = await ask('null::json', 'none');
      return { row, verdict: this.answered(asked, positionOf(row.position)) };
    };
    if (!this.isReadable) return without();
    let row: Row;
    try {
      row = await ask(positionSql, 'position');
    } catch (error) {
      if (!refusals.has((error as { code?: string }).code ?? '')) throw error;
      const answer = await without();
      // Not before it is sure that nothing else was refused: with a disk that is read-only for a while everything is.
      this.isReadable = false;
      return answer;
    }
    return { row, verdict: this.answered(asked, positionOf(row.position)) };
  }

  /** For a connection that was just made. */
  async compare(client: pg.ClientBase): Promise<Verdict> {
    const { verdict } = await this.with(async (position) => (await client.query(`select ${position} as position`)).rows[0]);
    return verdict;
  }

  /** D1, D2. */
  answered(asked: Asked, now: Position | null): Verdict {
    if (now === null) return 'same';
    const isOther = asked.position !== null && isOtherHistory(asked.position, now);
    if (asked.change < this.changes) {
      if (!isOther) return asked.position === null ? 'same' : 'past';
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

/** The name of a file of the log begins with the timeline, eight hexadecimal digits. */
function positionOf(told: unknown): Position | null {
  if (!Array.isArray(told)) return null;
  const [system, file, bytes] = told as [string, string, number];
  return { system, timeline: Number.parseInt(file.slice(0, 8), 16), bytes };
}
