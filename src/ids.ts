/**
 * Identifiers: a prefix that names the resource and 26 characters of lower-case Crockford base32, a ULID
 * (github.com/ulid/spec): 48 bits of milliseconds, 80 random bits. Ids of one process grow monotonically.
 */
import { createHash, randomFillSync } from 'node:crypto';
import { systemClock } from './clock.ts';

export const idPrefixes = {
  task: 'task_',
  agent: 'agnt_',
  approval: 'appr_',
  deliverable: 'dlvr_',
  workspace: 'ws_',
  file: 'wsf_',
  apiKey: 'key-',
  account: 'acct_',
  user: 'usr_',
  session: 'ses_',
  event: 'evt_',
  request: 'req_',
  message: 'msg_',
  effect: 'eff_',
  call: 'call_',
  webhook: 'wh_',
  delivery: 'whd_',
  transaction: 'txn_',
  card: 'crd_',
  authorization: 'authz_',
  purchaseOrder: 'po_',
  checkout: 'cs_',
  invoice: 'inv_',
} as const;
export type IdPrefix = (typeof idPrefixes)[keyof typeof idPrefixes];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const pool = Buffer.alloc(4096);
let poolAt = pool.length;
let lastMs = 0;
let stamp = '';
let high = 0;
let low = 0;

/** A new id, larger than every earlier one of this process made with the same or an earlier clock. */
export function newId<P extends IdPrefix>(prefix: P, nowMs: number = systemClock.nowMs()): `${P}${string}` {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    stamp = encode(nowMs, 10);
    if (poolAt + 10 > pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    // The top bit stays clear so that counting up within one millisecond cannot overflow.
    high = pool.readUIntBE(poolAt, 5) & 0x7fffffff;
    low = pool.readUIntBE(poolAt + 5, 5);
    poolAt += 10;
  } else if (++low > 0xffffffffff) {
    low = 0;
    high++;
  }
  return `${prefix}${stamp}${encode(high, 8)}${encode(low, 8)}`;
}

/** The id that always belongs to these words: the same words give the same id, on every node. */
export function derivedId<P extends IdPrefix>(prefix: P, ...words: string[]): `${P}${string}` {
  const digest = createHash('sha256').update(JSON.stringify(words)).digest();
  // 26 characters hold 130 bits: the first one stays below 8 so that the value fits 128 bits, as in a ULID.
  const parts = [encode(digest.readUIntBE(0, 5), 8), encode(digest.readUIntBE(5, 5), 8), encode(digest.readUIntBE(10, 5), 8)];
  return `${prefix}${encode(digest[15]! & 0xff, 2)}${parts.join('')}`;
}

/** The same id with another random part; ids that one process made in one millisecond stay different. There are 2^20 steps. */
export function steppedId<Id extends string>(id: Id, steps: number): Id {
  // The upper half of the random part: what is counted up within a millisecond is the lower one.
  const at = id.length - 16;
  let value = 0;
  for (const letter of id.slice(at, at + 4)) value = value * 32 + alphabet.indexOf(letter);
  return `${id.slice(0, at)}${encode((value + steps) % 2 ** 20, 4)}${id.slice(at + 4)}` as Id;
}

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
