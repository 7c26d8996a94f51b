/** Tables without rows: a question on them cannot be answered, and they cannot be compared with other tables. */
import type { TableProfile } from '../../table/table-profile.ts';
import { listed, safe } from './figure.ts';
import { questionsIn } from './questions.ts';
import type { Answer } from './report.ts';

const maxNamed = 6;

/** For a task whose tables have no row at all. */
export function emptyAnswers(task: string, tables: readonly TableProfile[]): Answer[] {
  if (tables.length === 0) return [];
  const names = listed(
    tables.map(({ name }) => safe(name)),
    maxNamed,
  );
  const together = tables.length === 1 ? '' : ', and nothing to join or compare';
  const line = `This cannot be computed: ${names} ${tables.length === 1 ? 'has' : 'have'} no rows, so there are no figures${together}.`;
  return questionsIn(task).map((question) => ({ question, short: line.slice(0, -1), lines: [line] }));
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
