/**
 * The service by its OpenAPI description: its operations, an example for each, and whether an answer matches the description. Tests that
 * iterate over it cover a new endpoint automatically.
 */
import assert from 'node:assert/strict';
import Schema from 'typebox/schema';
import type { Answer } from './http-client.ts';
import type { Json } from './json.ts';

export type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  anyOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  items?: JsonSchema;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: JsonSchema; example?: unknown };
type Described = {
  content?: Record<string, { schema?: JsonSchema; example?: unknown }>;
  headers: Record<string, { required: boolean; schema: JsonSchema }>;
};
export type Operation = {
  /** `POST /tasks` */
  name: string;
  method: string;
  path: string;
  /** null: public; `any`, `session`, or what a key needs. */
  scope: string | null;
  parameters: Parameter[];
  /** The schema of its JSON body, `multipart`, or null where it takes none. */
  body: JsonSchema | 'multipart' | null;
  /** A JSON body that it takes. */
  example: unknown;
  isIdempotent: boolean;
  responses: Record<string, Described>;
};

/** An operation as the document has it, its references resolved. */
type DescribedOperation = {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: JsonSchema; example?: unknown }> };
  responses: Record<string, Described>;
  security?: unknown[];
  'x-session'?: boolean;
  'x-scopes'?: string[];
};

type Validator = { Check(value: unknown): boolean; Errors(value: unknown): [boolean, { instancePath: string; message: string }[]] };

export class DescribedApi {
  readonly operations: Operation[];
  /** The successful statuses that were seen, e.g. `GET /tasks 200`. */
  readonly seen = new Set<string>();
  readonly document: Json;
  private readonly byPath: { pattern: RegExp; operation: Operation }[];
  private readonly validators = new Map<object, Validator>();

  constructor(document: Json) {
    this.document = document;
    const { paths } = resolved(document) as { paths: Record<string, Record<string, DescribedOperation>> };
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => operationOf(method.toUpperCase(), path, described)),
    );
    // Of two paths that fit, the one with fewer parameters is meant.
    this.byPath = this.operations
      .map((operation) => ({
        operation,
        pattern: new RegExp(`^${operation.path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      }))
      .sort((one, other) => one.operation.path.split('{').length - other.operation.path.split('{').length);
  }

  /** The declared operation that a request's path (with or without /v1) belongs to. */
  find(method: string, path: string): Operation {
    const bare = path.replace(/^\/v1(?=\/)/, '').replace(/\?.*/, '');
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = this.byPath.find(({ operation, pattern }) => operation.method === wanted && pattern.test(bare));
    assert.ok(found, `${method} ${path} is not described`);
    return found.operation;
  }

  methodsOf(path: string): string[] {
    return this.operations.filter((operation) => operation.path === path).map((operation) => operation.method);
  }

  /** Fails unless the answer is one that the description promises for this operation: its status, its headers, its type, its fields. */
  check(operation: Operation, answer: Answer, what: string): void {
    const { status, headers } = answer;
    const says = `${what}: ${status} ${answer.text.slice(0, 400)}`;
    const described = operation.responses[status];
    assert.ok(described, `${says}\nis not a described answer of ${operation.name}`);
    if (status < 400) this.seen.add(`${operation.name} ${status}`);
    for (const [name, { required, schema }] of Object.entries(described.headers)) {
      const value = headers[name.toLowerCase()];
      if (value === undefined) assert.ok(!required, `${says}\nlacks the header ${name}`);
      else assert.ok(schema.type !== 'integer' || /^\d+$/.test(String(value)), `${says}\nhas ${name}: ${value}`);
    }
    if (described.content === undefined) return assert.equal(answer.text, '', `${says}\nhas a body that is not described`);
    const type = String(headers['content-type']).split(';')[0]!;
    const content = described.content[type] ?? described.content['*/*'];
    assert.ok(content, `${says}\nhas a content type that is not described: ${type}`);
    const { schema } = content;
    if (schema === undefined) return;
    const problem = this.problemOf(schema, answer.json);
    if (problem !== null) assert.fail(`${says}\nis not as described: ${problem}`);
    const hasOwnForm = Object.hasOwn(answer.json, 'status') || Object.hasOwn(answer.json, 'jsonrpc');
    if (status >= 400 && !hasOwnForm) assert.deepEqual(Object.keys(answer.json), ['detail'], says);
    if (status === 422) {
      for (const { loc, msg } of answer.json.detail) {
        assert.match(String(loc[0]), /^(body|query|path|header)$/, says);
        assert.ok(msg.length > 3 && msg.length < 500, says);
      }
    }
  }

  /** What is wrong with a value; null where it is as the schema says. */
  problemOf(schema: JsonSchema, value: unknown): string | null {
    let validator = this.validators.get(schema);
    if (validator === undefined) {
      validator = Schema.Compile(schema as never) as unknown as Validator;
      this.validators.set(schema, validator);
    }
    if (validator.Check(value)) return null;
    const [, errors] = validator.Errors(value);
    return errors.map((error) => `${error.instancePath} ${error.message}`).join('; ');
  }
}

/** The document with its references resolved. */
function resolved(document: Json): unknown {
  const known = new Map<string, unknown>();
  const resolve = (value: Json): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value.$ref !== 'string') return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
    const path = value.$ref as string;
    if (!known.has(path))
      known.set(
        path,
        resolve(
          path
            .slice(2)
            .split('/')
            .reduce((inside, name) => inside[name], document),
        ),
      );
    return known.get(path);
  };
  return resolve(document);
}

function operationOf(method: string, path: string, described: DescribedOperation): Operation {
  const content = described.requestBody?.content;
  const json = content?.['application/json'];
  const parameters: Parameter[] = described.parameters ?? [];
  return {
    name: `${method} ${path}`,
    method,
    path,
    scope: scopeOf(described),
    parameters,
    body: json?.schema ?? (content === undefined ? null : 'multipart'),
    example: json?.example,
    isIdempotent: parameters.some(({ name }) => name === 'Idempotency-Key'),
    responses: described.responses,
  };
}

function scopeOf(described: DescribedOperation): string | null {
  if (described.security?.length === 0) return null;
  return described['x-session'] === true ? 'session' : (described['x-scopes']![0] ?? 'any');
}
