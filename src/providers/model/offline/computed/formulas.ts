/** "actual − planned", "sold times price", "from call to finish": values of a row that a task states with two columns, and what it calls them. */
import type { RowValue } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';
import { type Column, columnMeant, isSameStem } from './columns-meant.ts';
import type { Word } from './question-tokens.ts';
import { fillers, meanWords, sumWords } from './vocabulary.ts';

/** `names` are the words that the task calls the value by; `from` and `to` are its place among the words. */
export type Formula = { value: RowValue; names: readonly string[]; from: number; to: number };

type Operator = { kind: 'difference' | 'product'; length: number };

const minus = wordSet('minus less moins menos meno abzüglich − – -');
const times = wordSet('times × x * mal fois multiplicado moltiplicato');
const timesPairs = [
  ['multiplied', 'by'],
  ['multipliziert', 'mit'],
  ['multiplié', 'par'],
  ['multipliée', 'par'],
];
const lessNot = wordSet('than de di d als');
const starts = wordSet('from between von vom zwischen de du des entre da dal dalla desde del');
const ends = wordSet('to and until till bis und zur zum à au et y e a al alla hasta');
/** End the words of a column on either side of a formula. */
const stops = wordSet(
  'is are was were = by per for je nach pro par por in on at where if when which what how and or und et y e than that as of von de ist sind est son vor before after until since',
);
const copulas = wordSet('is are = means ist sind est bedeutet es è equals : entspricht');
const operandWords = 5;
const maxFormulas = 8;
const maxBack = 6;

/** All that the words state, for one table. @param context words that tell columns apart whose names are alike */
export function formulasIn(words: readonly Word[], columns: readonly Column[], context: readonly string[]): Formula[] {
  const found: Formula[] = [];
  for (let i = 0; i < words.length && found.length < maxFormulas; i++) {
    const operator = operatorAt(words, i);
    const formula = operator === null ? spanAt(words, i, columns, context) : formulaAt(words, i, operator, columns, context);
    if (formula !== null) found.push(formula);
  }
  return found;
}

/** Whether the words call the value of the formula by its name. */
export function isCalled({ names }: Formula, words: readonly Word[]): boolean {
  return words.some(({ lower }) => names.some((name) => name === lower || (name.length > 3 && isSameStem(name, lower))));
}

function operatorAt(words: readonly Word[], i: number): Operator | null {
  const { lower, kind } = words[i]!;
  const next = words[i + 1]?.lower ?? '';
  if (minus.has(lower) && !lessNot.has(next) && (kind === 'mark' || lower.length > 1)) return { kind: 'difference', length: 1 };
  if (times.has(lower)) return { kind: 'product', length: 1 };
  return timesPairs.some(([first, second]) => lower === first && next === second) ? { kind: 'product', length: 2 } : null;
}

function formulaAt(
  words: readonly Word[],
  i: number,
  { kind, length }: Operator,
  columns: readonly Column[],
  context: readonly string[],
): Formula | null {
  let from = i;
  while (from > 0 && i - from < operandWords && !isStop(words[from - 1]!)) from--;
  const to = operandEnd(words, i + length);
  const usable = columns.filter((column) => column.kind !== 'text' && column.kind !== 'yes_no');
  const operands = (some: readonly Column[]) => {
    const of = columnMeant(lowers(words.slice(from, i)), some, context);
    return {
      of,
      other: columnMeant(
        lowers(words.slice(i + length, to)),
        some.filter((column) => column !== of),
        context,
      ),
    };
  };
  const { of, other } = operands(kind === 'product' ? usable.filter((column) => column.kind === 'number') : usable);
  if (of === null || other === null || of.kind !== other.kind) return null;
  const value: RowValue = kind === 'difference' ? { kind, of: of.name, less: other.name } : { kind, of: of.name, times: other.name };
  return { value, names: namesOf(words, from), from, to };
}

/** "from the call to the end", "vom Eingang bis zur Freigabe": between dates or times of day only. */
function spanAt(words: readonly Word[], i: number, columns: readonly Column[], context: readonly string[]): Formula | null {
  if (!starts.has(words[i]!.lower)) return null;
  const moments = columns.filter(({ kind }) => kind === 'date' || kind === 'clock');
  const limit = Math.min(words.length, i + operandWords + 2);
  for (let at = i + 2; at < limit && words[at]!.kind !== 'mark'; at++) {
    if (!ends.has(words[at]!.lower)) continue;
    const less = columnMeant(lowers(words.slice(i + 1, at)), moments, context);
    const to = operandEnd(words, at + 1);
    const of = columnMeant(
      lowers(words.slice(at + 1, to)),
      moments.filter((column) => column !== less),
      context,
    );
    if (less !== null && of !== null && less.kind === of.kind)
      return { value: { kind: 'difference', of: of.name, less: less.name }, names: namesOf(words, i), from: i, to };
  }
  return null;
}

function operandEnd(words: readonly Word[], from: number): number {
  let to = from;
  while (to < words.length && to - from < operandWords && (!isStop(words[to]!) || to === from)) {
    if (words[to]!.kind === 'mark') break;
    to++;
  }
  return to;
}

function isStop({ kind, lower }: Word): boolean {
  return (kind === 'mark' && lower !== '_') || kind === 'figure' || stops.has(lower);
}

/** The last word before "(" or before "is", such as the "delay" of "the delay (actual − planned)". */
function namesOf(words: readonly Word[], from: number): string[] {
  let at = from - 1;
  const opening = words[at];
  if (opening === undefined || (opening.lower !== '(' && !copulas.has(opening.lower))) return [];
  const limit = Math.max(0, at - maxBack);
  while (--at >= limit) {
    const { kind, lower } = words[at]!;
    if (kind === 'mark') break;
    if (lower.length > 2 && !fillers.has(lower) && !meanWords.has(lower) && !sumWords.has(lower)) return [lower];
  }
  return [];
}

function lowers(words: readonly Word[]): string[] {
  return words.flatMap(({ kind, lower }) => (kind !== 'mark' && lower.length > 1 && !fillers.has(lower) ? [lower] : []));
}
