/**
 * The embedded issuer: numbers of a range that card networks reserve for tests, so that no shop accepts them. All data of a card is derived
 * from its id and the service's secret key.
 */
import { createHmac } from 'node:crypto';
import { derivedKey } from '../../../derived-key.ts';
import type { CardIssuer } from './port.ts';

const testRange = '400000';
const digitsOfNumber = 16;
const validYears = 4;

export function createEmbeddedIssuer(secretKey: string): CardIssuer {
  const detailsKey = derivedKey(secretKey, 'card details');
  const hashKey = derivedKey(secretKey, 'card numbers');
  return {
    issue(cardId, attempt) {
      const digest = createHmac('sha256', detailsKey)
        .update(JSON.stringify([cardId, attempt]))
        .digest();
      const body = testRange + decimal(digest.readUIntBE(0, 6), digitsOfNumber - testRange.length - 1);
      const number = body + checkDigit(body);
      const numberHash = createHmac('sha256', hashKey).update(number).digest('hex');
      return { number, cvv: decimal(digest.readUIntBE(6, 4), 3), last4: number.slice(-4), numberHash };
    },
    expiry(createdAtMs) {
      const created = new Date(createdAtMs);
      return `${decimal(created.getUTCMonth() + 1, 2)}/${decimal(created.getUTCFullYear() + validYears, 2)}`;
    },
  };
}

/** Luhn's: every second digit counts twice, from the last digit of the body. */
export function checkDigit(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    const digit = Number(body[body.length - 1 - i]);
    const counted = i % 2 === 0 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return String((10 - (sum % 10)) % 10);
}

function decimal(value: number, digits: number): string {
  return String(value % 10 ** digits).padStart(digits, '0');
}
