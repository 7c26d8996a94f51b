/** The OpenAPI 3.1 description, made from the route declarations that also validate requests. */
import type { TObject, TSchema } from 'typebox';
import { type AnyRoute, errorStatuses, isIdempotent, isTagged, parameterSchema } from './route.ts';
import { statusLine } from './status.ts';

export type OpenApiOptions = {
  /** Where the service is reached, e.g. `http://127.0.0.1:8080`. */
  publicUrl: string;
  description?: string;
};

type Json = Record<string, unknown>;

/** @returns a document that is plain JSON */
export function openApiDocument(routes: readonly AnyRoute[], { publicUrl, description }: OpenApiOptions): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operation(route);
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Troupe', version: '0.1.0', description: description ?? 'Natural-language tasks, run by AI agents.' },
    servers: [
      { url: `${publicUrl}/v1`, description: 'Variant A of every answer' },
      { url: publicUrl, description: 'Variant B where the two cannot be merged' },
    ],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map(tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key (mk_live_…, mk_test_…) or the access token of a session' },
      },
      schemas: { Error: errorSchema, ValidationError: validationErrorSchema },
      headers: {
        RequestId: { description: "Names this request in logs; the caller's own where it sent one", schema: { type: 'string' } },
        ETag: { description: 'Changes with the answer; send it as If-None-Match', schema: { type: 'string' } },
      },
    },
  };
  // Schemas carry functions and hidden marks of the validator; what remains is JSON Schema 2020-12, the dialect of OpenAPI 3.1.
  return JSON.parse(JSON.stringify(document)) as Json;
}

const errorSchema = {
  type: 'object',
  required: ['detail'],
  properties: { detail: { type: 'string' } },
};

const validationErrorSchema = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type'],
        properties: {
          loc: { type: 'array', items: { type: ['string', 'integer'] } },
          msg: { type: 'string' },
          type: { type: 'string' },
          input: {},
          ctx: { type: 'object' },
        },
      },
    },
  },
};

function operation(route: AnyRoute): Json {
  const { scope } = route;
  const parameters = [
    ...parametersOf('path', parameterSchema(route)),
    ...parametersOf('query', route.query),
    ...parametersOf('header', route.headers),
    ...(isIdempotent(route) ? [idempotencyKey] : []),
    ...(isTagged(route) ? [ifNoneMatch] : []),
  ];
  return {
    operationId: operationId(route),
    tags: [tag(route)],
    summary: route.summary,
    ...(route.description === undefined && scope === null ? {} : { description: describe(route) }),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...(scope === null ? { security: [] } : { 'x-scope': scope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body) }),
    responses: responses(route),
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same request answers as the first time did and changes nothing more',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier answer: what has not changed since is answered 304, without its body',
  schema: { type: 'string' },
};

function describe({ description, scope }: AnyRoute): string {
  const access: Record<string, string> = { any: 'Needs a token.', session: 'Needs a user session.' };
  const needs = scope === null ? 'Needs no token.' : (access[scope] ?? `Needs the scope \`${scope}\`.`);
  return description === undefined ? needs : `${description}\n\n${needs}`;
}

/** `GET /tasks/{id}/deliverables` → `getTasksByIdDeliverables`: unique because method and path are. */
function operationId({ method, path }: AnyRoute): string {
  const words = path.split(/[/-]/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word))).join('');
}

function capital(word: string): string {
  return word
    .split(/[_.]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function tag({ path }: AnyRoute): string {
  return path.split('/')[1]!;
}

function parametersOf(place: 'path' | 'query' | 'header', schema: TObject | undefined): Json[] {
  if (schema === undefined) return [];
  const required = new Set<string>(schema.required);
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) => ({
    name,
    in: place,
    required: required.has(name),
    schema: field,
  }));
}

function requestBody(body: TSchema | 'multipart'): Json {
  if (body !== 'multipart') return { required: ((body as { required?: string[] }).required?.length ?? 0) > 0, content: json(body) };
  const schema = {
    type: 'object',
    required: ['file'],
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

function responses(route: AnyRoute): Json {
  const headers = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
  const all: Record<string, Json> = {};
  for (const [status, schema] of Object.entries(route.responses)) {
    const raw = route.contentTypes?.[Number(status)];
    const content = raw === undefined ? schema && json(schema) : { [raw]: {} };
    all[status] = { description: reason(Number(status)), headers, ...(content === null ? {} : { content }) };
  }
  if (isTagged(route)) {
    all[200]!.headers = { ...headers, ETag: { $ref: '#/components/headers/ETag' } };
    all[304] = { description: reason(304), headers };
  }
  for (const status of errorStatuses(route)) {
    const name = status === 422 ? 'ValidationError' : 'Error';
    all[status] ??= { description: reason(status), headers, content: json({ $ref: `#/components/schemas/${name}` }) };
  }
  return all;
}

function json(schema: unknown): Json {
  return { 'application/json': { schema } };
}

function reason(status: number): string {
  return statusLine(status).slice(4);
}
