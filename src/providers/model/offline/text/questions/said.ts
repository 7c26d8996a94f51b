/** Who says what, and what an article is about: sentences that quote somebody, and those that report what somebody says; the first sentences. */
import type { TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const reporting =
  /(?<![\p{L}])(?:(?:says?|said|told|warned|warns|claims?|claimed|explained|argued|argues|believes?|expects?|calls?|called|sagt|sagte|erklärte|meint|warnte|betonte)(?: \p{L}{2,20}){0,3}(?:,? (?:that|the|it|his|her|dass)|,)(?![\p{L}])|(?:he|she|they|\p{Lu}\p{L}{1,25}) (?:said|says|warned|added|sagte)(?![\p{L}])|According to|Laut )/u;

export function saidBy({ spoken }: TextFacts, passages: readonly Passage[]): Told | null {
  const quoted = new Set(spoken.map(({ line, text }) => `${line} ${text.slice(0, 40)}`));
  const reported = quotesWhere(passages, ({ text }) => reporting.test(text)).filter(
    ({ line, text }) =>
      !quoted.has(`${line} ${text.slice(0, 40)}`) && !spoken.some((quote) => quote.line === line && text.includes(quote.text)),
  );
  const all = [...spoken, ...reported].toSorted((a, b) => a.line - b.line);
  return all.length === 0 ? null : { short: quotesShort(all), lines: [quoteTable(all)], sections: ['Sentences that quote somebody'] };
}

const leadSentences = 2;
const leadChars = 60;

/** An article begins with what happened. */
export function leadOf(passages: readonly Passage[]): Told | null {
  const lead = passages.filter(({ text, kind }) => kind === 'sentence' && text.length >= leadChars).slice(0, leadSentences);
  return lead.length === 0 ? null : { short: quotesShort(lead), lines: ['The text begins with:', '', quoteTable(lead)] };
}
