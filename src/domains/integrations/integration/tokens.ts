/** Tokens of a connection, encrypted at rest: the ciphertext of one connection can be decrypted for this connection only. */
import { type SealedBox, sealedBox } from '../../../storage/sealed-box.ts';

export type Tokens = {
  access: string;
  /** The second token of the services that have one. */
  user: string | null;
  refresh: string | null;
  /** Renews `user`; absent or null: that token does not expire. */
  userRefresh?: string | null;
  /** `api_key`: `access` is the caller's key, which is never renewed. */
  kind: 'oauth' | 'api_key';
};

export type TokenBox = SealedBox<Tokens>;

export const tokenBox = (secretKey: string, acceptedKeys?: readonly string[]): TokenBox =>
  sealedBox('integration tokens', secretKey, acceptedKeys);
