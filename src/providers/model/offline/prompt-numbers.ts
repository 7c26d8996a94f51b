/** Numbers in the text of a task. A comma before three digits separates thousands in English, and decimals in other languages. */
import { wordSet } from '../../table/word-set.ts';

const englishWords = wordSet('the of what which how is are does did with and in for many much more than');
const otherWords = wordSet(
  'der die das und ist wie welche welcher mit für le la les des est et quel quelle combien el los las cuál qué il che di un une ein eine',
);
const maxWords = 400;
const grouped = { ',': /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/, '.': /^-?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/ } as const;

export function isEnglish(text: string): boolean {
  let score = 0;
  const words =
    text
      .slice(0, 4000)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  for (const word of words.slice(0, maxWords)) score += englishWords.has(word) ? 1 : otherWords.has(word) ? -1 : 0;
  return score >= 0;
}

/** NaN for a text that is no number. */
export function numberIn(text: string, english: boolean): number {
  const [thousands, decimal] = english ? ([',', '.'] as const) : (['.', ','] as const);
  if (grouped[thousands].test(text)) return Number(text.replaceAll(thousands, '').replace(decimal, '.'));
  return Number(text.replace(',', '.'));
}
