/** Credentials of brokers, encrypted at rest: those of a connection can be read for it alone. */
import { Secrets } from '../../../../storage/secrets.ts';
import type { VenueCredentials } from '../open-broker.ts';

const purpose = 'broker credentials';

export type CredentialBox = {
  seal(credentials: VenueCredentials, connectionId: string): string;
  open(sealed: string, connectionId: string): VenueCredentials;
};

export function credentialBox(secretKey: string, acceptedKeys: readonly string[] = []): CredentialBox {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return {
    seal: (credentials, id) => secrets.encrypt(purpose, JSON.stringify(credentials), id),
    open: (sealed, id) => JSON.parse(secrets.decrypt(purpose, sealed, id)) as VenueCredentials,
  };
}
