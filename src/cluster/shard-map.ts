/**
 * Which node owns which shard, as far as this node knows: from the table, from notifications, from its own claims. It has no authority; it
 * provides the routes, and the values that a claim is compared with.
 *
 * M1 An entry is replaced only by one with a larger epoch, so notifications may arrive in any order, late or twice.
 */
import { shardCount } from './address.ts';

/** A row of the table. `owner` is an incarnation; null: unowned, after an orderly release. */
export type ShardRow = { shard: number; epoch: number; owner: string | null };

export class ShardMap {
  /** Called with the rows whose owner changed. */
  onMoved: (rows: readonly ShardRow[]) => void = () => {};
  private readonly rows: ShardRow[] = Array.from({ length: shardCount }, (_, shard) => ({ shard, epoch: -1, owner: null }));
  /** How often an entry has changed. */
  changes = 0;
  private readonly counts = new Map<string, number>();

  row(shard: number): ShardRow {
    return this.rows[shard]!;
  }

  /** The current rows, by shard. */
  all(): readonly ShardRow[] {
    return [...this.rows];
  }

  ownerOf(shard: number): string | null {
    return this.rows[shard]!.owner;
  }

  /** The number of an incarnation's shards. */
  countOf(owner: string): number {
    return this.counts.get(owner) ?? 0;
  }

  owners(): string[] {
    return [...this.counts.keys()];
  }

  /** The largest epoch of all shards; -1 if none is known. */
  get largestEpoch(): number {
    let largest = -1;
    for (const { epoch } of this.rows) if (epoch > largest) largest = epoch;
    return largest;
  }

  merge(rows: Iterable<ShardRow>): void {
    const moved: ShardRow[] = [];
    for (const row of rows) {
      const known = this.rows[row.shard];
      if (known === undefined || row.epoch <= known.epoch) continue;
      this.rows[row.shard] = row;
      this.changes++;
      if (row.owner === known.owner) continue;
      this.count(known.owner, -1);
      this.count(row.owner, 1);
      moved.push(row);
    }
    if (moved.length > 0) this.onMoved(moved);
  }

  private count(owner: string | null, by: number): void {
    if (owner === null) return;
    const count = this.countOf(owner) + by;
    if (count === 0) this.counts.delete(owner);
    else this.counts.set(owner, count);
  }
}

/** Whether the database has lost a commit, if it was read after `before` was known: epochs only grow, and each belongs to one owner. */
export function hasFallen(before: ShardRow, now: ShardRow): boolean {
  return now.epoch < before.epoch || (now.epoch === before.epoch && now.owner !== before.owner);
}
