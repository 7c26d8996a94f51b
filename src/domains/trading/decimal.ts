/**
 * Decimals of the books: whole numbers of billionths (BigInt, "nano"), so that sums and products are exact and a position of fractions closes to
 * exactly 0. JSON has numbers: a number stands for the decimal that is printed for it, which is the one that was written for up to 15 digits.
 */

/** 1 in billionths. */
export const one = 1_000_000_000n;

const places = 9;
/** Whole numbers below this are exact as numbers. */
const exactBelow = 9_007_199_254_740_992n;
const powers = Array.from({ length: places + 1 }, (_, n) => 10 ** n);
const zero = 0x30;
const dot = 0x2e;
const decimalText = /^(-?)(\d{1,24})(?:\.(\d{1,40}))?$/;
const exponentText = /^(-?)(\d)(?:\.(\d{1,20}))?e-(\d{1,3})$/;

/** The decimal in billionths; null if it is not finite, is 10^21 or more, or has more than nine places. */
export function nanoOf(value: number): bigint | null {
  const text = String(value);
  return nanoOfText(text) ?? nanoOfText(withoutExponent(text));
}

/** As `nanoOf`, for decimals sent as texts: `"12.5"`. Zeros after the ninth place are accepted. */
export function nanoOfText(text: string): bigint | null {
  const small = smallNanoOf(text);
  if (small !== null) return BigInt(small);
  const parts = decimalText.exec(text);
  if (parts === null) return null;
  const fraction = withoutEndZeros(parts[3] ?? '');
  if (fraction.length > places) return null;
  const size = BigInt(parts[2]! + fraction.padEnd(places, '0'));
  return parts[1] === '' ? size : -size;
}

/** Throws `RangeError` for what `nanoOf` refuses: for numbers that were validated, or that this program computed. */
export function toNano(value: number): bigint {
  const nano = nanoOf(value);
  if (nano === null) throw new RangeError(`${value} is not a decimal of at most ${places} places`);
  return nano;
}

/** As `toNano`, after rounding to the nearest nine places: for results of floating point. */
export function roundedToNano(value: number): bigint {
  return nanoOf(value) ?? toNano(Number(value.toFixed(places)));
}

/** `1.5`, `-0.000000001`, `3`: no exponent, no zeros at the end. */
export function nanoText(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  if (size < exactBelow) {
    const small = Number(size);
    const rest = small % 1e9;
    const whole = `${nano < 0n ? '-' : ''}${(small - rest) / 1e9}`;
    return rest === 0 ? whole : `${whole}.${withoutEndZeros(String(rest).padStart(places, '0'))}`;
  }
  const fraction = withoutEndZeros(String(size % one).padStart(places, '0'));
  return `${nano < 0n ? '-' : ''}${size / one}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The number nearest to the decimal: JSON prints it as the decimal again for up to 15 digits. */
export function fromNano(nano: bigint): number {
  // Both are exact, so the quotient is the nearest number.
  if (-exactBelow < nano && nano < exactBelow) return Number(nano) / 1e9;
  return Number(nanoText(nano));
}

/** How many decimal places the number is printed with, at most 400. */
export function decimalPlaces(value: number): number {
  const text = String(value);
  const plain = text.includes('e') ? withoutExponent(text) : text;
  const point = plain.indexOf('.');
  return point === -1 ? 0 : plain.length - point - 1;
}

/** Quotient of whole numbers, ties to the even neighbour. Throws `RangeError` for a divisor of 0. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const sign = dividend < 0n !== divisor < 0n ? -1n : 1n;
  const n = dividend < 0n ? -dividend : dividend;
  const d = divisor < 0n ? -divisor : divisor;
  const floor = n / d;
  const twice = (n % d) * 2n;
  const up = twice > d || (twice === d && floor % 2n === 1n);
  return sign * (up ? floor + 1n : floor);
}

/** The product in billionths, rounded half-even to nine places. For sums of products add those of `exactProduct` and round once. */
export function multiply(a: bigint, b: bigint): bigint {
  return divideHalfEven(a * b, one);
}

/** The quotient in billionths, rounded half-even to nine places. */
export function divide(a: bigint, b: bigint): bigint {
  return divideHalfEven(a * one, b);
}

/** Quantity times price, exact: in units of 10^-18. */
export function exactProduct(a: bigint, b: bigint): bigint {
  return a * b;
}

/** Billionths of a dollar to whole cents, half-even. */
export function centsOfNano(nano: bigint): bigint {
  return divideHalfEven(nano, 10_000_000n);
}

/** A product of `exactProduct` to whole cents, half-even. */
export function centsOfProduct(product: bigint): bigint {
  return divideHalfEven(product, 10_000_000n * one);
}

/** Rounds to a multiple of `step`, half-even, or towards one side. @param step in billionths, more than 0 */
export function roundToStep(nano: bigint, step: bigint, side: 'nearest' | 'down' | 'up' = 'nearest'): bigint {
  if (side === 'nearest') return divideHalfEven(nano, step) * step;
  const rest = ((nano % step) + step) % step;
  if (rest === 0n) return nano;
  return side === 'down' ? nano - rest : nano - rest + step;
}

/** `1.5e-7` → `0.00000015`; anything else unchanged. */
function withoutExponent(text: string): string {
  const parts = exponentText.exec(text);
  if (parts === null) return text;
  const [, sign, first, rest = '', exponent] = parts;
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${first}${rest}`;
}

/** Most decimals are short: computing them as whole numbers that doubles hold exactly is much cheaper. null: not one of these. */
function smallNanoOf(text: string): number | null {
  const { length } = text;
  let point = -1;
  let digits = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === dot && point === -1) point = i;
    else if (code >= zero && code <= zero + 9) digits = digits * 10 + (code - zero);
    else return null;
  }
  const wholes = point === -1 ? length : point;
  const behind = length - wholes - 1;
  if (wholes === 0 || wholes > 6 || behind > places || behind === 0) return null;
  return digits * powers[places - Math.max(behind, 0)]!;
}

function withoutEndZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}
