/**
 * "Are they right?", "Can she say that?": a question about what people claim, not about the data. The claim stands in the sentences before it;
 * findings on the quality of the data do not answer it.
 */

import { wordSet } from '../../table/word-set.ts';
import { collapseWhitespace, readTokens } from './prompt-tokens.ts';
import { sentencesOf } from './sentences.ts';

const judging = wordSet('right wrong correct true say claim recht richtig wahr stimmt raison vrai razón verdad ragione vero');
const claimants = wordSet('they he she who that this it we sie er wer das ils elle il qui ellos ella');
/** A question with such a word is about the data. */
const dataWords = wordSet(
  'data file files table figures figure number numbers total totals sum sums formula formulas sheet column columns row rows line lines values readings entries list daten datei zahlen tabelle summe summen',
);
const maxWords = 9;
const sentencesBefore = 2;
const maxChars = 600;

/** The sentences with the claim; null if the question is no question about a claim. */
export function claimBefore(task: string, question: string): string | null {
  const words = readTokens(question)
    .filter(({ kind }) => kind === 'word')
    .map(({ lower }) => lower.replace(/['’]s$/, ''));
  if (words.length > maxWords || words.some((word) => dataWords.has(word))) return null;
  if (!words.some((word) => judging.has(word)) || !words.slice(0, 3).some((word) => claimants.has(word))) return null;
  const sentences = sentencesOf(collapseWhitespace(task.slice(0, 8000)));
  const own = question.replace(/[.?!…]{1,4}$/, '').toLowerCase();
  const at = sentences.findIndex((sentence) => sentence.toLowerCase().includes(own));
  if (at < 0) return null;
  const begin = sentences[at]!.toLowerCase().indexOf(own);
  const said = [...sentences.slice(Math.max(0, at - sentencesBefore), at), sentences[at]!.slice(0, begin)].join(' ').trim();
  return said === '' ? null : said.slice(-maxChars);
}
