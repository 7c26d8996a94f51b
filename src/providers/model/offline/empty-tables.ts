/** Tables without rows: a question on them cannot be answered, and they cannot be compared with other tables. */
import type { TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { listed, safe } from './figure.ts';
import { findings } from './findings.ts';
import { readTokens } from './prompt-tokens.ts';
import { questionsIn } from './questions.ts';
import type { Answer } from './report.ts';

const maxNamed = 6;
/** How an answer on tables without rows begins. */
export const cannotCompute = 'This cannot be computed';
const next = wordSet('next nächstes nächste weiter siguiente prochaine suite prossimo');
const grouping = wordSet('per by each which pro je nach por par per welche welcher welches quel quelle qué');
const comparing = wordSet(
  'compare compared comparison more less fewer than rise rose risen grow grew grown fall fell fallen change changed difference vergleiche vergleich mehr weniger gestiegen gesunken plus moins más menos più meno',
);

/** For a task whose tables have no row at all. */
export function emptyAnswers(task: string, tables: readonly TableProfile[]): Answer[] {
  if (tables.length === 0) return [];
  const names = listed(
    tables.map(({ name }) => safe(name)),
    maxNamed,
  );
  const together = tables.length === 1 ? '' : ', and nothing to join or compare';
  const line = `${cannotCompute}: ${names} ${tables.length === 1 ? 'has' : 'have'} no rows, so there are no figures${together}.`;
  const bare = tables.length === 1 ? [] : tables.filter((table) => table.column_count === 0).map(({ name }) => safe(name));
  const unjoined =
    bare.length === 0
      ? ''
      : ` ${listed(bare, maxNamed)} ${bare.length === 1 ? 'has' : 'have'} no header either, so no common column for a join is known.`;
  return questionsIn(task).map((question) => {
    if (readTokens(question).some(({ lower }) => next.has(lower))) {
      const advice = tables.flatMap((table) =>
        findings(table)
          .filter((text) => text.startsWith('Next: '))
          .map((text) => `- ${safe(table.name)}: ${text.slice('Next: '.length)}`),
      );
      return { question, short: advice.map((text) => text.slice(2).replace(/\.$/, '')).join('. '), lines: advice };
    }
    return { question, short: line.slice(0, -1), lines: [`${line}${neededColumns(question, tables)}${unjoined}`] };
  });
}

/** The columns that would give the answer if they had values. */
function neededColumns(question: string, tables: readonly TableProfile[]): string {
  const files = new Set(tables.map(({ name }) => name.toLowerCase()));
  const tokens = readTokens(question).filter(({ lower }) => lower.length > 2 && !files.has(lower));
  const parts = tables.flatMap(({ name, columns }) => {
    const found = new Set(
      tokens.flatMap(({ kind, lower }, i) => {
        const column = kind === 'word' ? columnFor(lower, columns) : undefined;
        // An identifier is asked for as a group only: "per carrier".
        return column === undefined || (column.role === 'identifier' && !grouping.has(tokens[i - 1]?.lower ?? '')) ? [] : [column.name];
      }),
    );
    return found.size === 0 ? [] : [`${listed([...found].map(safe), maxNamed)} of ${safe(name)}`];
  });
  return parts.length === 0 ? '' : ` With rows, it would come from ${listed(parts, maxNamed)}.`;
}

/**
 * For a question that only a table without rows could answer beside others: one that names its file, and one that compares, because there is
 * nothing to compare with. Null for another question.
 */
export function withoutRows(question: string, words: readonly string[], tables: readonly TableProfile[]): Answer | null {
  const empty = tables.filter(({ rows }) => rows === 0);
  const lower = question.toLowerCase();
  const named = empty.filter(({ name }) => lower.includes(name.toLowerCase()));
  const isComparing = tables.length === 2 && words.some((word) => comparing.has(word));
  const lacking = named.length > 0 ? named : isComparing ? empty : [];
  if (lacking.length === 0) return null;
  const names = listed(
    lacking.map(({ name }) => safe(name)),
    maxNamed,
  );
  const line = `This cannot be said: ${names} ${lacking.length === 1 ? 'has' : 'have'} no rows${isComparing ? ', so there is nothing to compare the other file with' : ''}.`;
  return { question, short: line.slice(0, -1), lines: [line] };
}

/** Of a table without rows beside tables that have some: why they are not compared, and whether they have the same columns. */
export function emptyBeside(table: TableProfile, tables: readonly TableProfile[]): string[] {
  if (table.rows > 0 || table.column_count === 0) return [];
  return tables
    .filter(({ rows }) => rows > 0)
    .slice(0, maxNamed)
    .map((other) => `It cannot be compared with ${safe(other.name)}, because it has no rows. ${columnsText(table, other)}`);
}

function columnsText(table: TableProfile, other: TableProfile): string {
  const [own, theirs] = [table, other].map(({ columns }) => columns.map(({ name }) => name)) as [string[], string[]];
  const only = (names: readonly string[], rest: readonly string[]) => names.filter((name) => !rest.includes(name)).map(safe);
  const [here, there] = [only(own, theirs), only(theirs, own)];
  if (here.length + there.length === 0) return 'Both have the same columns.';
  const parts = [
    ...(here.length === 0 ? [] : [`only in this file: ${listed(here, maxNamed)}`]),
    ...(there.length === 0 ? [] : [`only in ${safe(other.name)}: ${listed(there, maxNamed)}`]),
  ];
  return `Their columns differ: ${parts.join('; ')}.`;
}
