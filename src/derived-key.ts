/** Keys derived from SECRET_KEY, one for each purpose, so that none can be used for another. */
import { hkdfSync } from 'node:crypto';

/** 32 bytes derived from the secret key and the purpose. */
export function derivedKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'troupe', purpose, 32));
}
