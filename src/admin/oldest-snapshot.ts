/**
 * The age of the oldest open snapshot of the database: rows that were deleted or replaced since then cannot be vacuumed, and each commit
 * reads more of them. If the role may not see when a transaction began, its age counts from when this node first saw it.
 */
import type { Database } from '../storage/database.ts';
import { type SnapshotHolder, snapshotHolders } from '../storage/server-functions.ts';

export class OldestSnapshot {
  private readonly seenAtMs = new Map<string, number>();
  private readonly database: Pick<Database, 'pool'>;

  constructor(database: Pick<Database, 'pool'>) {
    this.database = database;
  }

  /** In seconds; 0 if none is open, null if the database does not show it. */
  async measure(): Promise<number | null> {
    const holders = await snapshotHolders(this.database.pool);
    return holders === null ? null : this.oldest(holders, performance.now());
  }

  /** @param nowMs of a monotonic clock */
  oldest(holders: readonly SnapshotHolder[], nowMs: number): number {
    const ids = new Set(holders.map(({ id }) => id));
    for (const id of this.seenAtMs.keys()) if (!ids.has(id)) this.seenAtMs.delete(id);
    let oldestS = 0;
    for (const { id, openForS } of holders) {
      const seenAtMs = this.seenAtMs.get(id) ?? nowMs;
      this.seenAtMs.set(id, seenAtMs);
      oldestS = Math.max(oldestS, openForS ?? (nowMs - seenAtMs) / 1_000);
    }
    return oldestS;
  }
}
