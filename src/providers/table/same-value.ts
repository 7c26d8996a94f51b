/**
 * Whether two texts of one column are spellings of one value. `keyOf` gives equal keys to spellings that differ in case, blanks, accents,
 * punctuation and titles. `isShortFor` tells abbreviations: a value is certain only if exactly one other value of the column fits.
 */
import { withoutAccents } from './without-accents.ts';
import { wordSet } from './word-set.ts';

/** Letters that have no accent to take off. */
const otherLetters: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', æ: 'ae', œ: 'oe', ß: 'ss', '½': '0.5' };
const titles = wordSet('dr prof mr mrs ms miss mx herr frau mme mlle sr sra');
/** Words that say what kind of thing a name is of, and add nothing to it. */
const kinds = wordSet(
  'library branch office store shop station depot site school clinic hospital warehouse team department dept road street ltd limited gmbh inc llc co company filiale bibliothek',
);
const lastWords: Readonly<Record<string, string>> = {
  rd: 'road',
  str: 'street',
  st: 'street',
  ii: '2',
  iii: '3',
  iv: '4',
  vi: '6',
  vii: '7',
};
const firstWords: Readonly<Record<string, string>> = {
  st: 'saint',
  ste: 'sainte',
  mt: 'mount',
  n: 'north',
  s: 'south',
  e: 'east',
  w: 'west',
};
const laterWords: Readonly<Record<string, string>> = { am: 'morning', eve: 'evening' };
/** Attendance and cancellation in the words of several registers. */
const phrases: Readonly<Record<string, string>> = Object.fromEntries([
  ...'dna fta didnotattend failedtoattend didnotshow noshows'.split(' ').map((phrase) => [phrase, 'noshow']),
  ...'canc cncl cxl canceled'.split(' ').map((phrase) => [phrase, 'cancelled']),
]);
const maxWords = 8;
const minPrefix = 3;
const minSkeleton = 2;
const minMisspelt = 5;
const minDoubled = 7;
/** A value that may be another one is rarer than it by this factor. */
const minTimesOpen = 3;

export type Spelling = { text: string; words: readonly string[]; key: string };

export function spellingOf(text: string): Spelling {
  const all = wordsOf(text);
  const titled = isInverted(text, all) ? [all[1]!, all[0]!] : all;
  const untitled = titled.filter((word, i) => !(i < titled.length - 1 && titles.has(word)));
  // "N. Haug" is a name, "N Ridge" the northern one.
  const isInitial = (word: string) => word.length === 1 && text.toLowerCase().includes(`${word}.`);
  const words = untitled.map((word, i) => (isInitial(word) ? word : expanded(word, i, untitled.length)));
  return { text, words, key: keyOf(words) || text };
}

/** "Last, First": read as "First Last". */
function isInverted(text: string, words: readonly string[]): boolean {
  const comma = text.indexOf(',');
  return words.length === 2 && comma > 0 && comma === text.lastIndexOf(',') && isLetter(text[comma - 1]) && !words.some(hasDigit);
}

function expanded(word: string, at: number, count: number): string {
  const known = count < 2 ? {} : at === 0 ? firstWords : at === count - 1 ? { ...laterWords, ...lastWords } : laterWords;
  return Object.hasOwn(known, word) ? known[word]! : word;
}

/** The words without blanks; numbers stay apart. */
function keyOf(words: readonly string[]): string {
  const joined = words.reduce((key, word) => key + (isDigit(key.at(-1)) && isDigit(word[0]) ? ' ' : '') + word, '');
  return Object.hasOwn(phrases, joined) ? phrases[joined]! : joined;
}

/** Letters, numbers and signs that have a meaning: "70+", "C#". Separators of words are dropped, those within numbers are kept. */
function wordsOf(text: string): string[] {
  const plain = [...withoutAccents(text.trim())]
    .map((letter) => otherLetters[letter] ?? letter)
    .join('')
    .replace(/(?<![\d/])1\/2(?![\d/])/g, '0.5');
  const words: string[] = [];
  let word = '';
  const close = () => {
    if (word !== '') words.push(word);
    word = '';
  };
  for (let at = 0; at < plain.length; at++) {
    const [letter, before, after] = [plain[at]!, plain[at - 1], plain[at + 1]];
    if ("'’`".includes(letter)) continue;
    const isMark = /[\s._,;:()[\]/–-]/.test(letter);
    // 1-0 and 1:0 are one result; A- is no A, and -1 no 1.
    if (isMark && isDigit(before) && isDigit(after)) word += /[:–-]/.test(letter) ? '-' : letter;
    else if (letter === '-' && (isDigit(after) ? !isLetter(before) : after === undefined && before !== undefined)) word += letter;
    else if (isMark) close();
    else word += letter;
  }
  close();
  return words;
}

/** A column of names of persons: half of the values have a comma between words, or a title. */
export function arePersons(texts: readonly string[]): boolean {
  const named = texts.filter((text) => {
    const comma = text.indexOf(',');
    const [first] = wordsOf(text);
    return (
      (comma > 0 && isLetter(text[comma - 1]) && comma < text.length - 1 && !/\d/.test(text)) || (first !== undefined && titles.has(first))
    );
  });
  return named.length >= 3 && named.length * 2 >= texts.length;
}

/** `F. Last`, `Last F`, `LAST` for `Last, First`: every word is a word or an initial of the name, and one is a whole word. */
export function isNameOf(short: Spelling, long: Spelling, persons: boolean): boolean {
  const own = short.words;
  if (own.length > long.words.length || own.length > maxWords || (!persons && (own.length < 2 || !short.text.includes('.')))) return false;
  if (own.some(hasDigit) || (!persons && own.every((word) => word.length > 1))) return false;
  const left = [...long.words];
  let whole = 0;
  for (const word of own.toSorted((a, b) => b.length - a.length)) {
    const at = word.length === 1 ? left.findIndex((other) => other[0] === word) : left.indexOf(word);
    if (at < 0) return false;
    if (word.length > 2) whole++;
    left.splice(at, 1);
  }
  // "R. Hale" is not "P. Hale-Reid": initials stand for given names.
  if (own.some(isLetterAlone) && left.some(isLetterAlone)) return false;
  return whole > 0;
}

/** `CANC` for `cancelled`, `exc.` for `excused`, `Hbr Pale` for `Harbour Pale`, `DNA` for `did not attend`, `Hill` for `Hill Library`. */
export function isShortFor(short: Spelling, long: Spelling): boolean {
  const [own, other] = [short.words, long.words];
  if (own.length === 0 || other.length > maxWords) return false;
  if (own.length === other.length) {
    if (own.length === 1) return isMarkedShort(short.text, own[0]!, other[0]!);
    const differing = own.flatMap((word, i) => (word === other[i] ? [] : [[word, other[i]!] as const]));
    return differing.length === 1 && differing.every(([word, full]) => abbreviates(word, full));
  }
  const isLonger = own.length + 1 === other.length && own.every((word, i) => word === other[i]);
  if (isLonger && kinds.has(other.at(-1)!) && own.join('').length > 2) return true;
  const isInitials = own.length === 1 && own[0]!.length >= 2 && own[0]!.length === other.length && isUpper(short.text);
  return isInitials && other.every((word, i) => word[0] === own[0]![i] && !isDigit(word[0]));
}

/** One word is short for another only with a sign of it: capitals, a dot at the end, or no vowel. */
function isMarkedShort(text: string, word: string, full: string): boolean {
  const marked = text.trim().endsWith('.') || isUpper(text) || !/[aeiouy]/.test(word);
  return marked && word.length >= minPrefix && abbreviates(word, full);
}

/** The beginning of the word, or its first letter and some of its consonants in their order. */
function abbreviates(word: string, full: string): boolean {
  if (word.length < minSkeleton || word.length >= full.length - 1 || hasDigit(word) || hasDigit(full) || word[0] !== full[0]) return false;
  if (word.length >= minPrefix && full.startsWith(word)) return true;
  if (/[aeiou]/.test(word.slice(1))) return false;
  let at = 0;
  for (const letter of full) if (letter === word[at]) at++;
  return at === word.length;
}

/** Whether a single letter is the first one of a value. */
export function isInitialOf(letter: Spelling, long: Spelling): boolean {
  return letter.key.length === 1 && isLetter(letter.key) && long.key.length > 1 && long.key[0] === letter.key && !hasDigit(long.key);
}

/** One slip in a long word: 'certain' if a letter is only doubled, 'likely' otherwise, in words with the same first letter. */
export function slipOf(a: Spelling, b: Spelling): 'certain' | 'likely' | null {
  const [x, y] = [a.key, b.key];
  if (Math.min(x.length, y.length) < minMisspelt || x[0] !== y[0] || hasDigit(x) || hasDigit(y) || a.words.length !== b.words.length)
    return null;
  const differing = a.words.flatMap((word, i) => (word === b.words[i] ? [] : [[word, b.words[i]!] as const]));
  if (differing.length !== 1) return null;
  const [[one, other]] = differing as [readonly [string, string]];
  if (Math.min(one.length, other.length) < minMisspelt || !isOneApart(one, other)) return null;
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  const doubled =
    longer.length >= minDoubled &&
    [...longer].some((letter, i) => letter === longer[i - 1] && longer.slice(0, i) + longer.slice(i + 1) === shorter);
  return doubled ? 'certain' : 'likely';
}

/** One letter inserted, deleted, replaced, or two swapped. */
export function isOneApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restB.length === 2 && restA[0] === restB[1] && restA[1] === restB[0];
}

function isLetterAlone(word: string): boolean {
  return word.length === 1;
}

function isUpper(text: string): boolean {
  return text === text.toUpperCase() && text !== text.toLowerCase();
}

function isDigit(letter: string | undefined): boolean {
  return letter !== undefined && letter >= '0' && letter <= '9';
}

function isLetter(letter: string | undefined): boolean {
  return letter !== undefined && letter.toLowerCase() !== letter.toUpperCase();
}

function hasDigit(text: string): boolean {
  return /\d/.test(text);
}

/** A rare value that may be a spelling of a more frequent one, and the rules above leave it open: one slip, or the same words and one more. */
export function mayBeSame(rare: { value: string; rows: number }, common: { value: string; rows: number }): boolean {
  if (rare.rows * minTimesOpen > common.rows) return false;
  const [one, other] = [spellingOf(rare.value), spellingOf(common.value)];
  if (slipOf(one, other) !== null) return true;
  const [short, long] = one.words.length < other.words.length ? [one.words, other.words] : [other.words, one.words];
  return short.length < long.length && short.join('').length >= minPrefix && short.every((word, i) => word === long[i]);
}
