/** An extractive summary: the most important sentences of a text, copied, in their order. Nothing is rephrased, so nothing is invented. */

import { sentencesOf } from './sentences.ts';
import { readUnits } from './text/units.ts';

export type TextSummary = { sentences: string[]; words: number; sentenceCount: number; keywords: [string, number][] };

const stopWords = new Set(
  (
    'a about after all also an and any are as at be because been but by can could did do for from had has have he her his how i if in into is it its may more most no not of on ' +
    'one only or other our out over she should so some such than that the their them then there these they this to up was we were what when which who will with would you your ' +
    'aber als am an auch auf aus bei bin bis da das dass dem den der des die doch durch ein eine einem einen einer eines er es für hat haben ich im in ist ja kann man mehr mit nach ' +
    'nicht noch nur oder sehr sein sich sie sind so über um und uns unter von vor war was wenn werden wie wir wird zu zum zur'
  ).split(' '),
);
const maxSentencesRead = 3000;
const maxSentenceChars = 600;
const minWordCount = 3;
const maxFrequentWords = 8;

/** @param most how many sentences at most; fewer for short texts */
export function summarise(text: string, most = 6): TextSummary {
  const sentences = splitSentences(text).slice(0, maxSentencesRead);
  const wordsOfSentences = sentences.map(contentWords);
  const frequency = new Map<string, number>();
  for (const bag of wordsOfSentences) for (const word of new Set(bag)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const scores = wordsOfSentences.map((bag, i) => score(bag, i, frequency, sentences));
  // A third of a short text, and a few sentences more of a long one.
  const wanted = Math.min(
    most + Math.min(6, Math.floor(sentences.length / 40)),
    Math.max(1, Math.ceil(sentences.length / (sentences.length <= 6 ? 2 : 3))),
  );
  const chosen: number[] = [];
  while (chosen.length < wanted) {
    const next = best(scores, wordsOfSentences, chosen);
    if (next === -1) break;
    chosen.push(next);
  }
  return {
    sentences: chosen.sort((a, b) => a - b).map((i) => sentences[i]!),
    words: countWords(text),
    sentenceCount: sentences.filter(isEnded).length || sentences.length,
    keywords: frequentWords(text),
  };
}

/** A number with separators is one word: "415,000", "1.4", "19:30", "30/09/2025"; "p.m." is one too. A dash between blanks is none. */
function countWords(text: string): number {
  return text.match(/\p{L}(?:\.\p{L}(?![\p{L}]))+|\p{N}(?:[\p{L}\p{N}'’-]|[.,:/](?=\p{N}))*|\p{L}[\p{L}\p{N}'’-]*/gu)?.length ?? 0;
}

/** Content words of the whole text by their counts, from three on; a count is left out as a whole where not all of its words have room. */
function frequentWords(text: string): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of contentWords(text.replace(/\S{0,200}(?:@|:\/\/)\S{0,2000}/g, ' ')))
    if (/\p{L}/u.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const ordered = [...counts].filter(([, count]) => count >= minWordCount).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const firstLeftOut = ordered[maxFrequentWords]?.[1] ?? 0;
  return ordered.slice(0, maxFrequentWords).filter(([, count]) => count > firstLeftOut);
}

/** Sentences with normalised white space. Headings, fields and tables are left out. */
export function splitSentences(text: string): string[] {
  return readUnits(text)
    .filter(({ kind }) => kind === 'sentence' || kind === 'item' || kind === 'speech' || kind === 'quote')
    .flatMap(({ kind, text: words }) => (kind === 'sentence' ? [words] : sentencesOf(words)))
    .filter((sentence) => sentence.length > 1);
}

/** Frequent words and the first position raise a sentence's score; very short and very long sentences score lower. */
function score(bag: string[], index: number, frequency: Map<string, number>, sentences: string[]): number {
  if (bag.length === 0 || sentences[index]!.length > maxSentenceChars) return 0;
  const weight = [...new Set(bag)].reduce((sum, word) => sum + Math.log(1 + frequency.get(word)!), 0) / Math.sqrt(bag.length + 4);
  const position = index === 0 ? 1.5 : index < sentences.length * 0.1 ? 1.2 : index === sentences.length - 1 ? 1.1 : 1;
  const isSentence = isEnded(sentences[index]!) ? 1 : 0.5;
  return weight * position * isSentence;
}

/** A title or the name of the writer ends without a mark. */
function isEnded(sentence: string): boolean {
  return /[.!?…]["'”’»)]?$/.test(sentence.slice(-3));
}

/** The best sentence that does not repeat the chosen ones; -1 if none is left. */
function best(scores: number[], wordsOfSentences: string[][], chosen: number[]): number {
  const usedWords = chosen.map((i) => new Set(wordsOfSentences[i]));
  let winner = -1;
  let highest = 0;
  scores.forEach((value, i) => {
    if (chosen.includes(i) || value === 0) return;
    const overlap = Math.max(
      0,
      ...usedWords.map((words) => wordsOfSentences[i]!.filter((word) => words.has(word)).length / wordsOfSentences[i]!.length),
    );
    const net = overlap > 0.8 ? 0 : value * (1 - overlap * 0.6);
    if (net > highest) {
      highest = net;
      winner = i;
    }
  });
  return winner;
}

/** Content words, in lower case. */
export function contentWords(sentence: string): string[] {
  return (sentence.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).filter((word) => word.length > 2 && !stopWords.has(word));
}
