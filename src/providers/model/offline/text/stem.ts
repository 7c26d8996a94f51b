/** Beginnings of words, so that the forms of a word are one: "repair", "repaired". */
import { contentWords } from '../summary.ts';

export function stem(word: string): string {
  return word.length > 5 ? word.slice(0, Math.max(5, word.length - 2)) : word;
}

/** The stems of the content words of a text. */
export function stemsOf(text: string): Set<string> {
  return new Set(contentWords(text).map(stem));
}

/** How many different stems a text has in common with `wanted`. */
export function stemsInCommon(text: string, wanted: ReadonlySet<string>): number {
  let common = 0;
  for (const each of stemsOf(text)) if (wanted.has(each)) common++;
  return common;
}
