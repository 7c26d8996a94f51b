/** Numbers in letters and digits alone: a double click selects all of them, no shell or URL has to quote them. */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Big-endian bytes as `length` digits, filled up with zeros. 32 bytes fit 43 digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}
