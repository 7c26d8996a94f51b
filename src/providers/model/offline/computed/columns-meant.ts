/** The columns of a table as questions name them: by words of their names, their synonyms and their values. */
import { nameTokens } from '../../../table/column-role.ts';
import { isYesNo } from '../../../table/queries/yes-no.ts';
import type { ColumnProfile, TableProfile } from '../../../table/table-profile.ts';
import { columnFor } from '../column-synonyms.ts';

export type ColumnKind = 'number' | 'date' | 'clock' | 'yes_no' | 'text';
export type Column = {
  profile: ColumnProfile;
  name: string;
  tokens: readonly string[];
  kind: ColumnKind;
  values: readonly string[];
  likenesses: Map<string, number>;
};

const clock = /^\d{1,2}:[0-5]\d(?::[0-5]\d)?$/;
const [ownName, synonym, sameStem] = [3, 2, 1];
const minStem = 4;
const maxEnding = 3;
const maxColumns = 60;
/** Values of a column by which rows are grouped. */
const maxGroups = 200;

export function columnsOf(table: TableProfile): Column[] {
  return table.columns
    .filter(({ derived }) => derived !== true)
    .slice(0, maxColumns)
    .map((profile) => {
      const values = (profile.frequent ?? []).map(({ value }) => value);
      return {
        profile,
        name: profile.name,
        tokens: nameTokens(profile.name),
        kind: kindOf(profile, values),
        values,
        likenesses: new Map(),
      };
    });
}

function kindOf({ numbers, dates, type, distinct }: ColumnProfile, values: readonly string[]): ColumnKind {
  if (dates !== undefined) return 'date';
  if (type === 'boolean' || (values.length >= distinct && values.length > 1 && isYesNo(values))) return 'yes_no';
  if (numbers !== undefined) return 'number';
  return values.length > 0 && values.every((value) => clock.test(value.trim())) ? 'clock' : 'text';
}

/** Whether rows may be grouped by the column: several rows have the same value. */
export function isGrouping({ profile, kind, values }: Column, rows: number): boolean {
  if (kind === 'yes_no') return true;
  const isNamed = profile.type === 'text' || profile.role === 'code' || profile.role === 'year' || profile.role === 'identifier';
  return kind === 'text' && isNamed && values.length > 0 && profile.distinct >= 2 && profile.distinct <= Math.min(maxGroups, rows * 0.7);
}

/** 3 for a word of the column's own name, 2 for a synonym, 1 for a word of the same stem, 0 for any other. */
export function likeness(word: string, column: Column): number {
  const known = column.likenesses.get(word);
  if (known !== undefined) return known;
  const found = likenessOf(word, column);
  column.likenesses.set(word, found);
  return found;
}

function likenessOf(word: string, { profile, tokens }: Column): number {
  if (tokens.some((token) => token === word || `${token}s` === word || token === `${word}s`)) return ownName;
  if (word.length > 2 && columnFor(word, [profile]) !== undefined) return synonym;
  return tokens.some((token) => isSameStem(token, word)) ? sameStem : 0;
}

/** "call" and "called", "depart" and "departure". */
export function isSameStem(a: string, b: string): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same >= minStem && Math.max(a.length, b.length) - same <= maxEnding;
}

/** Whether a column, or a value of one, has the word. */
export function isKnown(word: string, columns: readonly Column[]): boolean {
  return columns.some((column) => likeness(word, column) > 0 || column.values.some((value) => value.toLowerCase().includes(word)));
}

/** The one column that most of the words mean; among several alike, the one that the context means. */
export function columnMeant(words: readonly string[], columns: readonly Column[], context: readonly string[] = []): Column | null {
  const score = (column: Column, of: readonly string[]) => of.reduce((sum, word) => sum + likeness(word, column), 0);
  const scored = columns.map((column) => ({ column, score: score(column, words) })).filter((each) => each.score > 0);
  const best = Math.max(0, ...scored.map((each) => each.score));
  const first = scored.filter((each) => each.score === best).map(({ column }) => column);
  if (first.length < 2) return first[0] ?? null;
  const beside = first.map((column) => ({ column, score: score(column, context) })).toSorted((a, b) => b.score - a.score);
  return beside[0]!.score > beside[1]!.score ? beside[0]!.column : null;
}
