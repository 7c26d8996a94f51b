/**
 * Identifiers: a prefix that names the resource and 26 characters of lower-case Crockford base32, a ULID (github.com/ulid/spec): 48 bits of
 * milliseconds, 70 random bits, and in the last two characters the slot of the account it belongs to: the last two characters of
 * the account's own id. What belongs to no account ends at random, as all ids do that were made before ids carried a slot.
 */
import { createHash, randomFillSync } from 'node:crypto';
import { encodeTime, incrementBase32 } from 'ulid';
import { systemClock } from './clock.ts';

/** What ids of the platform begin with; those of a domain are in its `ids.ts`. No two are the same. */
export const idPrefixes = { event: 'evt_', request: 'req_', message: 'msg_', effect: 'eff_', call: 'call_' } as const;
export type IdPrefix = `${string}_` | `${string}-`;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const upperAlphabet = alphabet.toUpperCase();
/** The two characters of each number below 1,024. */
const pairs = Array.from({ length: 1024 }, (_, value) => alphabet[value >> 5]! + alphabet[value & 31]!);
const notInAlphabet = 255;
const valueOfCode = new Uint8Array(128).fill(notInAlphabet);
for (let value = 0; value < alphabet.length; value++) valueOfCode[alphabet.charCodeAt(value)] = value;
const ulidLength = 26;
const counterLength = 14;

/**
 * A new id, larger than every earlier one of this process made with the same or an earlier clock, whatever their slots.
 *
 * @param owner whose slot it carries: the id of the account it belongs to, or any id that carries that account's slot. A random one where this is null,
 * for what belongs to no account, or an id of another form.
 */
export function newId<P extends IdPrefix>(prefix: P, owner: string | null, nowMs: number = systemClock.nowMs()): `${P}${string}` {
  return `${prefix}${nextUlid(nowMs, owner === null ? noSlot : slotIn(owner))}`;
}

/** The slot that the id carries; null for what is no id of this form. */
export function slotOf(id: string): number | null {
  const slot = slotIn(id);
  return slot === noSlot ? null : slot;
}

/**
 * The id that always belongs to these names and the owner's slot: the same names give the same id, on every node. Without an owner the last two
 * characters follow from the names too, as they did in versions before ids carried a slot.
 *
 * @param owner as `newId` takes it
 */
export function derivedId<P extends IdPrefix>(prefix: P, owner: string | null, ...names: string[]): `${P}${string}` {
  const digest = createHash('sha256').update(JSON.stringify(names)).digest();
  // 26 characters hold 130 bits: the first one stays below 8 so that the value fits 128 bits, as in a ULID.
  const head = encode(digest[15]! & 0xff, 2);
  const parts = [encode(digest.readUIntBE(0, 5), 8), encode(digest.readUIntBE(5, 5), 8), encode(digest.readUIntBE(10, 5), 8)];
  const ulid = `${head}${parts.join('')}`;
  const slot = owner === null ? noSlot : slotIn(owner);
  return `${prefix}${slot === noSlot ? ulid : `${ulid.slice(0, -2)}${pairs[slot]}`}`;
}

/**
 * The same id with another random part and the same slot; ids that one process made in one millisecond stay different. There are 2^20 steps.
 */
export function steppedId<Id extends string>(id: Id, steps: number): Id {
  // The upper characters of the random part: what is counted up within a millisecond are lower ones.
  const at = id.length - 16;
  let value = 0;
  for (const letter of id.slice(at, at + 4)) value = value * 32 + alphabet.indexOf(letter);
  return `${id.slice(0, at)}${encode((value + steps) % 2 ** 20, 4)}${id.slice(at + 4)}` as Id;
}

/** Where in an id `steppedId` counts, and from which number; null for what is no id of this form. */
export function countedPart(id: string): { at: number; value: number } | null {
  const at = id.length - 16;
  if (at < 0) return null;
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = valueOfCode[id.charCodeAt(i)] ?? notInAlphabet;
    if (digit === notInAlphabet) return null;
    value = value * 32 + digit;
  }
  return { at, value };
}

/** The code of the letter that encodes a number below 32. */
export const codeOfDigit: Readonly<Uint8Array> = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0));

const noSlot = -1;

function slotIn(id: string): number {
  const { length } = id;
  if (length <= ulidLength) return noSlot;
  const separator = id.charCodeAt(length - ulidLength - 1);
  if (separator !== underscore && separator !== hyphen) return noSlot;
  const upper = valueOfCode[id.charCodeAt(length - 2)] ?? notInAlphabet;
  const lower = valueOfCode[id.charCodeAt(length - 1)] ?? notInAlphabet;
  return upper === notInAlphabet || lower === notInAlphabet ? noSlot : (upper << 5) | lower;
}

const underscore = 0x5f;
const hyphen = 0x2d;

/**
 * Makes the 26 characters. Those of one source grow, for any slot: the counter within a millisecond is more significant than the slot.
 *
 * @param fill fills a buffer with random bytes
 */
export function ulidSource(fill: (bytes: Uint8Array) => void): (nowMs: number, slot: number) => string {
  const pool = new Uint8Array(4096);
  let used = pool.length;
  let lastMs = -1;
  let time = '';
  /** The random characters above the slot, in upper case, as the package counts. */
  let counter = '';

  function randomByte(): number {
    if (used === pool.length) {
      fill(pool);
      used = 0;
    }
    return pool[used++]!;
  }

  return function nextUlid(nowMs, slot) {
    if (nowMs > lastMs) {
      lastMs = nowMs;
      time = encodeTime(nowMs).toLowerCase();
      // The first bit stays clear: counting up 14 characters from there comes to no end.
      counter = upperAlphabet[randomByte() & 15]!;
      for (let i = 1; i < counterLength; i++) counter += upperAlphabet[randomByte() & 31];
    } else {
      counter = incrementBase32(counter);
    }
    const ending = slot === noSlot ? ((randomByte() & 3) << 8) | randomByte() : slot;
    return time + counter.toLowerCase() + pairs[ending];
  };
}

const nextUlid = ulidSource(randomFillSync);

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
