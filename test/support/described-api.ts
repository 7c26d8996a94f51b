/**
 * The service as its own OpenAPI description tells it: its operations, an example of what each takes, and whether an answer is one that the
 * description promises. Tests that walk over it cover a new endpoint by themselves.
 */
import assert from 'node:assert/strict';
import Schema from 'typebox/schema';
import type { Answer } from './http-client.ts';

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
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
};
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema };
export type Operation = {
  method: string;
  path: string;
  /** null: public. */
  scope: string | null;
  parameters: Parameter[];
  /** The schema of its JSON body, `multipart`, or null where it takes none. */
  body: JsonSchema | 'multipart' | null;
  responses: Record<string, { content?: Record<string, { schema?: JsonSchema }> }>;
};

type Validator = { Check(value: unknown): boolean; Errors(value: unknown): [boolean, { instancePath: string; message: string }[]] };

export class DescribedApi {
  readonly operations: Operation[];
  /** `GET /tasks` for each operation that was seen to succeed. */
  readonly succeeded = new Set<string>();
  private readonly validators = new Map<object, Validator>();

  constructor(described: any) {
    const document = resolved(described);
    this.operations = Object.entries(document.paths as Record<string, Record<string, any>>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        method: method.toUpperCase(),
        path,
        scope: scopeOf(described),
        parameters: described.parameters ?? [],
        body: bodyOf(described.requestBody?.content),
        responses: described.responses,
      })),
    );
  }

  /** The declared operation that a request's path (with or without /v1) belongs to. */
  find(method: string, path: string): Operation {
    const bare = path.replace(/^\/v1(?=\/)/, '').replace(/\?.*/, '');
    const fits = this.operations.filter(
      (operation) =>
        operation.method === (method === 'HEAD' ? 'GET' : method) &&
        new RegExp(`^${operation.path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
    );
    const found = fits.find((operation) => !operation.path.includes('{')) ?? fits[0];
    assert.ok(found, `${method} ${path} is not described`);
    return found;
  }

  methodsOf(path: string): string[] {
    return this.operations.filter((operation) => operation.path === path).map((operation) => operation.method);
  }

  /** Fails unless the answer is one that the description promises for this operation: its status, its type, its fields. */
  check(operation: Operation, answer: Answer, what: string): void {
    const { status } = answer;
    const says = `${what}: ${status} ${answer.text.slice(0, 400)}`;
    assert.ok(status < 500, says);
    assert.match(String(answer.headers['x-request-id']), /^[\w-]{1,128}$/, says);
    const described = operation.responses[status];
    assert.ok(described, `${says}\nis not a described answer of ${operation.method} ${operation.path}`);
    if (status < 400) this.succeeded.add(`${operation.method} ${operation.path}`);
    const schema = described.content?.['application/json']?.schema;
    if (schema === undefined) {
      if (status >= 400) assert.fail(`${says} has no described body`);
      return;
    }
    assert.match(String(answer.headers['content-type']), /^application\/json/, says);
    const validator = this.validatorOf(schema);
    if (!validator.Check(answer.json)) {
      const [, errors] = validator.Errors(answer.json);
      assert.fail(`${says}\nis not as described: ${errors.map((error) => `${error.instancePath} ${error.message}`).join('; ')}`);
    }
    if (status >= 400) assert.deepEqual(Object.keys(answer.json), ['detail'], says);
  }

  validatorOf(schema: JsonSchema): Validator {
    let validator = this.validators.get(schema);
    if (validator === undefined) {
      validator = Schema.Compile(schema as never) as unknown as Validator;
      this.validators.set(schema, validator);
    }
    return validator;
  }
}

/** The document with whatever its references name in their places. */
function resolved(document: any): any {
  const known = new Map<string, unknown>();
  const resolve = (value: any): any => {
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

function scopeOf(operation: any): string | null {
  if (operation.security?.length === 0) return null;
  return operation['x-session'] === true ? 'session' : (operation['x-scopes'][0] ?? 'any');
}

function bodyOf(content: Record<string, { schema: JsonSchema }> | undefined): Operation['body'] {
  if (content === undefined) return null;
  return content['multipart/form-data'] === undefined ? content['application/json']!.schema : 'multipart';
}

/** A value that the schema accepts, with every optional field filled in. */
export function example(schema: JsonSchema, name = ''): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return example(schema.anyOf[0]!, name);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([field, inner]) => [field, example(inner, field)]));
    case 'array':
      return [example(schema.items ?? {}, name)];
    case 'integer':
    case 'number':
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case 'boolean':
      return true;
    case 'string':
      if (schema.format === 'email') return `${Math.random().toString(36).slice(2)}@example.com`;
      return `${name} ${'example '.repeat(2 + Math.ceil((schema.minLength ?? 0) / 8))}`.slice(0, schema.maxLength).trim();
    default:
      return null;
  }
}
