/** A question for the figure of each group: "How much did each driver earn?", "sales by region and product". */
import type { ColumnProfile, Finding } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { safe } from './figure.ts';

const leads = wordSet(
  'each every per by je jede jeder jedes jedem jeden pro nach chaque par por cada ogni per elke iedere kazdy każdy cada varje hver',
);
const joints = wordSet('and und et y e en och og i the der die das le la les');
const maxNames = 8;

/** The names of the columns whose groups are asked for. */
export function groupsAsked(words: readonly string[]): (columns: readonly ColumnProfile[]) => ReadonlySet<string> {
  const named = words.flatMap((word, i) => (leads.has(word) ? [words.slice(i + 1, i + 1 + maxNames)] : []));
  return (columns) => {
    const groups = columns.filter(({ type, role }) => type === 'text' || role === 'identifier' || role === 'code' || role === 'year');
    const found = new Set<string>();
    for (const following of named)
      for (const word of following) {
        if (joints.has(word)) continue;
        const column = columnFor(word, groups);
        if (column === undefined) break;
        found.add(column.name);
      }
    return found;
  };
}

/** Whether the finding has the figures of each group of one of the columns. */
export function isByGroup(finding: Finding, names: ReadonlySet<string>): boolean {
  const { kind, text } = finding;
  if (isOfRows(finding))
    return [...names].some((name) => text.includes(` is the most frequent ${safe(name)}: `) || text.startsWith(`${safe(name)}: `));
  if (kind !== 'group' && kind !== 'join_groups' && kind !== 'join_by_key') return false;
  return [...names].some((name) =>
    [`By ${safe(name)}, `, ` by ${safe(name)}: `, ` by ${safe(name)} (`].some((part) => text.includes(part)),
  );
}

/** Before the thing that is counted: "how many pupils", "le plus d'élèves", "más alumnos", "più iscritti", "meisten Schüler". */
const counters = wordSet('many most viele meisten cuántos cuántas más combien plus quanti quante più quantos quantas mais hoeveel meeste');
const counted = /(?:s|x|i|en|er)$|^people$|^personne$|^gente$/;
const sums = wordSet(
  'euros dollars pounds francs sales takings earnings costs expenses ventas ingresos ventes recettes ausgaben einnahmen vendite incassi',
);

/** Whether the question counts a thing that no numeric column holds: each row is one. */
export function countsRows(words: readonly string[]): (columns: readonly ColumnProfile[]) => boolean {
  const nouns = words.flatMap((word, i) => {
    const [next = '', after = ''] = words.slice(i + 1, i + 3);
    const noun = next === 'de' || next === 'of' || next === 'le' || next === 'the' ? after : next;
    return counters.has(word) && noun.length > 2 && counted.test(noun) && !sums.has(noun) ? [noun] : [];
  });
  return (columns) => {
    const numeric = columns.filter(({ numbers }) => numbers !== undefined);
    return nouns.some((noun) => columnFor(noun, numeric) === undefined);
  };
}

/** "A is the most frequent site", "site: A 8, B 8 (rows)". */
export function isOfRows({ kind, text }: Finding): boolean {
  return kind === 'group' && (text.includes(' is the most frequent ') || text.endsWith(' (rows).'));
}
