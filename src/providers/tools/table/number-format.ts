/**
 * Numbers as people write them: 1,234.56 and 1.234,56, currency signs, percent, negatives in parentheses.
 * Which of the two styles a column is written in is decided by the whole column (survey.ts): "1,234" alone does not say.
 */
import type { Cell } from './cell.ts';

/** What stands before the decimals: 1,234.56 is `dot`, 1.234,56 is `comma`. */
export type NumberStyle = 'dot' | 'comma';

/** `decimals` is how many were written, so that sums can be exact; `unit` is a currency or `%`, empty without one. */
export type ParsedNumber = { value: number; decimals: number; unit: string };

const plain = /^-?(?:0|[1-9]\d{0,14})(?:\.(\d{1,12}))?$/;
const currency = 'US\\$|A\\$|C\\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|kr';
const wrapped = new RegExp(`^(${currency})?\\s*(.*?)\\s*(${currency}|%)?$`);
const digits = {
  dot: /^(?:(?:0|[1-9]\d*)|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3})+)?(?:\.(\d*))?(?:[eE][+-]?\d{1,3})?$/,
  comma: /^(?:(?:0|[1-9]\d*)|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3})+)?(?:,(\d*))?(?:[eE][+-]?\d{1,3})?$/,
};
const longestNumber = 40;
const mostExactDigits = 15;

/** Reads a cell as a number; null when it is none. Numbers with leading zeros or more digits than a number holds exactly are codes, not numbers. */
export function parseNumber(cell: Cell, style: NumberStyle): ParsedNumber | null {
  if (typeof cell === 'number') return fromNumber(cell);
  if (typeof cell !== 'string' || cell.length === 0 || cell.length > longestNumber) return null;
  if (style === 'dot') {
    const quick = plain.exec(cell);
    if (quick !== null) return { value: Number(cell), decimals: quick[1]?.length ?? 0, unit: '' };
  }
  return parseDressed(cell.trim(), style);
}

/** True for texts of digits that are no quantity: zip codes, phone numbers, long identifiers. */
export function isDigitCode(cell: Cell): boolean {
  return typeof cell === 'string' && /^\s*(?:0\d+|\d{16,40})\s*$/.test(cell);
}

function fromNumber(value: number): ParsedNumber | null {
  if (!Number.isFinite(value)) return null;
  const text = String(value);
  const point = text.indexOf('.');
  // An exponent means digits beyond what is worth keeping exact.
  const decimals = text.includes('e') ? mostExactDigits : point < 0 ? 0 : text.length - point - 1;
  return { value, decimals, unit: '' };
}

function parseDressed(text: string, style: NumberStyle): ParsedNumber | null {
  // No currency has a name this long, and most texts do: a cheap no.
  if (/[A-Za-z]{4}/.test(text)) return null;
  const code = text.charCodeAt(0);
  const inParentheses = code === 40 && text.endsWith(')');
  let body = (inParentheses ? text.slice(1, -1).trim() : text).replace('−', '-');
  let sign = inParentheses ? -1 : 1;
  let unit = '';
  const before = /^[+-]/.exec(body);
  if (before !== null) {
    if (before[0] === '-') sign = -sign;
    body = body.slice(1).trimStart();
  }
  const parts = wrapped.exec(body);
  if (parts === null) return null;
  unit = parts[1] ?? parts[3] ?? '';
  let inner = parts[2]!;
  // "$-5": the sign after the currency.
  if (before === null && parts[1] !== undefined && inner.startsWith('-')) {
    sign = -sign;
    inner = inner.slice(1);
  }
  const match = digits[style].exec(inner);
  if (match === null || !/\d/.test(inner) || (match[1] === undefined && countDigits(inner) > mostExactDigits)) return null;
  const normal = style === 'dot' ? inner.replace(/[, \u00a0\u202f'’]/g, '') : inner.replace(/[. \u00a0\u202f'’]/g, '').replace(',', '.');
  const value = Number(normal);
  if (!Number.isFinite(value)) return null;
  const decimals = /[eE]/.test(inner) ? mostExactDigits : (match[1]?.length ?? 0);
  return { value: value === 0 ? 0 : sign * value, decimals, unit };
}

function countDigits(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 57) count++;
  }
  return count;
}
