/** Tokens of a connection, encrypted at rest: those of one connection can be read for it alone. */
import { type SealedBox, sealedBox } from '../../../storage/sealed-box.ts';

export type Tokens = {
  access: string;
  /** The second token of the services that have one. */
  user: string | null;
  refresh: string | null;
  /** Renews `user`; absent or null: that token has no end. */
  userRefresh?: string | null;
  /** `api_key`: `access` is a key of the caller's, which is never renewed. */
  kind: 'oauth' | 'api_key';
};

export type TokenBox = SealedBox<Tokens>;

export const tokenBox = (secretKey: string, acceptedKeys?: readonly string[]): TokenBox =>
  sealedBox('integration tokens', secretKey, acceptedKeys);
