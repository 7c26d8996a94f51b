/** Where a message goes: an actor's kind and id. Actors move in shards, fixed groups of addresses. */
import { steppedId } from '../ids.ts';

export type Address = { kind: string; id: string };

/** Shared by all nodes of a cluster and written into the database: it never changes. */
export const shardCount = 1024;

/** The shard of an address: FNV-1a over `kind/id`, the same on every node and in every version. */
export function shardOf(kind: string, id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < kind.length; i++) hash = Math.imul(hash ^ kind.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ 47, 0x01000193);
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  // The low bits of FNV-1a are its weak ones.
  return ((hash ^ (hash >>> 15)) >>> 0) % shardCount;
}

/**
 * An id like `seed` with which an actor of this kind lives on the shard of another actor, for as long as both exist: always the same for
 * the same seed. Some 1,000 hashes.
 */
export function idBeside<Id extends string>(seed: Id, kind: string, other: Address): Id {
  const shard = shardOf(other.kind, other.id);
  for (let steps = 0; ; steps++) {
    const id = steppedId(seed, steps);
    if (shardOf(kind, id) === shard) return id;
  }
}

/** What PostgreSQL can hold as it is; anything else would be found under another id than it was kept. */
export function isActorId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed();
}
