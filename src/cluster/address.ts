/** Where a message goes: an actor's kind and id. Actors move in shards, fixed groups of addresses. */

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

/** What PostgreSQL can hold as it is; anything else would be found under another id than it was kept. */
export function isActorId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed();
}
