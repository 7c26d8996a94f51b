/** Netlify's own description of its API: requests and answers of the stand-in must match it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as Schema from 'typebox/schema';
import type { Json } from '../json.ts';
import type { HostRequest } from './host-stand-in.ts';

const description: Json = JSON.parse(readFileSync(new URL(import.meta.resolve('@netlify/open-api')), 'utf8'));

const operations = Object.entries(description.paths as Record<string, Json>).flatMap(([path, methods]) =>
  ['get', 'post', 'put', 'patch', 'delete']
    .filter((method) => methods[method] !== undefined)
    .map((method) => ({
      ...{ method: method.toUpperCase(), template: path, pattern: patternOf(`${description.basePath}${path}`) },
      operation: methods[method],
      parameters: [...(methods.parameters ?? []), ...(methods[method].parameters ?? [])] as Json[],
    })),
);

/** Returns the operations' ids. */
export function assertDescribed(requests: readonly HostRequest[]): Set<string> {
  return new Set(requests.map(assertOne));
}

function assertOne({ method, path, query, json, bytes, headers, answer }: HostRequest): string {
  const known = operations.filter((one) => one.method === method && one.pattern.test(path));
  // The template with the fewest parameters is the one that is meant: /user before /{account_slug}.
  const [found] = known.sort((a, b) => a.template.split('{').length - b.template.split('{').length);
  assert.ok(found, `${method} ${path} is not described`);
  const { operation, parameters } = found;
  const says = `${operation.operationId} (${method} ${path})`;
  for (const name of query.keys())
    assert.ok(
      parameters.some((one) => one.in === 'query' && one.name === name),
      `${says}: ${name} is not described`,
    );
  const body = parameters.find((one) => one.in === 'body');
  if (bytes.length > 0) assert.ok(body !== undefined, `${says} takes no body`);
  if (operation.consumes !== undefined && bytes.length > 0)
    assert.ok(operation.consumes.includes(headers['content-type']), `${says}: ${headers['content-type']}`);
  if (json !== null) assertForm(body!.schema, json, `${says}, request`);
  // A name that is taken is answered in a form that the description lacks (netlify/open-api#377).
  const isUndescribed = operation.operationId === 'createSite' && answer?.status === 422;
  if (answer === undefined || isUndescribed) return operation.operationId;
  const described = operation.responses[answer.status] ?? (answer.status >= 400 ? operation.responses.default : undefined);
  assert.ok(described !== undefined, `${says}: ${answer.status} is not described`);
  if (described.schema !== undefined) assertForm(described.schema, withoutNulls(answer.json), `${says}, answer ${answer.status}`);
  return operation.operationId;
}

function assertForm(schema: Json, value: unknown, says: string): void {
  const validator = Schema.Compile(schema) as unknown as {
    Check(value: unknown): boolean;
    Errors(value: unknown): [boolean, { instancePath: string; message: string }[]];
  };
  if (validator.Check(value)) return;
  const [, errors] = validator.Errors(value);
  assert.fail(`${says}: ${errors.map((error) => `${error.instancePath} ${error.message}`).join('; ')}`);
}

/** The description knows no null: Netlify answers it for what is not there. */
function withoutNulls(value: Json): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value).filter((entry) => entry[1] !== null);
  return Object.fromEntries(present.map(([name, inner]) => [name, withoutNulls(inner)]));
}

function patternOf(path: string): RegExp {
  const text = path.replace(/[.+*?^$()[\]|\\]/g, '\\$&').replace('{path}', '.+');
  return new RegExp(`^${text.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}
