/**
 * Randomness of the embedded feed: hashes of the requested place, without state. Only additions, products, quotients and square roots,
 * whose bits IEEE 754 defines: `Math.exp`, `Math.log` and `Math.sin` may differ between engines, and prices must not.
 */

/** 32 bits of a text. */
export function seedOf(text: string): number {
  let h = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) h = Math.imul(h ^ text.charCodeAt(n), 0x01000193);
  return mix(h);
}

/** 32 bits of a seed and a number. */
export function hash(seed: number, n: number): number {
  return mix(mix(seed ^ Math.imul(n, 0x9e3779b1)) + n);
}

/** From 0 inclusive to 1 exclusive. */
export function uniform(seed: number, n: number): number {
  return hash(seed, n) / 4_294_967_296;
}

/** Mean 0, deviation 1, never beyond ±3.47: four uniform numbers added. */
export function gaussian(seed: number, n: number): number {
  const first = hash(seed, n);
  const second = mix(first ^ 0x5bd1e995);
  return ((first & 0xffff) + (first >>> 16) + (second & 0xffff) + (second >>> 16) - 131_070) / 37_837.227_172;
}

/** e to the power of x, for x from -700 to 700. */
export function exp(x: number): number {
  const n = Math.round(x * Math.LOG2E);
  const r = x - n * 0.693_147_180_369_123_8 - n * 1.908_214_929_270_587_7e-10;
  let sum = 1;
  for (let k = 13; k > 0; k--) sum = 1 + (r * sum) / k;
  exponent[1] = (n + 1023) << 20;
  return sum * power[0]!;
}

/** The natural logarithm of a positive number: Newton's steps on `exp`. Slow; for tables. */
export function log(value: number): number {
  let x = 0;
  let rest = value;
  for (; rest > 1.5; x += Math.LN2) rest /= 2;
  for (; rest < 0.75; x -= Math.LN2) rest *= 2;
  for (let k = 0; k < 6; k++) {
    const power = exp(x);
    x += (2 * (value - power)) / (value + power);
  }
  return x;
}

const power = new Float64Array(1);
const exponent = new Uint32Array(power.buffer);

/** Each bit of the result depends on each bit of the input (two rounds of multiply and shift, constants of Chris Wellons' hash search). */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
