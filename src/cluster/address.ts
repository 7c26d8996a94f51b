/** The address of a message: an actor's kind and id. Actors move in shards, fixed groups of addresses. */
import { codeOfDigit, countedPart, steppedId } from '../ids.ts';

export type Address = { kind: string; id: string };

/** The same on all nodes of a cluster and stored in the database: it never changes. */
export const shardCount = 1024;

/** The shard of an address: FNV-1a over `kind/id`, the same on every node and in every version. */
export function shardOf(kind: string, id: string): number {
  return shardOfHash(hashed(hashed(hashed(firstHash, kind), '/'), id));
}

/**
 * An id like `seed` that puts an actor of this kind on the shard of another actor, permanently: always the same for the same seed. Costs
 * about 1,000 short hashes: what stands before the counted part is hashed once, and no text is made of an id that does not fit.
 */
export function idBeside<Id extends string>(seed: Id, kind: string, other: Address): Id {
  const shard = shardOf(other.kind, other.id);
  const counted = countedPart(seed);
  if (counted === null) return firstThatFits(seed, (steps) => shardOf(kind, steppedId(seed, steps)) === shard);
  const before = hashed(hashed(hashed(firstHash, kind), '/'), seed.slice(0, counted.at));
  const after = Uint16Array.from(seed.slice(counted.at + 4), (letter) => letter.charCodeAt(0));
  return firstThatFits(seed, (steps) => {
    const value = (counted.value + steps) % 2 ** 20;
    let hash = before;
    for (let shift = 15; shift >= 0; shift -= 5) hash = Math.imul(hash ^ codeOfDigit[(value >> shift) & 31]!, prime);
    for (let i = 0; i < after.length; i++) hash = Math.imul(hash ^ after[i]!, prime);
    return shardOfHash(hash) === shard;
  });
}

/** Whether PostgreSQL can store the id unchanged; any other id would not be found again. */
export function isActorId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed();
}

const firstHash = 0x811c9dc5;
const prime = 0x01000193;

function hashed(hash: number, text: string): number {
  let value = hash;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), prime);
  return value;
}

/** The low bits of FNV-1a are weak. */
function shardOfHash(hash: number): number {
  return ((hash ^ (hash >>> 15)) >>> 0) % shardCount;
}

function firstThatFits<Id extends string>(seed: Id, fits: (steps: number) => boolean): Id {
  let steps = 0;
  while (!fits(steps)) steps++;
  return steppedId(seed, steps);
}
