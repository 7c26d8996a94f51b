/** Questions of a task that are computed over the rows of a table: the calls that compute them, and their answers. */
import type { TableProfile } from '../../../table/table-profile.ts';
import { type Call, type Conversation, findCall, isRecord } from '../conversation.ts';
import { safe } from '../figure.ts';
import { isEnglish } from '../prompt-numbers.ts';
import { questionsIn } from '../questions.ts';
import type { Answer } from '../report.ts';
import { countedThing } from './absent-columns.ts';
import { type AskedQuery, askedOf, queryOf } from './query-asked.ts';

const maxQueries = 12;
const maxTables = 4;

type Planned = { question: string; table: TableProfile; asked: AskedQuery };

/** The calls that are still to be made, or the answers by their questions. A question without an answer here is left to other rules. */
export function computedAnswers(
  conversation: Conversation,
  tables: readonly TableProfile[],
): { calls: Call[] } | { answers: ReadonlyMap<string, Answer>; hasLimits: boolean } {
  const answers = new Map<string, Answer>();
  let hasLimits = false;
  if (!conversation.offered.has('profile_table')) return { answers, hasLimits };
  const calls: Call[] = [];
  const planned = plannedOf(conversation.task, tables);
  for (const [path, own] of Map.groupBy(planned, ({ table }) => table.name)) {
    const args = { path, queries: own.map(({ asked }) => asked.query) };
    const past = findCall(conversation, 'profile_table', args);
    if (past === undefined) calls.push({ name: 'profile_table', args });
    else if (past.outcome === 'done')
      for (const [i, each] of own.entries()) {
        const lines = linesOf(past.result, i).map(safe);
        if (lines.length === 0) continue;
        hasLimits ||= (each.asked.query.limit ?? each.asked.query.target) !== undefined;
        answers.set(each.question, answerOf(each, lines, tables.length > 1 ? `${safe(each.table.name)}: ` : ''));
      }
  }
  return calls.length > 0 ? { calls } : { answers, hasLimits };
}

/** Each question with the one table that it is computed from. */
function plannedOf(task: string, tables: readonly TableProfile[]): Planned[] {
  const english = isEnglish(task);
  const files = tables.filter(({ rows }) => rows > 1).slice(0, maxTables);
  const asked = files.map((table) => ({ table, of: askedOf(task, table, english) }));
  return questionsIn(task)
    .flatMap((question): Planned[] => {
      const found = asked.flatMap(({ table, of }) => {
        const query = queryOf(question, of);
        return query === null ? [] : [{ question, table, asked: query }];
      });
      // Of several tables that could answer, none is chosen: the rules on several files know more.
      return found.length === 1 ? found : [];
    })
    .slice(0, maxQueries);
}

function linesOf(result: unknown, i: number): string[] {
  const queried: unknown = isRecord(result) ? result.queried : null;
  const own: unknown = Array.isArray(queried) ? queried[i] : null;
  return isRecord(own) && Array.isArray(own.lines) ? own.lines.filter((line): line is string => typeof line === 'string') : [];
}

function answerOf({ question, table, asked: { query, unknown, ranked } }: Planned, lines: readonly string[], file: string): Answer {
  const counted = query.value.kind === 'row' ? countedThing(question, [table]) : null;
  const notes = [
    ...(counted === null ? [] : [`No column is known to be about "${safe(counted)}": each row is counted as one.`]),
    ...(ranked === null ? [] : [`No column is known to be about "${safe(ranked)}": the rows are ranked.`]),
    ...unknown.map((word) => `No column is known to be about "${safe(word)}", so nothing is told by it.`),
  ];
  const said = lines.map((line) => `${file}${line}`);
  return { question, short: [said[0]!, ...notes].join(' ').replace(/\.$/, ''), lines: [...said, ...notes].map((line) => `- ${line}`) };
}
