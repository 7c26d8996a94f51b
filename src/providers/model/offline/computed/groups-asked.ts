/** "by route", "per weekday and vessel", "which shop": the groupings of a question, and the words after "by" that no column has. */
import type { DatePart, Key } from '../../../table/queries/query.ts';
import { type Column, columnMeant, likeness } from './columns-meant.ts';
import type { Word } from './question-tokens.ts';
import { choosing, countWords, dateParts, dayWords, fillers, joints, leads, persons, weekWords, who } from './vocabulary.ts';

export type AskedGroups = {
  by: Key[][];
  /** Named after "by", and no column of the table. */
  unknown: string[];
  /** The question chooses a group: "which shop". */
  isChosen: boolean;
  /** The place of the noun after "which", if it is no grouping. */
  chosenAt: number | null;
};

type Found = { key: Key; length: number };

const maxKeys = 4;
const maxFollowing = 12;
const notGroups = /^(?:\d|how$|much$|hour$|cent$|far$)/;

/** @param grouping the columns by which rows may be grouped @param date the column whose parts are meant */
export function groupsIn(words: readonly Word[], grouping: readonly Column[], date: Column | null): AskedGroups {
  const lists: Key[][] = [];
  const unknown: string[] = [];
  let isChosen = false;
  let chosenAt: number | null = null;
  for (let i = 0; i < words.length; i++) {
    const { lower } = words[i]!;
    if (choosing.has(lower) || who.has(lower)) {
      const at = nounAfter(words, i);
      const found = who.has(lower) ? personIn(grouping) : keyAt(words, at, grouping, date);
      if (found !== null) {
        lists.push([found.key]);
        isChosen = true;
        i = Math.max(i, at + found.length - 1);
      } else if (chosenAt === null && choosing.has(lower)) chosenAt = at;
    } else if (leads.has(lower)) {
      const { keys, end, stopped } = keysFrom(words, i + 1, grouping, date);
      if (keys.length > 0) lists.push(...(keys.length > 2 ? keys.map((key) => [key]) : [keys]));
      else if (stopped !== null && !notGroups.test(stopped)) unknown.push(stopped);
      i = Math.max(i, end - 1);
    }
  }
  return { by: groupings(lists), unknown, isChosen, chosenAt };
}

/** Two keys named together are two groupings too, as "by shop and month" may mean either. */
function groupings(lists: readonly Key[][]): Key[][] {
  const all = unique(lists.flat()).slice(0, maxKeys);
  if (all.length === 0) return [];
  if (all.length === 1) return [all];
  const [first, second] = all;
  return all.length === 2 ? [[first!], [second!], [first!, second!]] : all.slice(0, 3).map((key) => [key]);
}

function unique(keys: readonly Key[]): Key[] {
  return keys.filter((key, i) => keys.findIndex((other) => other.column === key.column && other.part === key.part) === i);
}

function keysFrom(words: readonly Word[], from: number, grouping: readonly Column[], date: Column | null) {
  const keys: Key[] = [];
  let at = from;
  let stopped: string | null = null;
  const limit = Math.min(words.length, from + maxFollowing);
  while (at < limit) {
    const { lower, kind } = words[at]!;
    const isJoint = joints.has(lower) || lower === ',' || leads.has(lower);
    if (isJoint && !(lower === ',' && keys.length === 0)) {
      at++;
      continue;
    }
    const found = keyAt(words, at, grouping, date);
    if (found === null) {
      stopped = kind === 'word' ? lower : null;
      break;
    }
    keys.push(found.key);
    at += found.length;
  }
  return { keys, end: at, stopped };
}

/** A column or a part of a date at a place among the words. */
function keyAt(words: readonly Word[], at: number, grouping: readonly Column[], date: Column | null): Found | null {
  const word = words[at];
  if (word === undefined || (word.kind !== 'word' && word.kind !== 'quoted')) return null;
  const pair = [word.lower, words[at + 1]?.kind === 'word' ? words[at + 1]!.lower : ''].filter(
    (each) => each !== '' && !fillers.has(each) && !joints.has(each),
  );
  const both = pair.length === 2 ? grouping.find((column) => pair.every((each) => likeness(each, column) === 3)) : undefined;
  if (both !== undefined) return { key: { column: both.name }, length: 2 };
  const own = grouping.find((column) => likeness(word.lower, column) === 3);
  if (own !== undefined) return { key: { column: own.name }, length: 1 };
  const part = partAt(words, at);
  if (part !== null) return date === null ? null : { key: { column: date.name, part: part.part }, length: part.length };
  const meant =
    word.lower.length < 3 || fillers.has(word.lower)
      ? null
      : columnMeant(
          [word.lower],
          grouping,
          words.map(({ lower }) => lower),
        );
  return meant === null ? null : { key: { column: meant.name }, length: 1 };
}

function partAt(words: readonly Word[], at: number): { part: DatePart; length: number } | null {
  const { lower } = words[at]!;
  // "Calendar week", "Uhrzeit": the part stands in the second word.
  if (lower === 'calendar' && weekWords.has(words[at + 1]?.lower ?? '')) return { part: 'week', length: 2 };
  if (dayWords.has(lower)) {
    const following = words.slice(at + 1, at + 4);
    const week = following.findIndex((word) => weekWords.has(word.lower));
    if (week >= 0 && following.slice(0, week).every((word) => fillers.has(word.lower))) return { part: 'weekday', length: week + 2 };
  }
  const part = dateParts.get(lower);
  return part === undefined ? null : { part, length: 1 };
}

/** "Which five sailings", "which of the shops": the place of the noun. */
function nounAfter(words: readonly Word[], i: number): number {
  let at = i + 1;
  while (at < words.length - 1 && at < i + 5) {
    const { lower, kind } = words[at]!;
    if (kind !== 'figure' && !countWords.has(lower) && !fillers.has(lower)) break;
    at++;
  }
  return at;
}

function personIn(grouping: readonly Column[]): Found | null {
  const found = grouping.filter(({ tokens }) => tokens.some((token) => persons.has(token)));
  return found.length === 1 ? { key: { column: found[0]!.name }, length: 1 } : null;
}
