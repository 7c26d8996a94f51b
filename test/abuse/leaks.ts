/** Whether an answer contains data that its caller must not see. */
import type { Answer } from '../support/http-client.ts';

/** Details of the implementation that no answer may contain. */
const insides = [
  /\bat (\w+ )?\(?[\w:/.-]+:\d+:\d+\)?/,
  /node_modules|\bfile:\/\/|\/src\/[\w/-]+\.ts\b/,
  /\b(insert into|delete from|syntax error at or near|violates \w+ constraint|duplicate key value|relation "\w+"|current transaction)\b/i,
  /\b(ECONN\w+|ENOENT|EACCES|ETIMEDOUT|MikroORM|DriverException|TypeError|ReferenceError|RangeError|SyntaxError|AssertionError)\b/,
  /\bpg_\w+|\bpostgres(ql)?:\/\//i,
];

/** @param sent the whole request as text: its own contents in an answer are not a leak */
export type Evidence = { answer: Answer; sent: string };

/**
 * @param secrets texts that only their owner can know
 * @returns what is wrong, or null
 */
export function leakedSecret({ answer, sent }: Evidence, secrets: readonly string[], folder: string): string | null {
  const text = `${JSON.stringify(answer.headers)}\n${answer.text}`;
  for (const secret of secrets) if (text.includes(secret) && !sent.includes(secret)) return `contains data of another account: ${secret}`;
  if (text.includes(folder)) return 'contains the path of the data folder';
  if (answer.status < 400 || answer.json === null) return null;
  const shownText = JSON.stringify(withoutInput(answer.json.detail ?? answer.json));
  for (const pattern of insides) {
    const found = pattern.exec(shownText)?.[0];
    if (found !== undefined && !sent.includes(found)) return `contains internal names: ${found}`;
  }
  return null;
}

/** What a caller sent is shown to it again. */
function withoutInput(detail: unknown): unknown {
  return Array.isArray(detail) ? detail.map(({ input: _, ...rest }) => rest) : detail;
}
