/**
 * The text of an API key: `mk_live_` or `mk_test_`, 43 base62 characters (256 bits) and a checksum of them in 6. The checksum detects a
 * typo without a look-up; the hash covers only the 43, so every prefix gives the same key.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { derivedKey } from '../../../derived-key.ts';
import { base62 } from './base62.ts';

export type KeyMode = 'live' | 'test';
export type ApiKeySecret = { text: string; hash: string; lastFour: string };
/** `mode` is null if the prefix does not contain it. */
export type ReadApiKey = { hash: string; mode: KeyMode | null };

export interface ApiKeySecrets {
  /**
   * A new secret. The same command id gives the same secret: a repeated creation, whose answer was lost, must return the secret whose hash
   * is stored.
   */
  create(mode: KeyMode, commandId: string | undefined): ApiKeySecret;
}

export function createApiKeySecrets(secretKey: string): ApiKeySecrets {
  const key = derivedKey(secretKey, 'api key secrets of commands');
  return {
    create(mode, commandId) {
      const bytes = commandId === undefined ? randomBytes(32) : createHmac('sha256', key).update(commandId).digest();
      const body = base62(bytes, 43);
      const text = `mk_${mode}_${body}${checksum(body)}`;
      return { text, hash: hashOf(body), lastFour: text.slice(-4) };
    },
  };
}

const shape = /^(?:m[kt]_(live|test)_|mk_)([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** null: not an API key, or mistyped. */
export function readApiKey(text: string): ReadApiKey | null {
  const match = shape.exec(text);
  if (match === null || checksum(match[2]!) !== match[3]) return null;
  return { hash: hashOf(match[2]!), mode: (match[1] as KeyMode | undefined) ?? null };
}

function checksum(body: string): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return base62(sum, 6);
}

function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
