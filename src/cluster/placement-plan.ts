/**
 * Which node should own which shard: a pure function of the view, so that all nodes of one view agree without communication. Rendezvous
 * hashing: every node has a hash for every shard, and the largest wins. This is the plan; the actual owners are in PostgreSQL.
 *
 * P1 Neither the order of the members nor their incarnations matter: a node that returns under its name gets the same shards.
 * P2 When a node joins, only the shards that it gets move; when a node leaves, only its shards move. An isolated node counts as one that
 *    left.
 * P3 A member that cannot commit is planned like one that leaves, as long as another can commit; if none can, all are planned as if they
 *    could.
 */
import { shardCount } from './address.ts';
import { isolatedOf } from './isolation.ts';
import { canOwn, type Member, type View } from './member.ts';

/** Shard → the incarnation that should own it. All null if no member can own shards: none runs actors, or all of them leave. */
export type Plan = readonly (string | null)[];

export function planOf(view: View): Plan {
  const isolated = isolatedOf(view);
  const reached = view.members.filter((member) => canOwn(member) && !isolated.has(member.incarnation)).sort(byName);
  const able = reached.filter(({ cannotCommit }) => cannotCommit !== true);
  const owners = able.length > 0 ? able : reached;
  const seeds = owners.map(({ name }) => textHash(name));
  return shardHashes.map((shardHash) => owners[winner(seeds, shardHash)]?.incarnation ?? null);
}

/** The index of the largest hash, -1 if there is none. Of equal hashes the first wins, so `seeds` are in the order of names. */
function winner(seeds: number[], shardHash: number): number {
  let best = -1;
  let bestDraw = -1;
  for (let i = 0; i < seeds.length; i++) {
    const draw = mixed(seeds[i]! ^ shardHash);
    if (draw > bestDraw) {
      best = i;
      bestDraw = draw;
    }
  }
  return best;
}

function byName(a: Member, b: Member): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.incarnation < b.incarnation ? -1 : 1;
}

/** FNV-1a, mixed. */
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** Every bit of the input affects every bit of the output (the finalizer of MurmurHash3). */
function mixed(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const shardHashes: readonly number[] = Array.from({ length: shardCount }, (_, shard) => mixed(shard + 1));
