/** The checkout page of this service itself. Its address cannot be guessed and is the only credential for paying. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../../../derived-key.ts';
import { withoutTrailing } from '../../../trailing.ts';
import type { PaymentsProvider } from './port.ts';

/** @param acceptedKeys secret keys of addresses that were issued before the key changed */
export function createEmbeddedPayments(secretKey: string, acceptedKeys: readonly string[] = []): PaymentsProvider {
  const [own, ...others] = [secretKey, ...acceptedKeys].map((key) => derivedKey(key, 'checkout pages'));
  const sign = (key: Buffer, checkoutId: string) => createHmac('sha256', key).update(checkoutId).digest('base64url');
  return {
    pageOf: (checkoutId, publicUrl) => `${withoutTrailing(publicUrl, '/')}/checkout/${checkoutId}.${sign(own!, checkoutId)}`,
    checkoutOf(key) {
      const [checkoutId = '', signature = '', more] = key.split('.');
      if (more !== undefined || signature.length !== signatureChars) return null;
      const given = Buffer.from(signature);
      const isOurs = [own!, ...others].some((root) => {
        const made = Buffer.from(sign(root, checkoutId));
        return made.length === given.length && timingSafeEqual(made, given);
      });
      return isOurs ? checkoutId : null;
    },
  };
}

/** 256 bits in base64url. */
const signatureChars = 43;
