/** What a rule found for a question on a text, and the parts that such answers consist of. */
import { exact, markdownTable, safe } from '../../figure.ts';
import type { Quote } from '../facts.ts';
import { type Passage, withSubject } from '../passages.ts';

/** `short` is for the closing words, `lines` are Markdown. `sections` are headings of the report that the answer makes needless. */
export type Told = { short: string; lines: string[]; sections?: string[] };

const maxQuotes = 12;
const maxFound = 60;
const shortChars = 200;

/** The quotes in a table, each once. */
export function quoteTable(quotes: readonly Quote[], most = maxQuotes): string {
  return markdownTable(
    ['As written', 'Line'],
    quotes.slice(0, most).map(({ text, line }) => [safe(text), exact(line)]),
  );
}

export function quotesShort(quotes: readonly Quote[]): string {
  const more = quotes.length > maxQuotes ? ` | and ${quotes.length - maxQuotes} more` : '';
  return `${quotes
    .slice(0, maxQuotes)
    .map(({ text, line }) => `"${text.slice(0, shortChars)}" (line ${line})`)
    .join(' | ')}${more}`;
}

/** A sentence in quotation marks with its line, for a statement that rests on it. */
export function cited({ text, line }: Quote): string {
  return `"${text.length > shortChars ? `${text.slice(0, shortChars)}…` : text}", line ${line}`;
}

/** Passages that fit a rule, each with the sentence that it refers to, and each sentence once. */
export function quotesWhere(passages: readonly Passage[], fits: (passage: Passage) => boolean): Quote[] {
  const quotes: Quote[] = [];
  for (const passage of passages) {
    if (quotes.length === maxFound) return quotes;
    if (!fits(passage)) continue;
    const quote = withSubject(passage);
    const last = quotes.at(-1);
    // The sentence before was found too: the longer quote has both.
    if (last !== undefined && last.line === quote.line && quote.text.startsWith(last.text)) quotes[quotes.length - 1] = quote;
    else if (!quotes.some(({ text }) => text === quote.text)) quotes.push(quote);
  }
  return quotes;
}
