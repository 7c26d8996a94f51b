/** Sentences that many answers repeat although they tell nothing of the thing asked about: "We came for a wedding." */
import { hasTheme, isOpinion } from './comment-tones.ts';

const personal =
  /(?<![\p{L}])(?:I|we|my|our|me|us|ich|wir|mein\p{L}{0,2}|unser\p{L}{0,2}|je|nous|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?)(?![\p{L}])/iu;
const fewestAnswers = 3;
const fewestNeighbours = 3;
/** "See you in spring.", "Same as last term." */
const briefWords = 5;
const sentenceEnds = /(?<=[.!?]) /u;

/**
 * The answers without such sentences: those about the writer or of few words, without a known theme, that never stand alone but word for word
 * in several answers and beside different sentences. An answer that consists of them alone is kept.
 */
export function withoutStockSentences(answers: readonly string[]): string[] {
  const split = answers.map((answer) => answer.split(sentenceEnds));
  /** What stands alone is an answer. */
  const alone = new Set(split.flatMap((sentences) => (sentences.length === 1 ? sentences : [])));
  const neighbours = new Map<string, { answers: number; beside: Set<string> }>();
  for (const sentences of split) {
    for (const sentence of new Set(sentences)) {
      const isBrief = sentence.split(' ').length <= briefWords && !sentence.split(' ').some(isOpinion);
      if (alone.has(sentence) || !(personal.test(sentence) || isBrief)) continue;
      let entry = neighbours.get(sentence);
      if (entry === undefined) neighbours.set(sentence, (entry = { answers: 0, beside: new Set() }));
      entry.answers++;
      for (const other of sentences) if (other !== sentence && entry.beside.size < fewestNeighbours) entry.beside.add(other);
    }
  }
  const stock = new Set(
    [...neighbours]
      .filter(([, { answers: count, beside }]) => count >= fewestAnswers && beside.size >= fewestNeighbours)
      .flatMap(([sentence]) => (hasTheme(sentence) ? [] : [sentence])),
  );
  return split.map((sentences, at) => {
    const kept = sentences.filter((sentence) => !stock.has(sentence));
    return kept.length === 0 || kept.length === sentences.length ? answers[at]! : kept.join(' ');
  });
}
