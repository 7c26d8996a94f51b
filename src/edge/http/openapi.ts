/** Builds the OpenAPI 3.1 description from the route declarations that also validate requests. */
import { setImmediate } from 'node:timers/promises';
import type { TObject, TSchema } from 'typebox';
import { answersOf, json, sharedAnswers } from './described-answers.ts';
import { exampleOf, type KnownExamples } from './examples.ts';
import { type AnyRoute, isIdempotent, isTagged, parameterSchema } from './route.ts';

/** A chapter of the reference: the operations whose paths begin with one of `paths`; the longest match counts. */
export type Chapter = { name: string; description: string; paths: readonly string[] };

export type OpenApiOptions = {
  /** Base address of the service, e.g. `http://127.0.0.1:8080`. */
  publicUrl: string;
  /** Markdown; `{base_url}` in it is replaced by the base address. */
  description?: string;
  /** In the order of the reference. A path without a chapter gets one named after its first segment. */
  chapters?: readonly Chapter[];
  examples?: KnownExamples;
  /** Notifications that the service sends. */
  webhooks?: object;
};

type Json = Record<string, unknown>;

/**
 * @returns a document that is plain JSON. It is built path by path, and the event loop runs in between: all of it takes a tenth of a second.
 */
export async function openApiDocument(routes: readonly AnyRoute[], options: OpenApiOptions): Promise<Json> {
  const { publicUrl, description = 'Natural-language tasks, run by AI agents.', chapters = [], examples = {}, webhooks } = options;
  // OpenAPI has no form for a parameter with slashes.
  const described = routes.map((route) => ({ ...route, path: route.path.replace('*}', '}') }));
  const schemas: Json = {};
  const paths: Json = {};
  for (const [path, onPath] of Map.groupBy(inReadingOrder(described), (route) => route.path)) {
    const operations = onPath.map((route) => [route.method.toLowerCase(), operation(route, chapterOf(route, chapters), examples)]);
    paths[path] = withNamedSchemas(Object.fromEntries(operations), schemas);
    await setImmediate();
  }
  const used = new Set(described.map((route) => chapterOf(route, chapters)));
  const known = chapters.filter(({ name }) => used.delete(name)).map(({ name, description: about }) => ({ name, description: about }));
  return {
    openapi: '3.1.0',
    info: { title: 'Troupe', version: '0.1.0', description: description.replaceAll('{base_url}', publicUrl) },
    servers: [
      { url: `${publicUrl}/v1`, description: 'The first form of every answer' },
      { url: publicUrl, description: 'The second form, where two cannot be merged' },
    ],
    security: [{ bearer: [] }, { cookie: [] }],
    tags: [...known, ...[...used].map((name) => ({ name }))],
    paths,
    ...(webhooks === undefined ? {} : { webhooks: withNamedSchemas(webhooks, schemas) }),
    components: { ...withNamedSchemas({ securitySchemes, ...sharedAnswers }, schemas), schemas },
  };
}

/** Routes in the order of the reference: a route that names a path follows all routes of that path. */
function inReadingOrder(routes: readonly AnyRoute[]): AnyRoute[] {
  const paths = new Set(routes.map(({ path }) => path));
  const isPlaced = ({ describedAfter }: AnyRoute) => describedAfter !== undefined && paths.has(describedAfter);
  const ordered = routes.filter((route) => !isPlaced(route));
  // Of several that name the same path, the last is inserted first.
  for (const route of routes.filter(isPlaced).reverse())
    ordered.splice(ordered.findLastIndex(({ path }) => path === route.describedAfter) + 1, 0, route);
  return ordered;
}

/**
 * Schemas carry functions and hidden marks of the validator; what remains is JSON Schema 2020-12, the dialect of OpenAPI 3.1. An object
 * schema with a title is moved to `schemas`, under that name. Throws where two have the same title.
 */
function withNamedSchemas(part: object, schemas: Json): Json {
  return JSON.parse(JSON.stringify(part), (_, value) => {
    if (typeof value?.title !== 'string' || value.properties === undefined) return value;
    const { title } = value;
    if (schemas[title] !== undefined && JSON.stringify(schemas[title]) !== JSON.stringify(value))
      throw new Error(`Two schemas have the title ${title}`);
    schemas[title] = value;
    return { $ref: `#/components/schemas/${title}` };
  });
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (`mk_live_…`, `mk_test_…`) or the access token of a session. The reference puts `Bearer` before it.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'troupe_session',
    description:
      'Set by `POST /auth/session`. Requests that change something also need the header `X-CSRF-Token`, equal to the cookie `troupe_csrf`. Over https both names begin with `__Host-`.',
  },
};

function operation(route: AnyRoute, tag: string, known: KnownExamples): Json {
  const { scope, path } = route;
  const parameters = [
    ...parametersOf('path', parameterSchema(route), { ...known, ...pathExamples(path, known) }),
    ...parametersOf('query', route.query, known),
    ...parametersOf('header', route.headers, known),
    ...(isIdempotent(route) ? [idempotencyKey] : []),
    ...(isTagged(route) ? [ifNoneMatch] : []),
  ];
  return {
    operationId: operationId(route),
    tags: [tag],
    summary: route.summary,
    description: describe(route),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...access(scope),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, known) }),
    responses: answersOf(route, known),
  };
}

/** `x-session`: API keys are refused, whatever their scopes. */
function access(scope: AnyRoute['scope']): Json {
  if (scope === null) return { security: [] };
  const needed = scope === 'any' || scope === 'session' ? [] : [scope];
  return { security: [{ bearer: needed }, { cookie: [] }], 'x-scopes': needed, ...(scope === 'session' ? { 'x-session': true } : {}) };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key gets the first response again and changes nothing',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '5f0c1b9e-7a43-4d0b-9a3e-0d5f2f1c8e11',
};

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier response: an unchanged resource is answered with 304, without a body',
  schema: { type: 'string' },
};

function describe({ description, scope, extension }: AnyRoute): string {
  const access: Record<string, string> = { any: 'Needs a token.', session: 'Needs a user session; API keys are refused.' };
  const needs = scope === null ? 'Needs no token.' : (access[scope] ?? `Needs the scope \`${scope}\`.`);
  return [description, extension === true ? `${needs} Goes beyond the interface specification.` : needs]
    .filter((text) => text !== undefined)
    .join('\n\n');
}

/** `GET /tasks/{id}/deliverables` → `getTasksByIdDeliverables`: unique because method and path are. */
function operationId({ method, path }: AnyRoute): string {
  const words = path.split(/[/-]/).filter((word) => word !== '');
  if (words.length === 0) return `${method.toLowerCase()}Root`;
  return method.toLowerCase() + words.map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word))).join('');
}

function capital(word: string): string {
  return word
    .split(/[_.]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function chapterOf({ path }: AnyRoute, chapters: readonly Chapter[]): string {
  let found = { name: capital(path.split('/')[1]!), prefix: '' };
  for (const { name, paths } of chapters)
    for (const prefix of paths) if (`${path}/`.startsWith(`${prefix}/`) && prefix.length > found.prefix.length) found = { name, prefix };
  return found.name;
}

/** Examples of a parameter by the path up to it: `/tasks/{id}`. */
function pathExamples(path: string, known: KnownExamples): KnownExamples {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(({ 0: braces, 1: name, index }) => [
    name!,
    known[path.slice(0, index + braces.length)],
  ]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

function parametersOf(place: 'path' | 'query' | 'header', schema: TObject | undefined, known: KnownExamples): Json[] {
  if (schema === undefined) return [];
  const needed = new Set<string>(schema.required);
  return Object.entries(schema.properties as Record<string, TSchema & { description?: string }>).map(([name, field]) => {
    const hasDefault = Object.hasOwn(field, 'default');
    const required = place === 'path' || (needed.has(name) && !hasDefault);
    const about = field.description === undefined ? {} : { description: field.description };
    return {
      name,
      in: place,
      required,
      ...about,
      schema: field,
      ...(hasDefault ? {} : shownExample(required, exampleOf(field, known, name))),
    };
  });
}

/** The reference shows optional parameters, but sends them only when they are selected. */
function shownExample(required: boolean, value: unknown): Json {
  return required ? { example: value } : { examples: { default: { value, 'x-disabled': true } } };
}

function requestBody(body: TSchema | 'multipart', known: KnownExamples): Json {
  if (body !== 'multipart')
    return { required: ((body as { required?: string[] }).required?.length ?? 0) > 0, content: json(body, exampleOf(body, known)) };
  const schema = {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'With its name, e.g. `report.csv`' },
      path: {
        type: 'string',
        description: 'The name of the file with its folders, e.g. `assets/app.css`, instead of the name in `file`. Send it before the file',
        'x-extension': true,
      },
    },
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}
