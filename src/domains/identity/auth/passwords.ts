/**
 * Password hashes: argon2id with 19 MiB and two passes, computed in the thread pool, a few at once and a bounded number waiting
 * (`hash-queues.ts`), so that a flood of logins costs neither the event loop nor all memory.
 */
import { randomBytes } from 'node:crypto';
import { type Algorithm, hash, type Options, verify } from '@node-rs/argon2';
import type { HashQueues, HashRequester } from './hash-queues.ts';

export interface Passwords {
  /** Throws `overloaded` when too many are waiting. */
  hash(password: string, requester: HashRequester): Promise<string>;
  /** Whether the password matches the hash. A null hash takes the same time and gives false. Throws `overloaded` likewise. */
  matches(password: string, hash: string | null, requester: HashRequester): Promise<boolean>;
}

// The package's enum exists only at compile time.
const argon2id = 2 as Algorithm;
const options: Options = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @param hashQueues schedules the hashes */
export function createPasswords(hashQueues: Pick<HashQueues, 'pass'>): Passwords {
  const dummyHash = madeUpHash();
  return {
    hash: (password, requester) => hashQueues.pass(requester, () => hash(normal(password), options)),
    matches: (password, stored, requester) =>
      hashQueues.pass(requester, async () => (await verify(stored ?? dummyHash, normal(password))) && stored !== null),
  };
}

/** Keyboards encode the same letters differently in Unicode. */
function normal(password: string): string {
  return password.normalize('NFKC');
}

/** Well-formed, as costly to check as any other, and not the hash of any known password. */
function madeUpHash(): string {
  const part = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${options.memoryCost},t=${options.timeCost},p=${options.parallelism}$${part(16)}$${part(32)}`;
}
