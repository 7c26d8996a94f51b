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
export function isByGroup({ kind, text }: Finding, names: ReadonlySet<string>): boolean {
  if (kind !== 'group' && kind !== 'join_groups' && kind !== 'join_by_key') return false;
  return [...names].some((name) =>
    [`By ${safe(name)}, `, ` by ${safe(name)}: `, ` by ${safe(name)} (`].some((part) => text.includes(part)),
  );
}
