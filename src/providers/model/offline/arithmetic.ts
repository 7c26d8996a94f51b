/**
 * Calculations requested in words or signs ("what is 17% of 2,340"), converted to JavaScript for the sandbox. One pass over the text's
 * characters.
 */
import { parseFigure } from './money.ts';
import { isDigit, isSpace, isWordChar } from './prompt-tokens.ts';

/** `asked` is the expression in usual notation, `code` prints and returns its value. */
export type Arithmetic = { phrase: string; code: string };

const maxSums = 5;
const maxSumChars = 400;
const maxNumberChars = 40;
const asking = new Set(["what's", 'what’s', 'calculate', 'compute', 'evaluate', 'berechne', 'rechne']);
const askingPairs = new Set(['what is', 'what are', 'how much', 'work out', 'viel ist', 'viel sind', 'was ist', 'was sind']);
const signWords: Readonly<Record<string, string>> = {
  plus: '+',
  minus: '-',
  times: '*',
  mal: '*',
  'multiplied by': '*',
  'divided by': '/',
  'geteilt durch': '/',
};
const signs: Readonly<Record<string, string>> = {
  '+': '+',
  '-': '-',
  '−': '-',
  '–': '-',
  '*': '*',
  '×': '*',
  '/': '/',
  '÷': '/',
  '^': '**',
  '**': '**',
};

type Piece =
  | { kind: 'number'; value: number; start: number; end: number }
  | { kind: 'sign'; code: string; start: number; end: number; spaced: boolean }
  | { kind: 'open' | 'close'; start: number; end: number }
  | { kind: 'word'; text: string; start: number; end: number };

/** At most five calculations of the text; empty if there are none. */
export function parseArithmetic(text: string): Arithmetic[] {
  const pieces = piecesOf(text);
  if (!isAsked(pieces)) return [];
  const found: Arithmetic[] = [];
  for (let i = 0; i < pieces.length && found.length < maxSums; ) {
    const percent = percentAt(text, pieces, i) ?? rootAt(text, pieces, i);
    if (percent !== null) {
      found.push(percent.sum);
      i = percent.next;
      continue;
    }
    const sum = sumAt(text, pieces, i);
    if (sum.found !== null) found.push(sum.found);
    i = sum.next;
  }
  return found;
}

function isAsked(pieces: readonly Piece[]): boolean {
  return pieces.some((piece, i) => {
    if (piece.kind !== 'word') return false;
    const next = pieces[i + 1];
    return asking.has(piece.text) || (next?.kind === 'word' && askingPairs.has(`${piece.text} ${next.text}`));
  });
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; ) {
    const start = at;
    const char = text[at]!;
    if (isDigit(char)) {
      while (isDigit(text[at]) || ((text[at] === ',' || text[at] === '.') && isDigit(text[at + 1]))) at++;
      const value = at - start > maxNumberChars || isWordChar(text[at] ?? ' ') ? null : parseFigure(text.slice(start, at));
      if (value === null) while (at < text.length && isWordChar(text[at]!)) at++;
      pieces.push(value === null ? { kind: 'word', text: '', start, end: at } : { kind: 'number', value, start, end: at });
    } else if (isWordChar(char)) {
      // A point or hyphen within a word makes it a name: 2024-plan.csv is not a calculation.
      while (at < text.length && (isWordChar(text[at]!) || (".-'’".includes(text[at]!) && isWordChar(text[at + 1] ?? ' ')))) at++;
      const word = at - start > maxNumberChars ? '' : text.slice(start, at).toLowerCase();
      const last = pieces.at(-1);
      const pair = last?.kind === 'word' ? signWords[`${last.text} ${word}`] : undefined;
      if (pair !== undefined) pieces[pieces.length - 1] = { kind: 'sign', code: pair, start: last!.start, end: at, spaced: true };
      else if (Object.hasOwn(signWords, word)) pieces.push({ kind: 'sign', code: signWords[word]!, start, end: at, spaced: true });
      else pieces.push({ kind: 'word', text: word, start, end: at });
    } else {
      at += text.startsWith('**', at) ? 2 : 1;
      if (isSpace(char)) continue;
      const code = signs[text.slice(start, at)];
      if (char === '(' || char === ')') pieces.push({ kind: char === '(' ? 'open' : 'close', start, end: at });
      else if (code !== undefined)
        pieces.push({ kind: 'sign', code, start, end: at, spaced: isSpace(text[start - 1] ?? 'x') && isSpace(text[at] ?? 'x') });
      else if (!'$€£'.includes(char)) pieces.push({ kind: 'word', text: char, start, end: at });
    }
  }
  return pieces;
}

type Found = { sum: Arithmetic; next: number };

function percentAt(text: string, pieces: readonly Piece[], i: number): Found | null {
  const [share, unit] = [pieces[i], pieces[i + 1]];
  if (share?.kind !== 'number' || unit?.kind !== 'word') return null;
  const split = unit.text === 'per' && isWord(pieces[i + 2], 'cent');
  if (!split && !['%', 'percent', 'prozent'].includes(unit.text)) return null;
  const of = i + (split ? 3 : 2);
  const base = pieces[of + 1];
  if ((!isWord(pieces[of], 'of') && !isWord(pieces[of], 'von')) || base?.kind !== 'number') return null;
  return { sum: arithmetic(text.slice(share.start, base.end), `${share.value} * ${base.value} / 100`), next: of + 2 };
}

function rootAt(text: string, pieces: readonly Piece[], i: number): Found | null {
  const base = pieces[i + 3];
  if (!isWord(pieces[i], 'square') || !isWord(pieces[i + 1], 'root') || !isWord(pieces[i + 2], 'of') || base?.kind !== 'number')
    return null;
  return { sum: arithmetic(text.slice(pieces[i]!.start, base.end), `Math.sqrt(${base.value})`), next: i + 4 };
}

function isWord(piece: Piece | undefined, text: string): boolean {
  return piece?.kind === 'word' && piece.text === text;
}

/**
 * The longest calculation that begins at piece `i`, and the next position. A run that is not a calculation is skipped whole, so each piece
 * is read once.
 */
function sumAt(text: string, pieces: readonly Piece[], i: number): { found: Arithmetic | null; next: number } {
  let code = '';
  let depth = 0;
  let operators = 0;
  let dashes = 0;
  let slashes = 0;
  let wantsNumber = true;
  let negative = false;
  let at = i;
  let good = { at: i, code: '', operators: 0 };
  for (; at < pieces.length; at++) {
    const piece = pieces[at]!;
    if (piece.kind === 'word') break;
    if (piece.kind === 'open' && wantsNumber) {
      depth++;
      code += negative ? '-(' : '(';
      negative = false;
    } else if (piece.kind === 'close' && !wantsNumber && depth > 0) {
      depth--;
      code += ')';
    } else if (piece.kind === 'number' && wantsNumber) {
      // `-2 ** 2` is invalid JavaScript.
      code += negative ? `(-${piece.value})` : String(piece.value);
      negative = false;
      wantsNumber = false;
    } else if (piece.kind === 'sign' && wantsNumber && piece.code === '-' && !negative) negative = true;
    else if (piece.kind === 'sign' && !wantsNumber) {
      // "3-4" is a range and "1/2/2024" a date, unless other operations are applied.
      if (piece.code === '-' && !piece.spaced) dashes++;
      if (piece.code === '/' && !piece.spaced) slashes++;
      code += ` ${piece.code} `;
      operators++;
      wantsNumber = true;
    } else break;
    if (!wantsNumber && depth === 0) good = { at: at + 1, code, operators };
  }
  const next = Math.max(at, i + 1);
  if (good.operators === 0) return { found: null, next };
  const phrase = text.slice(pieces[i]!.start, pieces[good.at - 1]!.end);
  const isDate =
    /^\d{1,2}\/\d{1,2}\/\d{2,4}$|^(?:19|20)\d{2}\/\d{2}$/.test(phrase) ||
    (dashes === good.operators && dashes > 0) ||
    (slashes === 2 && good.operators === 2 && /\/\d{4}$/.test(phrase.slice(-5)));
  if (isDate || phrase.length > maxSumChars) return { found: null, next };
  return { found: arithmetic(phrase, good.code), next };
}

function arithmetic(phrase: string, code: string): Arithmetic {
  const plain = phrase
    .split(/\s/)
    .filter((part) => part !== '')
    .join(' ');
  return { phrase: plain, code: `const value = Number((${code}).toPrecision(15));\nconsole.log(JSON.stringify(value));\nvalue;` };
}
