/**
 * Counts the values of a JSON text before it is parsed. A parser cannot pause, and many small values cost it far more than their bytes: a
 * MiB of `[],[],` takes as long as ten MiB of text. Takes the text in pieces; for invalid JSON the count is arbitrary, and the parser
 * refuses it.
 */
import { withStorableText } from './storable-text.ts';

export type JsonLimits = {
  maxDepth: number;
  /** Values and names together. */
  maxValues: number;
};

/** Of an answer of another service, such as a broker or a host: a long list of orders or of file hashes. Parsing takes a few tens of milliseconds. */
export const answerLimits: JsonLimits = { maxDepth: 32, maxValues: 200_000 };

/** Escapes of NUL and of surrogates. */
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/i;

/** Text that cannot be stored is replaced in the value (`storableText`). undefined: it is no JSON, or exceeds the limits. */
export function parseWithin(bytes: Uint8Array, limits: JsonLimits): unknown {
  if (!new JsonBounds(limits).take(bytes)) return undefined;
  try {
    const text = new TextDecoder().decode(bytes);
    const value = JSON.parse(text);
    return mayBeUnstorable.test(text) ? withStorableText(value) : value;
  } catch {
    return undefined;
  }
}

export class JsonBounds {
  private readonly limits: JsonLimits;
  /** Why `take` returned false. */
  isTooDeep = false;
  private depth = 0;
  private values = 0;
  private inString = false;
  private escaped = false;

  constructor(limits: JsonLimits) {
    this.limits = limits;
  }

  /** False once the text is nested too deeply or contains too many values. Bytes above 0x7f never equal an examined character. */
  take(bytes: Uint8Array): boolean {
    const { maxDepth, maxValues } = this.limits;
    // Local variables: fields would be stored for each byte.
    let { depth, values, inString, escaped } = this;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) inString = false;
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x5b || byte === 0x7b) {
        this.isTooDeep = ++depth > maxDepth;
        if (this.isTooDeep || ++values > maxValues) return false;
      } else if (byte === 0x5d || byte === 0x7d) depth--;
      else if ((byte === 0x2c || byte === 0x3a) && ++values > maxValues) return false;
    }
    this.depth = depth;
    this.values = values;
    this.inString = inString;
    this.escaped = escaped;
    return true;
  }
}
