/** Spellings of yes and no in one column, which are one outcome each: Y, yes, YES, 1 and true. */
import { foldSpelling } from '../spellings.ts';
import { wordSet } from '../word-set.ts';

const yesWords = wordSet('yes y true t 1 x ja j wahr oui o vrai sí si s verdadero sì vero sim ✓ ✔');
const noWords = wordSet('no n false f 0 nein falsch non faux falso não nao nee ✗ ✘');
const mostSpellings = 12;

/** Null for any other text. */
export function yesOrNo(text: string): 'yes' | 'no' | null {
  const word = foldSpelling(text.slice(0, 20));
  return yesWords.has(word) ? 'yes' : noWords.has(word) ? 'no' : null;
}

/** Whether the texts are spellings of yes and no only. */
export function isYesNo(texts: readonly string[]): boolean {
  const filled = new Set(texts.filter((text) => text !== ''));
  const read = new Set([...filled].slice(0, mostSpellings + 1).map(yesOrNo));
  return filled.size >= 1 && filled.size <= mostSpellings && !read.has(null);
}
