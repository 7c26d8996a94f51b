/** Converts decimal texts of stored records to whole numbers of billionths. They were validated before they were stored. */
import { nanoOfText, roundedToNano } from '../decimal.ts';

/** Throws `RangeError` for a text that is not a decimal of at most nine places. */
export function nanoIn(text: string): bigint {
  const nano = nanoOfText(text);
  if (nano === null) throw new RangeError(`${text} is not a decimal of at most nine places`);
  return nano;
}

/** A price of the market, which is a number. */
export function nanoPrice(price: number): bigint {
  return roundedToNano(price);
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function sizeOf(nano: bigint): bigint {
  return nano < 0n ? -nano : nano;
}
