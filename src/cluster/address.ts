/** The address of a message: an actor's kind and id. Actors move in shards, fixed groups of addresses. */
import { steppedId } from '../ids.ts';

export type Address = { kind: string; id: string };

/** The same on all nodes of a cluster and stored in the database: it never changes. */
export const shardCount = 1024;

/** The shard of an address: FNV-1a over `kind/id`, the same on every node and in every version. */
export function shardOf(kind: string, id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < kind.length; i++) hash = Math.imul(hash ^ kind.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ 47, 0x01000193);
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  // The low bits of FNV-1a are weak.
  return ((hash ^ (hash >>> 15)) >>> 0) % shardCount;
}

/**
 * An id like `seed` that puts an actor of this kind on the shard of another actor, permanently: always the same for the same seed. Costs
 * about 1,000 hashes.
 */
export function idBeside<Id extends string>(seed: Id, kind: string, other: Address): Id {
  const shard = shardOf(other.kind, other.id);
  for (let steps = 0; ; steps++) {
    const id = steppedId(seed, steps);
    if (shardOf(kind, id) === shard) return id;
  }
}

/** Whether PostgreSQL can store the id unchanged; any other id would not be found again. */
export function isActorId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed();
}
