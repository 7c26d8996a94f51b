/**
 * Durable work in the database that waits for actors of this node, and the database's size. A scrape starts the query without waiting: it
 * gets the last result, or none if that is too old.
 */
import { ownedShards, type Placement } from '../cluster/placement.ts';
import type { Database } from '../storage/database.ts';
import { OldestSnapshot } from './oldest-snapshot.ts';

export type Lag = {
  oldestMessageS: number;
  mostOverdueTimerS: number;
  deadLetters: number;
  databaseBytes: number;
  /** Null if the database does not show it. */
  oldestSnapshotS: number | null;
};

const holdsMs = 15_000;
const forgottenAfterMs = 120_000;
const maxDeadLettersCounted = 10_000;

/** The index of both tables begins with the shard: one look-up for each shard. */
const text = `select
  coalesce((select max(extract(epoch from now() - m.created_at)) from unnest($1::int[]) s(shard),
    lateral (select created_at from message where shard = s.shard order by seq limit 1) m), 0)::float8 as "oldestMessageS",
  coalesce((select max(extract(epoch from now() - t.due_at)) from unnest($1::int[]) s(shard),
    lateral (select due_at from timer where shard = s.shard order by due_at limit 1) t), 0)::float8 as "mostOverdueTimerS",
  (select count(*) from (select from dead_letter limit ${maxDeadLettersCounted}) d)::float8 as "deadLetters",
  pg_database_size(current_database())::float8 as "databaseBytes"`;

export class WorkLag {
  private found: Lag | null = null;
  private foundAtMs = Number.NEGATIVE_INFINITY;
  private measuring = false;
  private readonly snapshots: OldestSnapshot;
  private readonly database: Pick<Database, 'read' | 'pool'>;
  private readonly placement: Pick<Placement, 'epochOf'>;

  constructor(database: Pick<Database, 'read' | 'pool'>, placement: Pick<Placement, 'epochOf'>) {
    this.database = database;
    this.snapshots = new OldestSnapshot(database);
    this.placement = placement;
  }

  /** The last result; null before the first, and if it is too old. */
  read(): Lag | null {
    const ageMs = performance.now() - this.foundAtMs;
    if (ageMs > holdsMs && !this.measuring) void this.measure();
    return ageMs > forgottenAfterMs ? null : this.found;
  }

  /** Queries now. Never rejects: other metrics show that the database does not answer. */
  async measure(): Promise<void> {
    this.measuring = true;
    try {
      const shards = ownedShards(this.placement);
      const { rows } = await this.database.read({ name: 'work_lag', text, values: [shards] });
      const { oldestMessageS, mostOverdueTimerS, ...counts } = rows[0] as Omit<Lag, 'oldestSnapshotS'>;
      const oldestSnapshotS = await this.snapshots.measure();
      // A timer that is not due is not late; clocks of two machines differ slightly.
      this.found = {
        oldestMessageS: Math.max(0, oldestMessageS),
        mostOverdueTimerS: Math.max(0, mostOverdueTimerS),
        oldestSnapshotS,
        ...counts,
      };
      this.foundAtMs = performance.now();
    } catch {
      // The next scrape tries again.
    } finally {
      this.measuring = false;
    }
  }
}
