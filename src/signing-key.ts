/** The key that signs and verifies tokens: Ed25519, derived from SECRET_KEY, so that all nodes of a cluster have the same. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { derivedKey } from './derived-key.ts';

/** `id` identifies the key without revealing it. */
export type SigningKey = { privateKey: KeyObject; publicKey: KeyObject; id: string };

/** Any 32 bytes are an Ed25519 key: these are derived from the secret key. */
export function signingKey(secretKey: string): SigningKey {
  const seed = derivedKey(secretKey, 'token signing');
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const id = createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('base64url')
    .slice(0, 16);
  return { privateKey, publicKey, id };
}
