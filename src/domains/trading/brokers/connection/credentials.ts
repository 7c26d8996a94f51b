/** Credentials of brokers, encrypted at rest: the ciphertext of a connection can be decrypted for this connection only. */
import { type SealedBox, sealedBox } from '../../../../storage/sealed-box.ts';
import type { VenueCredentials } from '../open-broker.ts';

export type CredentialBox = SealedBox<VenueCredentials>;

export const credentialBox = (secretKey: string, acceptedKeys?: readonly string[]): CredentialBox =>
  sealedBox('broker credentials', secretKey, acceptedKeys);
