/** Values of one kind, encrypted at rest: what was sealed for one place, such as a row, can be opened for it alone. */
import { Secrets } from './secrets.ts';

export type SealedBox<T> = {
  seal(value: T, about: string): string;
  /** Throws `SecretError`. */
  open(sealed: string, about: string): T;
};

/** @param purpose part of the key: never change it */
export function sealedBox<T>(purpose: string, secretKey: string, acceptedKeys: readonly string[] = []): SealedBox<T> {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return {
    seal: (value, about) => secrets.encrypt(purpose, JSON.stringify(value), about),
    open: (sealed, about) => JSON.parse(secrets.decrypt(purpose, sealed, about)) as T,
  };
}
