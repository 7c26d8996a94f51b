/** Parses figures and amounts of money in usual notation. */
import { readTokens, type Token } from './prompt-tokens.ts';

const signs = '$€£';
const currencyWords = new Set(['dollar', 'dollars', 'usd', 'euro', 'euros', 'eur', 'pound', 'pounds', 'gbp', 'bucks']);
const maxFigureChars = 40;
const maxReasonChars = 2000;

export function isCurrencyWord(word: string): boolean {
  return currencyWords.has(word.toLowerCase());
}

/** "2,340" and "2.340,5" and "1.5" as a number. */
export function parseFigure(written: string): number | null {
  let end = written.length;
  while (end > 0 && (written[end - 1] === '.' || written[end - 1] === ',')) end--;
  const text = written.slice(0, end);
  if (text === '' || text.length > maxFigureChars) return null;
  const comma = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d+,\d{1,2}$/.test(text) || /^\d{1,3}(?:\.\d{3}){2,}$/.test(text);
  const value = Number(comma ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}

/** An amount of money at this token: the value, whether it has a currency, and the position after it; null if there is none. */
export function amountAt(tokens: readonly Token[], i: number): { value: number; currency: string | null; next: number } | null {
  const sign = tokens[i]?.kind === 'mark' && signs.includes(tokens[i]!.text) ? tokens[i]!.text : null;
  const word = sign === null && currencyWords.has(tokens[i]?.lower ?? '') ? tokens[i]!.lower : null;
  const at = sign === null && word === null ? i : i + 1;
  const figure = tokens[at];
  if (figure?.kind !== 'figure') return null;
  const value = parseFigure(figure.text);
  if (value === null) return null;
  if (sign !== null || word !== null) return { value, currency: sign ?? word, next: at + 1 };
  const after = tokens[at + 1];
  const unit =
    after !== undefined && (currencyWords.has(after.lower) || (after.kind === 'mark' && signs.includes(after.text))) ? after.lower : null;
  return { value, currency: unit, next: unit === null ? at + 1 : at + 2 };
}

/** An amount of money as written: "$1,200.50", "120 dollars", "1.200,50 €"; null when there is none. */
export function parseAmount(text: string): number | null {
  const tokens = readTokens(text.slice(0, maxReasonChars));
  for (let i = 0; i < tokens.length; i++) {
    const amount = amountAt(tokens, i);
    if (amount !== null && amount.currency !== null) return amount.value;
  }
  return null;
}
