/** Text that only this installation can read: AES-256-GCM, with a key made for one purpose. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { derivedKey } from '../derived-key.ts';

export interface Sealer {
  /** @param about where the sealed text belongs; it opens nowhere else */
  seal(text: string, about: string): string;
  /** null: altered, sealed for another place, or with another secret key. */
  open(sealed: string, about: string): string | null;
}

const nonceBytes = 12;
const tagBytes = 16;

export function createSealer(secretKey: string, purpose: string): Sealer {
  const key = derivedKey(secretKey, purpose);
  return {
    seal(text, about) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, about) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < nonceBytes + tagBytes) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-tagBytes));
      try {
        return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // The only thing that can fail here is the tag.
        return null;
      }
    },
  };
}
