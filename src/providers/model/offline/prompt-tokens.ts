/**
 * Splits a text into tokens: words, figures, quoted spans, addresses, marks and line breaks. One pass, with a bounded number of reads per
 * character, so that rules over tokens with bounded windows stay linear for hostile texts.
 */
import { monthNumber } from '../../table/month-names.ts';

export type TokenKind = 'word' | 'figure' | 'quoted' | 'address' | 'url' | 'mark' | 'break';
export type Token = {
  kind: TokenKind;
  /** As written; for a quoted span the text between the quotes. */
  text: string;
  lower: string;
  start: number;
  end: number;
};

const quotePairs: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”',
  '„': '“”',
  '«': '»',
  '»': '«',
  '‚': '‘’',
  '‘': '’',
  "'": "'",
  '`': '`',
};
const fence = '```';
const maxQuoteChars = 20_000;
const maxSingleQuoteChars = 300;
const maxAddressChars = 254;

export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const closers = new NextPositions(text);
  let at = 0;
  const push = (kind: TokenKind, start: number, end: number, inner = text.slice(start, end)) => {
    tokens.push({ kind, text: inner, lower: inner.length > 400 ? inner : inner.toLowerCase(), start, end });
    at = end;
  };
  while (at < text.length) {
    const char = text[at]!;
    if (char === '\n' || char === '\r') push('break', at, at + 1);
    else if (isSpace(char)) at++;
    else if (char in quotePairs) {
      const quoted = quotedSpan(text, at, closers);
      if (quoted === null) push('mark', at, at + 1);
      else push('quoted', at, quoted.end, text.slice(quoted.from, quoted.to));
    } else if ((char === 'h' || char === 'H') && isUrlStart(text, at)) push('url', at, urlEnd(text, at));
    else if (isDigit(char)) {
      const end = wordEnd(text, at);
      const mail = addressEnd(text, at);
      if (mail > 0) push('address', at, mail);
      else if (isFigure(text, at, end)) push('figure', at, end);
      else push('word', at, end);
    } else if (isWordChar(char)) {
      const mail = addressEnd(text, at);
      if (mail > 0) push('address', at, mail);
      else push('word', at, wordEnd(text, at));
    } else push('mark', at, at + 1);
  }
  return tokens;
}

/** Where the sentence of token `i` begins: after the last end of a sentence or line. At most `most` tokens back. */
export function sentenceStart(tokens: readonly Token[], i: number, most = 60): number {
  let from = i;
  while (from > 0 && i - from < most && !endsSentence(tokens, from - 1)) from--;
  return from;
}

/** The position after the last token of the sentence of token `i`, at most `most` tokens on. */
export function sentenceEnd(tokens: readonly Token[], i: number, most = 60): number {
  let to = i;
  while (to < tokens.length && to - i < most && !endsSentence(tokens, to)) to++;
  return to;
}

export function endsSentence(tokens: readonly Token[], i: number): boolean {
  const token = tokens[i]!;
  if (token.kind === 'break') return true;
  if (token.kind !== 'mark' || !'.!?;'.includes(token.text)) return false;
  const next = tokens[i + 1];
  return next === undefined || next.kind === 'break' || (next.start > token.end && !isDayOfMonth(tokens[i - 1], token, next));
}

/** "4. November": the point makes the number an ordinal. */
function isDayOfMonth(before: Token | undefined, point: Token, next: Token): boolean {
  return point.text === '.' && before !== undefined && /^\d{1,2}$/.test(before.text) && monthNumber(next.lower) > 0;
}

export function isWordChar(char: string): boolean {
  const code = char.charCodeAt(0);
  if (code < 128) return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
  return /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(char);
}

export function isSpace(char: string): boolean {
  const code = char.charCodeAt(0);
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x202f || (code > 127 && /\s/.test(char));
}

export function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9';
}

/** Runs of white space as one space, trimmed. Linear, unlike a pattern that ends in white space. */
export function collapseWhitespace(text: string): string {
  const parts: string[] = [];
  let from = -1;
  for (let i = 0; i <= text.length; i++) {
    const blank = i === text.length || isSpace(text[i]!);
    if (!blank && from === -1) from = i;
    if (!blank || from === -1) continue;
    parts.push(text.slice(from, i));
    from = -1;
  }
  return parts.join(' ');
}

/** Positions of single characters, each found once: a query for an earlier position does not scan again. */
class NextPositions {
  private readonly text: string;
  private readonly next = new Map<string, number>();

  constructor(text: string) {
    this.text = text;
  }

  /** The first position of `mark` at or after `from`, which must not decrease between calls; -1 if there is none. */
  at(mark: string, from: number): number {
    const known = this.next.get(mark);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    const found = this.text.indexOf(mark, from);
    this.next.set(mark, found);
    return found;
  }
}

function quotedSpan(text: string, at: number, closers: NextPositions): { from: number; to: number; end: number } | null {
  if (text.startsWith(fence, at)) {
    const line = closers.at('\n', at);
    const close = line === -1 ? -1 : closers.at(fence, Math.max(line, at + 3));
    // The first line contains at most a language name.
    if (close !== -1 && line - at < 40 && close - at < maxQuoteChars) return { from: line + 1, to: close, end: close + 3 };
  }
  const open = text[at]!;
  const before = text[at - 1];
  if (before !== undefined && isWordChar(before)) return null;
  const next = text[at + 1];
  if (next === undefined || next === '\n') return null;
  if (open === "'" || open === '‘' || open === '‚') {
    if (isSpace(next)) return null;
    const limit = Math.min(text.length, at + maxSingleQuoteChars);
    for (let to = at + 2; to < limit && text[to] !== '\n'; to++) {
      // An apostrophe within a word does not close a quote.
      if (quotePairs[open]!.includes(text[to]!) && !isWordChar(text[to + 1] ?? ' ')) return { from: at + 1, to, end: to + 1 };
    }
    return null;
  }
  let close = -1;
  for (const mark of quotePairs[open]!) {
    const found = closers.at(mark, at + 1);
    if (found !== -1 && (close === -1 || found < close)) close = found;
  }
  return close === -1 || close - at > maxQuoteChars || close === at + 1 ? null : { from: at + 1, to: close, end: close + 1 };
}

function isUrlStart(text: string, at: number): boolean {
  const head = text.slice(at, at + 8).toLowerCase();
  return (head === 'https://' || head.startsWith('http://')) && text.length > at + 8;
}

function urlEnd(text: string, at: number): number {
  let end = at;
  let open = 0;
  while (end < text.length && !isSpace(text[end]!) && !'<>"\'`“”«»'.includes(text[end]!)) {
    if (text[end] === '(') open++;
    if (text[end] === ')' && --open < 0) break;
    end++;
  }
  while (end > at && ').,;:!?]'.includes(text[end - 1]!) && !(text[end - 1] === ')' && open === 0 && text.slice(at, end).includes('(')))
    end--;
  return end;
}

/** A word with its inner points, hyphens and apostrophes: `report.md`, `e-mail`, `don't`, `1,200.50`. */
function wordEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length) {
    const char = text[end]!;
    if (isWordChar(char)) end++;
    else if (
      ".-'’/:".includes(char) &&
      isWordChar(text[end + 1] ?? ' ') &&
      (char !== '/' && char !== ':' ? true : isDigit(text[end - 1]) && isDigit(text[end + 1]))
    )
      end++;
    else if (char === ',' && isDigit(text[end - 1]) && isDigit(text[end + 1])) end++;
    else break;
  }
  return end;
}

function isFigure(text: string, at: number, end: number): boolean {
  for (let i = at; i < end; i++) if (!isDigit(text[i]) && text[i] !== '.' && text[i] !== ',') return false;
  return true;
}

/** The end of an e-mail address that begins here, international ones included; 0 if there is none. Reads at most 254 characters. */
function addressEnd(text: string, at: number): number {
  const before = text[at - 1];
  if (before !== undefined && (isWordChar(before) || '.+-@%'.includes(before))) return 0;
  const limit = Math.min(text.length, at + maxAddressChars);
  let i = at;
  while (i < limit && (isWordChar(text[i]!) || ".+-%&'".includes(text[i]!))) i++;
  if (text[i] !== '@' || i === at || text[i - 1] === '.') return 0;
  const domain = i + 1;
  i = domain;
  while (i < limit && (isWordChar(text[i]!) || '.-'.includes(text[i]!))) i++;
  while (i > domain && '.-'.includes(text[i - 1]!)) i--;
  const name = text.slice(domain, i);
  const labels = name.split('.');
  return labels.length >= 2 && labels.every((label) => label !== '') && !/^\d+$/.test(labels.at(-1)!) ? i : 0;
}
