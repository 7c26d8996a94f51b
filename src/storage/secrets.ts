/**
 * Secrets at rest: AES-256-GCM with a separate key for every purpose, derived from SECRET_KEY, so that a text encrypted for one purpose
 * cannot be used for another. The text names its root key: texts of an earlier SECRET_KEY are readable as long as that key is accepted;
 * later they are reported as such, not as damaged.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { derivedKey } from '../derived-key.ts';

/** A text that was not encrypted here for this purpose, was changed since, or needs a SECRET_KEY that this service does not have. */
export class SecretError extends Error {
  override name = 'SecretError';
}

const version = 's1';
const nonceBytes = 12;
const tagBytes = 16;

export class Secrets {
  /** Identifies the root key that encrypts, without revealing it. */
  readonly keyId: string;
  private readonly roots: Map<string, string>;
  private readonly keys = new Map<string, Buffer>();

  /**
   * @param rootKey SECRET_KEY: 32 characters or more
   * @param acceptedKeys other keys with which texts may be encrypted
   */
  constructor(rootKey: string, acceptedKeys: readonly string[] = []) {
    this.roots = new Map([rootKey, ...acceptedKeys].map((root) => [keyIdOf(root), root]));
    this.keyId = keyIdOf(rootKey);
    // Keys are not enumerable, so that printing or logging this object does not show them.
    for (const hidden of ['roots', 'keys'] as const) Object.defineProperty(this, hidden, { enumerable: false });
  }

  /**
   * The plaintext as `s1.<key id>.<base64url of nonce, ciphertext, tag>`; different each time.
   *
   * @param purpose a constant of the program, never a caller's text: keys are cached by it
   * @param about the place of the text, e.g. its row; the text can be decrypted only for the same place
   */
  encrypt(purpose: string, plaintext: string, about = ''): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.keyFor(this.keyId, purpose), nonce);
    cipher.setAAD(bound(this.keyId, purpose, about));
    const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${this.keyId}.${sealed.toString('base64url')}`;
  }

  /** Decrypts a text of the same purpose and place. Throws `SecretError`. */
  decrypt(purpose: string, text: string, about = ''): string {
    const [textVersion, keyId = '', body = '', ...rest] = text.split('.');
    const sealed = Buffer.from(body, 'base64url');
    if (textVersion !== version || rest.length > 0 || sealed.length < nonceBytes + tagBytes)
      throw new SecretError('This is no encrypted text');
    if (!this.roots.has(keyId)) throw new SecretError('This was encrypted with another SECRET_KEY');
    const decipher = createDecipheriv('aes-256-gcm', this.keyFor(keyId, purpose), sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(bound(keyId, purpose, about));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      const plain = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      return plain.toString('utf8');
    } catch (cause) {
      throw new SecretError('The encrypted text was changed, or belongs elsewhere', { cause });
    }
  }

  /** Whether the text is encrypted with the current key; if not, encrypt it again at the next write. */
  isCurrent(text: string): boolean {
    return text.split('.')[1] === this.keyId;
  }

  private keyFor(keyId: string, purpose: string): Buffer {
    const name = `${keyId} ${purpose}`;
    let key = this.keys.get(name);
    if (key === undefined) this.keys.set(name, (key = derivedKey(this.roots.get(keyId)!, `encrypt ${purpose}`)));
    return key;
  }
}

function keyIdOf(rootKey: string): string {
  return createHash('sha256').update(derivedKey(rootKey, 'key id')).digest('hex').slice(0, 8);
}

function bound(keyId: string, purpose: string, about: string): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, purpose, about]));
}
