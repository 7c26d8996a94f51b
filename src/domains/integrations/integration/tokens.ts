/** Tokens of a connection, encrypted at rest: those of one connection can be read for it alone. */
import { Secrets } from '../../../storage/secrets.ts';

const purpose = 'integration tokens';

export type Tokens = {
  access: string;
  /** The second token of the services that have one. */
  user: string | null;
  refresh: string | null;
  /** `api_key`: `access` is a key of the caller's, which is never renewed. */
  kind: 'oauth' | 'api_key';
};

export type TokenBox = {
  seal(tokens: Tokens, id: string): string;
  /** Throws `SecretError`. */
  open(sealed: string, id: string): Tokens;
};

export function tokenBox(secretKey: string, acceptedKeys: readonly string[] = []): TokenBox {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return {
    seal: (tokens, id) => secrets.encrypt(purpose, JSON.stringify(tokens), id),
    open: (sealed, id) => JSON.parse(secrets.decrypt(purpose, sealed, id)) as Tokens,
  };
}
