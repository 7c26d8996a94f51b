/** Answers in free text, word for word. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';

const quoteChars = 160;
const sentenceEnds = /(?<=[.!?…]) /u;

export function quote(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  at: number,
  rating?: ColumnPlan,
  part: (text: string) => string = (text) => text,
): string {
  const rate = rating === undefined ? '' : `, ${rating.name} ${table.texts(rating)[at] || 'missing'}`;
  return `${quotedText(table, plan, at, part)} (row ${table.row(at)}${rate})`;
}

export function quotedText(table: ColumnsInMemory, plan: ColumnPlan, at: number, part: (text: string) => string = (text) => text): string {
  const text = part(table.texts(plan)[at]!.replace(/\s+/g, ' '));
  return `“${text.length > quoteChars ? `${text.slice(0, quoteChars)}…` : text}”`;
}

/** The first sentence with one of the words. */
export function sentenceWith(text: string, words: readonly string[]): string {
  return text.split(sentenceEnds).find((sentence) => words.some((word) => contains(sentence.toLowerCase(), word))) ?? text;
}

function contains(sentence: string, word: string): boolean {
  return sentence.includes(word) || sentence.replaceAll(/['’]/g, '').includes(word);
}
