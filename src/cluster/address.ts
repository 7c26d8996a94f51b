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
 * about 1,000 short hashes: the part before the counter is hashed once, and no string is built for an id of another shard.
 */
export function colocatedId<Id extends string>(seed: Id, kind: string, other: Address): Id {
  const shard = shardOf(other.kind, other.id);
  const counted = countedPart(seed);
  if (counted === null) {
    let steps = 0;
    while (shardOf(kind, steppedId(seed, steps)) !== shard) steps++;
    return steppedId(seed, steps);
  }
  const before = hashed(hashed(hashed(firstHash, kind), '/'), seed.slice(0, counted.at));
  return steppedId(seed, stepsTo(shard, before, counted.value, seed.slice(counted.at + 4)));
}

/** Whether PostgreSQL can store the id unchanged; any other id would not be found again. */
export function isActorId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed();
}

const firstHash = 0x811c9dc5;
const prime = 0x01000193;
const bytes = Int32Array.from({ length: 256 }, (_, byte) => byte);

function hashed(hash: number, text: string): number {
  let value = hash;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), prime);
  return value;
}

/**
 * How often the counter of an id has to be incremented until the id is on the shard.
 *
 * The XOR with a letter below 256 changes only the lowest byte of a hash, and the change depends only on that byte. So the letters after the counter together
 * multiply the hash by a constant and add one of 256 numbers, selected by its lowest byte.
 */
function stepsTo(shard: number, before: number, counted: number, after: string): number {
  let primes = 1;
  let isOfBytes = true;
  const added = bytes.slice();
  for (let i = 0; i < after.length; i++) {
    const letter = after.charCodeAt(i);
    for (let byte = 0; byte < 256; byte++) added[byte] = Math.imul(added[byte]! ^ letter, prime);
    primes = Math.imul(primes, prime);
    isOfBytes &&= letter < 256;
  }
  for (let byte = 0; byte < 256; byte++) added[byte] = added[byte]! - Math.imul(byte, primes);
  // The first pass starts at the current value of the last of the four digits; each later pass tries all 32 values of that digit.
  for (let steps = 0; ; ) {
    const value = (counted + steps) & 0xfffff;
    let upper = before;
    for (let shift = 15; shift > 0; shift -= 5) upper = Math.imul(upper ^ codeOfDigit[(value >> shift) & 31]!, prime);
    for (let digit = value & 31; digit < 32; digit++, steps++) {
      const hash = Math.imul(upper ^ codeOfDigit[digit]!, prime);
      const result = isOfBytes ? Math.imul(hash, primes) + added[hash & 255]! : hashed(hash, after);
      if (shardOfHash(result) === shard) return steps;
    }
  }
}

/** The low bits of FNV-1a are weak. */
function shardOfHash(hash: number): number {
  return (hash ^ (hash >>> 15)) & (shardCount - 1);
}
