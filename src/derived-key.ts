/** Keys for one purpose each, derived from SECRET_KEY, so that none can stand in for another. */
import { hkdfSync } from 'node:crypto';

/** 32 bytes that follow from the secret key and the purpose. */
export function derivedKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'troupe', purpose, 32));
}
