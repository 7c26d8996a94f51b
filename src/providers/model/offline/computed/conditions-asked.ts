/** "only sold rows", "on the route Aran", "without cancelled ones": the values that a question limits its rows to. */
import type { Condition, RowValue } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';
import type { Column } from './columns-meant.ts';
import { valuesMeant } from './outcomes-asked.ts';
import type { Word } from './question-tokens.ts';

const excluding = wordSet('without excluding except not un ohne außer nicht sans sauf hors sin excepto senza tranne');
const onlyWords = wordSet('only just counting nur lediglich seulement uniquement sólo solo solamente soltanto');
const rowNouns = wordSet(
  'rows ones lines records entries sales orders zeilen einträge verkäufe bestellungen lignes ventes commandes filas líneas righe vendite',
);
const stateNames = wordSet('status state result outcome ergebnis statut état etat estado stato');
const maxBack = 3;
const minChars = 3;

export function valueConditions(words: readonly Word[], columns: readonly Column[], value: RowValue): Condition[] {
  const found: Condition[] = [];
  for (const column of columns) {
    if (column.kind !== 'text' || (value.kind === 'outcome' && value.of === column.name)) continue;
    const isState = column.tokens.some((token) => stateNames.has(token));
    const [is, isNot] = [new Set<string>(), new Set<string>()];
    for (let i = 0; i < words.length; i++) {
      const values = isState ? stateAt(words, i, column) : valueAt(words, i, column, columns);
      const before = words.slice(Math.max(0, i - maxBack), i).map(({ lower }) => lower);
      for (const each of values) (before.some((word) => excluding.has(word)) ? isNot : is).add(each);
    }
    if (is.size > 0) found.push({ column: column.name, is: [...is] });
    else if (isNot.size > 0) found.push({ column: column.name, is_not: [...isNot] });
  }
  return found;
}

/** A status limits the rows only where the question says so: "sold" in "pieces sold" is no status. */
function stateAt(words: readonly Word[], i: number, column: Column): string[] {
  const values = words[i]!.lower.length < minChars ? [] : valuesMeant(words[i]!.lower, column);
  if (values.length === 0 || values.length === column.values.length) return [];
  const before = words.slice(Math.max(0, i - maxBack), i).map(({ lower }) => lower);
  const next = words[i + 1]?.lower ?? '';
  return before.some((word) => onlyWords.has(word) || excluding.has(word)) || rowNouns.has(next) ? values : [];
}

/** The values whose words stand at this place, unless a word is of the name of a column. */
function valueAt(words: readonly Word[], i: number, column: Column, columns: readonly Column[]): string[] {
  return column.values.filter((value) => {
    const own = value.toLowerCase().split(/\s+/);
    if (value.length < minChars || own.length > 6 || !own.every((word, j) => words[i + j]?.lower === word)) return false;
    return /\p{L}/u.test(value) && !(own.length === 1 && columns.some(({ tokens }) => tokens.includes(own[0]!)));
  });
}
