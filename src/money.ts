/**
 * Money: integer minor units (cents) inside, a JSON number of major units with at most two decimals outside. Exact in both directions:
 * cents are never computed from fractions.
 */

/** The only currency of wallets. */
export const walletCurrency = 'USD';

/** The limit of amounts and sums, so that each is exact as a number. */
export const maxMinor = 1_000_000_000_000_000;

/** Whether a number is an amount, by its decimal digits: multiplying by 100 would refuse 0.29. */
export function isMoney(major: number): boolean {
  return amount.test(String(major));
}

/** Throws `RangeError` if it is not an amount. */
export function toMinor(major: number): number {
  const parts = amount.exec(String(major));
  const minor = parts === null ? Number.NaN : Number(`${parts[1]}${(parts[2] ?? '').padEnd(2, '0')}`);
  if (!(Math.abs(minor) <= maxMinor)) throw new RangeError(`${major} is no amount of money`);
  return minor;
}

/** The number with the amount's digits: a quotient is rounded to the nearest double, which is that number. */
export function toMajor(minor: number): number {
  return minor / 100;
}

/** A part of an amount, rounded to the nearest cent; never more than the amount. @param part of the `whole`, both whole numbers */
export function shareMinor(amountMinor: number, part: number, whole: number): number {
  return Number((2n * BigInt(amountMinor) * BigInt(part) + BigInt(whole)) / (2n * BigInt(whole)));
}

/** Numbers above 10^21 and below 10^-6 are written with an exponent: not amounts. */
const amount = /^(-?\d+)(?:\.(\d{1,2}))?$/;
