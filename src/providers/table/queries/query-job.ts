/** The answers to queries over the first table of the source that has their columns. */
import type { JobFunction } from '../../compute/port.ts';
import { basisIn, readRows } from '../profile.ts';
import { openTables } from '../table-source.ts';
import { answerQuery } from './answer-query.ts';
import type { Query, QueryAnswers } from './query.ts';

const mostQueries = 16;
const mostTables = 4;
/** Of all sentences together; those of later queries are left out beyond it. */
const mostBytes = 56 * 1024;
const mostLineChars = 6000;

const job: JobFunction<{ name: string; queries: Query[]; sheet?: string }, QueryAnswers> = async (
  { name, queries, sheet },
  { open, signal },
) => {
  const answers = queries.slice(0, mostQueries).map(() => ({ lines: [] as string[] }));
  for (const { source } of (await openTables(open, name, signal, sheet)).slice(0, mostTables)) {
    const memory = await readRows(source, signal);
    if (memory === null || memory.rows.cells.length === 0) continue;
    const basis = basisIn(memory, source);
    for (const [i, answer] of answers.entries())
      if (answer.lines.length === 0) answer.lines = answerQuery(memory, basis, queries[i]!, source.inherited);
  }
  let left = mostBytes;
  for (const answer of answers) {
    answer.lines = answer.lines.map((line) => (line.length > mostLineChars ? `${line.slice(0, mostLineChars - 1)}…` : line));
    left -= Buffer.byteLength(JSON.stringify(answer.lines));
    if (left < 0) answer.lines = [];
  }
  return { name, queried: answers };
};
export default job;
