/** The sheet of a workbook that a task names: sheet "Sites", the Costs tab, Blatt Umsatz. */
import { wordSet } from '../../table/word-set.ts';

const sheetWords = wordSet('sheet worksheet tab page blatt tabellenblatt tabelle reiter feuille onglet hoja pestaña foglio');
const maxNameChars = 120;

/** Null if the task names no sheet, several, or the only one. */
export function sheetIn(task: string, sheets: readonly string[]): string | null {
  if (sheets.length < 2) return null;
  const words = wordsOf(task);
  const named = sheets.filter((name) => isNamed(wordsOf(name.slice(0, maxNameChars)), words));
  return named.length === 1 ? named[0]! : null;
}

function isNamed(name: readonly string[], words: readonly string[]): boolean {
  if (name.length === 0) return false;
  for (let at = words.indexOf(name[0]!); at !== -1; at = words.indexOf(name[0]!, at + 1)) {
    if (!name.every((word, i) => words[at + i] === word)) continue;
    if (sheetWords.has(words[at - 1] ?? '') || sheetWords.has(words[at + name.length] ?? '')) return true;
  }
  return false;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
