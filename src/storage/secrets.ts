/**
 * Secrets at rest: AES-256-GCM with a key of its own for every purpose, derived from SECRET_KEY, so that what was encrypted for one purpose
 * cannot be passed off as another's. The text says which root key made it; after a change of SECRET_KEY that is told apart from damage.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { derivedKey } from '../derived-key.ts';

/** A text that was not encrypted here for this purpose, was changed since, or needs a SECRET_KEY this service does not have. */
export class SecretError extends Error {
  override name = 'SecretError';
}

const version = 's1';
const nonceBytes = 12;
const tagBytes = 16;

export class Secrets {
  /** Names the root key without telling anything about it. */
  readonly keyId: string;
  readonly #rootKey: string;
  readonly #keys = new Map<string, Buffer>();

  /** @param rootKey SECRET_KEY: 32 characters or more */
  constructor(rootKey: string) {
    this.#rootKey = rootKey;
    this.keyId = createHash('sha256').update(derivedKey(rootKey, 'key id')).digest('hex').slice(0, 8);
  }

  /**
   * The plaintext as `s1.<key id>.<base64url of nonce, ciphertext, tag>`; different each time.
   *
   * @param purpose a fixed word of the program, never of a caller: keys are remembered by it
   * @param about where the text belongs, e.g. the row it stands in; it can be read nowhere else
   */
  encrypt(purpose: string, plaintext: string, about = ''): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keyFor(purpose), nonce);
    cipher.setAAD(this.#bound(purpose, about));
    const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${this.keyId}.${sealed.toString('base64url')}`;
  }

  /** What was encrypted for the same purpose and place. Throws `SecretError`. */
  decrypt(purpose: string, text: string, about = ''): string {
    const [textVersion, keyId, body = '', ...rest] = text.split('.');
    const sealed = Buffer.from(body, 'base64url');
    if (textVersion !== version || rest.length > 0 || sealed.length < nonceBytes + tagBytes)
      throw new SecretError('This is no encrypted text');
    if (keyId !== this.keyId) throw new SecretError('This was encrypted with another SECRET_KEY');
    const decipher = createDecipheriv('aes-256-gcm', this.#keyFor(purpose), sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(this.#bound(purpose, about));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      const plain = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      return plain.toString('utf8');
    } catch (cause) {
      throw new SecretError('The encrypted text was changed, or belongs elsewhere', { cause });
    }
  }

  #keyFor(purpose: string): Buffer {
    let key = this.#keys.get(purpose);
    if (key === undefined) this.#keys.set(purpose, (key = derivedKey(this.#rootKey, `encrypt ${purpose}`)));
    return key;
  }

  #bound(purpose: string, about: string): Buffer {
    return Buffer.from(JSON.stringify([version, this.keyId, purpose, about]));
  }
}
