/**
 * The number of different values of a column, and its frequent values, in bounded memory. Counts are exact up to `limit` different values.
 * Beyond it a Misra-Gries sketch keeps every value that makes up more than 1/limit of the rows as a candidate (profile.ts counts candidates
 * again, exactly), and a HyperLogLog estimates how many different values there are (standard error 1.6 %).
 */
import type { Cell } from './cell.ts';

const registers = 4096;
const maxKeyChars = 80;

export class FrequentValues {
  private readonly limit: number;
  private counts = new Map<string, number>();
  private overflowed = false;
  private ranks: Uint8Array | undefined;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** False after more different values than the limit: counts are then lower bounds and `distinct` an estimate. */
  get exact(): boolean {
    return !this.overflowed;
  }

  add(key: string): void {
    const count = this.counts.get(key);
    if (count !== undefined) this.counts.set(key, count + 1);
    else if (this.counts.size < this.limit) this.counts.set(key, 1);
    else this.makeRoom();
    if (this.ranks !== undefined) record(this.ranks, key);
  }

  get distinct(): number {
    return this.ranks === undefined ? this.counts.size : estimate(this.ranks);
  }

  /** The most frequent first; equal counts in alphabetical order. */
  top(count: number): { key: string; count: number }[] {
    return [...this.counts]
      .map(([key, times]) => ({ key, count: times }))
      .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
      .slice(0, count);
  }

  private makeRoom(): void {
    if (this.ranks === undefined) {
      this.ranks = new Uint8Array(registers);
      for (const key of this.counts.keys()) record(this.ranks, key);
    }
    this.overflowed = true;
    for (const [key, count] of this.counts) {
      if (count === 1) this.counts.delete(key);
      else this.counts.set(key, count - 1);
    }
  }
}

/**
 * The text under which a cell is counted. Long texts are truncated and distinguished by their hash, so that a very long cell does not need
 * a very long key.
 */
export function countKey(cell: Cell): string {
  const text = typeof cell === 'string' ? cell.trim() : String(cell);
  return text.length <= maxKeyChars ? text : `${text.slice(0, maxKeyChars)}…#${hash(text).toString(16)}`;
}

/** The key without the hash of long texts, for display. */
export function shownKey(key: string): string {
  return key.length > maxKeyChars ? key.replace(/#[0-9a-f]+$/, '') : key;
}

function record(ranks: Uint8Array, key: string): void {
  const code = hash(key);
  const slot = code & (registers - 1);
  const rank = Math.clz32(code >>> 12) - 12 + 1;
  if (rank > ranks[slot]!) ranks[slot] = rank;
}

function estimate(ranks: Uint8Array): number {
  let sum = 0;
  let empty = 0;
  for (const rank of ranks) {
    sum += 2 ** -rank;
    if (rank === 0) empty++;
  }
  const raw = ((0.7213 / (1 + 1.079 / registers)) * registers * registers) / sum;
  return Math.round(raw <= 2.5 * registers && empty > 0 ? registers * Math.log(registers / empty) : raw);
}

/** FNV-1a with the finalizer of MurmurHash3, so that similar keys get different hashes. */
function hash(text: string): number {
  let code = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) code = Math.imul(code ^ text.charCodeAt(i), 0x01000193);
  code = Math.imul(code ^ (code >>> 16), 0x85ebca6b);
  code = Math.imul(code ^ (code >>> 13), 0xc2b2ae35);
  return (code ^ (code >>> 16)) >>> 0;
}
