/** What a node should do next about its shards: a pure function of the plan and the known state. */
import { shardCount } from './address.ts';
import type { OwnShards } from './own-shards.ts';
import type { ShardMap, ShardRow } from './shard-map.ts';

export type PlacementState = {
  self: string;
  /** The planned owner of each shard; null where no member can own it. */
  plan: readonly (string | null)[];
  /** Liveness is unknown: running moves finish, no move starts, no shard is claimed from another owner. */
  frozen: boolean;
  map: ShardMap;
  own: OwnShards;
  /** Shards to claim as soon as they have no owner, independent of the plan. */
  wanted: (shard: number) => boolean;
  /** Whether an incarnation is a member now. */
  isMember: (incarnation: string) => boolean;
};

/**
 * Shards that this node should claim. `free`: without an owner, or this node's own by a claim whose answer was lost. `orphaned`: of an
 * owner that is no longer a member.
 */
export function claimable({ self, plan, frozen, map, own, wanted, isMember }: PlacementState): { free: ShardRow[]; orphaned: ShardRow[] } {
  const free: ShardRow[] = [];
  const orphaned: ShardRow[] = [];
  for (let shard = 0; shard < shardCount; shard++) {
    const row = map.row(shard);
    if (row.epoch < 0 || own.stateOf(shard) !== 'foreign') continue;
    const isPlanned = plan[shard] === self;
    if (row.owner === self || (row.owner === null && (isPlanned || wanted(shard)))) free.push(row);
    else if (row.owner !== null && isPlanned && !frozen && !isMember(row.owner)) orphaned.push(row);
  }
  return { free, orphaned };
}

/** Shards that this node should hand over to a better owner that can take them. */
export function surplus({ self, plan, frozen, own }: PlacementState, canReceive: (incarnation: string) => boolean): number[] {
  if (frozen) return [];
  return own.inState('owned').filter((shard) => {
    const better = plan[shard] ?? null;
    return better !== null && better !== self && canReceive(better);
  });
}
