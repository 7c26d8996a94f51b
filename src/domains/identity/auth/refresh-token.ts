/**
 * Refresh tokens: `mr_`, the session's ULID, 43 random base62 characters, and a tag made with the service's key. Only the hash of the
 * random part is stored. The tag distinguishes issued tokens from forged ones, so an attacker cannot end a session by guessing.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../../../derived-key.ts';
import { identityIds } from '../ids.ts';
import { base62 } from './base62.ts';

export interface RefreshTokens {
  issue(sessionId: string): { text: string; hash: string };
  /** null: never issued by this service. The session's actor decides whether it is still valid. */
  read(text: string): { sessionId: string; hash: string } | null;
}

const shape = /^mr_([0-9a-z]{26})_([0-9A-Za-z]{43})([0-9A-Za-z]{22})$/;

/** @param acceptedKeys other keys whose tags are accepted */
export function createRefreshTokens(secretKey: string, acceptedKeys: readonly string[] = []): RefreshTokens {
  const keys = [secretKey, ...acceptedKeys].map((root) => derivedKey(root, 'refresh tokens')) as [Buffer, ...Buffer[]];
  const tagOf = (ulid: string, body: string, key = keys[0]): string =>
    base62(createHmac('sha256', key).update(`${ulid}_${body}`).digest().subarray(0, 16), 22);
  return {
    issue(sessionId) {
      const ulid = sessionId.slice(identityIds.session.length);
      const body = base62(randomBytes(32), 43);
      return { text: `mr_${ulid}_${body}${tagOf(ulid, body)}`, hash: hashOf(body) };
    },
    read(text) {
      const match = shape.exec(text);
      if (match === null) return null;
      const [, ulid, body, tag] = match as unknown as [string, string, string, string];
      if (!keys.some((key) => timingSafeEqual(Buffer.from(tagOf(ulid, body, key)), Buffer.from(tag)))) return null;
      return { sessionId: identityIds.session + ulid, hash: hashOf(body) };
    },
  };
}

function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
