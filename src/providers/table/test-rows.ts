/** Rows that their own text calls a test: "test test please ignore". */
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { wordSet } from './word-set.ts';

const testWords = wordSet('test tests testing testeintrag testdaten prueba essai prova teste probe dummy');
/** Words that may stand beside them; any other word may mean a true row about a test. */
const otherWords = wordSet(
  'please ignore entry row record data only this is a do not use delete bitte ignorieren löschen eintrag nur por favor ignorar merci ignorer',
);
const maxChars = 60;
const maxShare = 0.05;

/** Positions of the rows; none if they are many, since the table may be about tests. */
export function testRows(table: ColumnsInMemory): number[] {
  const rows = new Set<number>();
  for (const plan of table.plans.filter(({ reads, type, values }) => reads === 'text' && type === 'text' && values.distinct > 2))
    for (const [at, text] of table.texts(plan).entries()) if (isTest(text)) rows.add(at);
  return rows.size > Math.max(1, table.count * maxShare) ? [] : [...rows].toSorted((a, b) => a - b);
}

function isTest(text: string): boolean {
  if (text.length > maxChars) return false;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const named = words.filter((word) => testWords.has(word)).length;
  // "Test" alone may be the name of a thing.
  return named > 0 && words.length > 1 && words.every((word) => testWords.has(word) || otherWords.has(word));
}
