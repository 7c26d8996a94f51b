/** Money: integer minor units (cents) inside, a JSON number of major units outside. */

/** @param major with two decimals at most; binary fractions near it are meant */
export function toMinor(major: number): number {
  return Math.round(major * 100);
}

export function toMajor(minor: number): number {
  return minor / 100;
}
