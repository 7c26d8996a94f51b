/** Loaded before a process (`--import`): appends each new statement that the service sends to PostgreSQL to the file RECORD_STATEMENTS. */
import { appendFileSync } from 'node:fs';
import pg from 'pg';
import { formOf, type RecordedStatement } from './previous-version.ts';

const file = process.env.RECORD_STATEMENTS;
const seen = new Set<string>();
type Query = (this: { connectionParameters?: { application_name?: string } }, ...of: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;

if (file !== undefined) {
  prototype.query = function (first, second, ...rest) {
    const statement = statementOf(first, second);
    const name = String(this.connectionParameters?.application_name ?? '');
    if (statement !== null && name.startsWith('troupe ') && name !== 'troupe migrations') record(file, statement);
    return query.call(this, first, second, ...rest);
  };
}

function statementOf(first: unknown, second: unknown): RecordedStatement | null {
  const text = typeof first === 'string' ? first : (first as { text?: unknown } | null)?.text;
  if (typeof text !== 'string' || !/^\s*(select|insert|update|delete|with)\b/i.test(text)) return null;
  const values = (first as { values?: unknown[] }).values ?? (Array.isArray(second) ? second : []);
  // Only a commit is run again with what it wrote; of others it is enough that they can be prepared.
  return text.startsWith('with owned') ? { text, values } : { text };
}

function record(path: string, statement: RecordedStatement): void {
  const form = formOf(statement.text);
  if (seen.has(form)) return;
  seen.add(form);
  appendFileSync(path, `${JSON.stringify(statement)}\n`);
}
