/**
 * Parses numbers in usual notations: 1,234.56 and 1.234,56, 1 234, currency signs, units, percent, negatives in parentheses or with a
 * trailing sign. The whole column decides its style (survey.ts): "1,234" alone is ambiguous. Scanned by hand: each cell is read once,
 * whatever it contains.
 */
import type { Cell } from './cell.ts';

/** The mark before the decimals: 1,234.56 is `dot`, 1.234,56 is `comma`. */
export type NumberStyle = 'dot' | 'comma';

/** `decimals` is the number of written decimals, so that sums can be exact; `unit` is a currency, a unit of measure or `%`, empty without one. */
export type ParsedNumber = { value: number; decimals: number; unit: string };

const maxNumberChars = 40;
const maxExactDigits = 15;
const currencies = new Map<string, string>(
  (
    '$ $|US$ $|USD $|A$ A$|C$ C$|CA$ C$|AU$ A$|€ €|EUR €|Euro €|euro €|£ £|GBP £|¥ ¥|JPY ¥|₹ ₹|INR ₹|Rs ₹|CHF CHF|Fr. CHF|CAD C$|AUD A$|SEK SEK|NOK NOK|DKK DKK|PLN PLN|zł PLN|' +
    'CZK CZK|Kč CZK|HUF HUF|BRL BRL|R$ BRL|CNY CNY|TRY TRY|₺ TRY|ZAR ZAR|BTC BTC|ETH ETH|USDT USDT|kr kr|kr. kr'
  )
    .split('|')
    .map((pair) => pair.split(' ') as [string, string]),
);
const measures = new Set(
  (
    '% ‰ kg g mg t lb lbs oz km m cm mm mi ft in m² m2 m³ m3 ha l L ml cl h hr hrs hours Std min mins sec s ms d days Tage W kW MW kWh MWh Wh V mV A mA Ω Hz kHz MHz ' +
    '°C °F °K K °C/h bar mbar hPa kPa Pa rpm kB KB MB GB TB kbit Mbit Mbps km/h mph m/s pcs pc Stk Stk. Stück St pts pt dB lx ppm kcal px'
  ).split(' '),
);

/**
 * Parses a cell as a number; null if it is not one. Numbers with leading zeros, or with more digits than a double represents exactly, are
 * codes.
 */
export function parseNumber(cell: Cell, style: NumberStyle): ParsedNumber | null {
  if (typeof cell === 'number') return fromNumber(cell);
  if (typeof cell !== 'string' || cell.length === 0 || cell.length > maxNumberChars + 20) return null;
  const text = cell.trim();
  if (text.length === 0 || text.length > maxNumberChars) return null;
  return parseDressed(text, style);
}

/** As `parseNumber`; a cell that only the other style can read, such as 12,50 among 3.75, is parsed in that style. */
export function parseEither(cell: Cell, style: NumberStyle): ParsedNumber | null {
  return parseNumber(cell, style) ?? (typeof cell === 'string' ? parseNumber(cell, style === 'dot' ? 'comma' : 'dot') : null);
}

/** True for digits that are not a quantity: zip codes, phone numbers, long identifiers. */
export function isDigitCode(cell: Cell): boolean {
  if (typeof cell !== 'string' || cell.length > 60) return false;
  const text = cell.trim();
  if (text.length < 2 || text.length > 40) return false;
  for (let i = 0; i < text.length; i++) if (!isDigit(text.charCodeAt(i))) return false;
  return text[0] === '0' || text.length > maxExactDigits;
}

/** The currency symbol for a code or symbol; undefined for any other text. */
export function currencyOf(text: string): string | undefined {
  return currencies.get(text);
}

function fromNumber(value: number): ParsedNumber | null {
  if (!Number.isFinite(value)) return null;
  const text = String(value);
  const point = text.indexOf('.');
  // An exponent means more digits than are kept exactly.
  const decimals = text.includes('e') ? maxExactDigits : point < 0 ? 0 : text.length - point - 1;
  return { value, decimals, unit: '' };
}

function parseDressed(written: string, style: NumberStyle): ParsedNumber | null {
  let text = written;
  // Spreadsheets put an apostrophe before text cells.
  if (text[0] === "'" || text[0] === '’') text = text.slice(1).trimStart();
  let negative = false;
  if (text[0] === '(' && text.endsWith(')')) {
    negative = true;
    text = text.slice(1, -1).trim();
  }
  let signed = false;
  const takeSign = () => {
    if (signed || (text[0] !== '-' && text[0] !== '−' && text[0] !== '+' && text[0] !== '–')) return;
    signed = true;
    if (text[0] !== '+') negative = !negative;
    text = text.slice(1).trimStart();
  };
  takeSign();
  let start = 0;
  while (start < text.length && !isDigit(text.charCodeAt(start)) && text[start] !== '.' && text[start] !== ',' && text[start] !== '-')
    start++;
  let unit = '';
  if (start > 0) {
    // "Fr. 5": the dot of the symbol is not a decimal mark.
    if (text[start] === '.' && !isDigit(text.charCodeAt(start + 1))) start++;
    const known = currencies.get(text.slice(0, start).trim());
    if (known === undefined) return null;
    unit = known;
    text = text.slice(start).trimStart();
    takeSign();
  }
  let end = text.length;
  while (end > 0 && !isDigit(text.charCodeAt(end - 1))) end--;
  if (end === 0) return null;
  let tail = text.slice(end);
  let body = text.slice(0, end);
  if (tail[0] === '.' || tail[0] === ',') {
    // "5." and "100,-" are whole numbers.
    const rest = tail.slice(1).trimStart();
    tail = rest[0] === '-' || rest[0] === '–' || rest[0] === '—' ? rest.replace(/^[-–—]{1,2}/, '') : rest;
  }
  tail = tail.trim();
  if (tail[0] === '-' || tail[0] === '−') {
    if (signed) return null;
    negative = !negative;
    tail = tail.slice(1).trim();
  }
  if (tail.endsWith('-')) {
    if (signed) return null;
    negative = !negative;
    tail = tail.slice(0, -1).trim();
  }
  // "12 m²" and "3 m2" end with a digit or sign of the unit.
  if (tail === '' && (body.endsWith(' m2') || body.endsWith(' m3'))) {
    tail = body.slice(-2);
    body = body.slice(0, -3);
  }
  if (tail !== '') {
    if (unit !== '') return null;
    const known = currencies.get(tail) ?? (measures.has(tail) ? tail : undefined);
    if (known === undefined) return null;
    unit = known;
  }
  const read = readDigits(body, style);
  if (read === null) return null;
  const value = Number(read.normal);
  if (!Number.isFinite(value)) return null;
  return { value: value === 0 ? 0 : negative ? -value : value, decimals: read.decimals, unit };
}

/** The digits in JavaScript's form; null if their grouping is invalid. */
function readDigits(body: string, style: NumberStyle): { normal: string; decimals: number } | null {
  const mark = style === 'dot' ? '.' : ',';
  let exponentAt = body.search(/[eE]/);
  if (exponentAt < 0) exponentAt = body.length;
  const exponent = body.slice(exponentAt + 1);
  if (exponentAt < body.length && !/^[+-]?\d{1,3}$/.test(exponent)) return null;
  const mantissa = body.slice(0, exponentAt);
  const markAt = mantissa.indexOf(mark);
  const whole = markAt < 0 ? mantissa : mantissa.slice(0, markAt);
  const fraction = markAt < 0 ? '' : mantissa.slice(markAt + 1);
  for (let i = 0; i < fraction.length; i++) if (!isDigit(fraction.charCodeAt(i))) return null;
  let digits = '';
  let group = 0;
  let groups = 0;
  let separator = '';
  for (const char of whole) {
    if (isDigit(char.charCodeAt(0))) {
      digits += char;
      group++;
      continue;
    }
    const kind = separatorOf(char, mark);
    if (kind === null || (separator !== '' && separator !== kind)) return null;
    if (groups === 0 ? group < 1 || group > 3 : group !== 3) return null;
    separator = kind;
    groups++;
    group = 0;
  }
  if (groups > 0 && group !== 3) return null;
  if (digits.length + fraction.length === 0) return null;
  if (digits.length > 1 && digits[0] === '0') return null;
  if (fraction === '' && digits.length > maxExactDigits) return null;
  const exact = exponentAt < body.length ? maxExactDigits : fraction.length;
  return {
    normal: `${digits === '' ? '0' : digits}.${fraction === '' ? '0' : fraction}e${exponent === '' ? '0' : exponent}`,
    decimals: exact,
  };
}

/** The kind of thousands separator of the character; null if it is none. */
function separatorOf(char: string, mark: string): string | null {
  if (char === ' ' || char === '\u00a0' || char === '\u202f' || char === '\u2009') return ' ';
  if (char === "'" || char === '’') return "'";
  return (char === '.' || char === ',') && char !== mark ? char : null;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
