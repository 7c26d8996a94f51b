import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import Type from 'typebox';
import { docsRoutes } from '../../../src/edge/http/docs.ts';
import { openApiDocument } from '../../../src/edge/http/openapi.ts';
import { joinReference } from '../../../src/edge/http/reference-part.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { Money } from '../../../src/edge/http/validate.ts';
import { startEdge, type TestEdge } from '../../support/http-edge.ts';
import { rawRequest } from '../../support/raw-http.ts';

type Operation = {
  operationId: string;
  description: string;
  security?: unknown[];
  'x-scopes'?: string[];
  'x-extension'?: boolean;
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Record<string, { schema: { properties: Record<string, Record<string, unknown>> } }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref?: string } }> }>;
};
type Document = {
  openapi: string;
  info: { version: string; title: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: { bearer: object } };
};

const routes: AnyRoute[] = [
  route({
    method: 'POST',
    path: '/tasks',
    summary: 'Create',
    scope: 'tasks.write',
    errors: [402, 409],
    body: Type.Object({
      prompt: Type.String({ minLength: 1 }),
      budget: Type.Optional(Money()),
      kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Null()])),
    }),
    responses: { 201: Type.Object({ id: Type.String() }) },
    handler: () => ({ status: 201, json: { id: '1' } }),
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}/files/{file_id}',
    summary: 'One',
    scope: 'tasks.read',
    extension: true,
    query: Type.Object({ limit: Type.Optional(Type.Integer({ default: 20 })) }),
    responses: { 200: null },
    contentTypes: { 200: 'application/octet-stream' },
    handler: () => ({ status: 200 }),
  }),
  route({
    method: 'POST',
    path: '/files',
    summary: 'Upload',
    scope: 'any',
    body: 'multipart',
    responses: { 201: null },
    handler: () => ({ status: 201 }),
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Login',
    scope: null,
    idempotent: false,
    responses: { 200: null },
    handler: () => ({ status: 200 }),
  }),
];

let edge: TestEdge;
let document: Document;
before(async () => {
  edge = await startEdge([...routes, ...docsRoutes(routes, { publicUrl: 'http://127.0.0.1:8080' })]);
  document = (await (await fetch(`${edge.url}/v1/openapi.json`)).json()) as Document;
});
after(() => edge.server.close(0));

test('the description is served on both paths and names version, servers and the Bearer scheme', async () => {
  assert.deepEqual(await (await fetch(`${edge.url}/openapi.json`)).json(), document);
  assert.deepEqual(
    [document.openapi, document.info.version, document.servers.map((server) => server.url)],
    ['3.1.0', '0.1.0', ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080']],
  );
  assert.equal((document.components.securitySchemes.bearer as { scheme: string }).scheme, 'bearer');
});

test('every declared route is in the description, with the schema that validates it', () => {
  assert.deepEqual(Object.keys(document.paths), [
    '/tasks',
    '/tasks/{id}/files/{file_id}',
    '/files',
    '/auth/login',
    '/openapi.json',
    '/docs',
    '/docs/scalar.js',
  ]);
  const create = document.paths['/tasks']!.post!;
  const { prompt, budget } = create.requestBody!.content['application/json']!.schema.properties;
  assert.deepEqual(prompt, { type: 'string', minLength: 1 });
  assert.deepEqual([budget!.type, budget!.minimum], ['number', 0]);
  assert.deepEqual(Object.keys(document.paths['/files']!.post!.requestBody!.content), ['multipart/form-data']);
});

test('scopes, open endpoints and extensions are described', () => {
  const create = document.paths['/tasks']!.post!;
  const one = document.paths['/tasks/{id}/files/{file_id}']!.get!;
  const login = document.paths['/auth/login']!.post!;
  assert.deepEqual(
    [create['x-scopes'], create.security, one['x-extension'], create['x-extension'], login.security, login['x-scopes']],
    [['tasks.write'], [{ bearer: ['tasks.write'] }, { cookie: [] }], true, undefined, [], undefined],
  );
  assert.match(create.description, /Needs the scope `tasks.write`/);
});

test('the failures that can occur are listed with their bodies', () => {
  assert.deepEqual(Object.keys(document.paths['/tasks']!.post!.responses), [
    '201',
    '400',
    '401',
    '402',
    '403',
    '409',
    '413',
    '415',
    '422',
    '429',
    '500',
    '503',
    '504',
  ]);
  assert.deepEqual(Object.keys(document.paths['/auth/login']!.post!.responses), ['200', '429', '500', '503', '504']);
  assert.deepEqual(Object.keys(document.paths['/tasks/{id}/files/{file_id}']!.get!.responses), [
    '200',
    '401',
    '403',
    '404',
    '422',
    '429',
    '500',
    '503',
  ]);
  assert.equal(
    document.paths['/tasks']!.post!.responses['422']!.content!['application/json']!.schema.$ref,
    '#/components/schemas/ValidationError',
  );
});

test('idempotency keys are described for the routes that support them', () => {
  const offers = (operation: Operation): boolean => (operation.parameters ?? []).some((parameter) => parameter.name === 'Idempotency-Key');
  assert.deepEqual(
    [offers(document.paths['/tasks']!.post!), offers(document.paths['/auth/login']!.post!), offers(document.paths['/docs']!.get!)],
    [true, false, false],
  );
});

test('the description is valid OpenAPI 3.1, its operation ids are unique and its references resolve', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.equal(new Set(ids).size, ids.length);
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    assert.ok(
      reference!.split('/').reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], document),
      reference,
    );
  }
});

test('an object with a title is described once; two different ones with one title are refused', async () => {
  const named = (title: string, field: string) => Type.Object({ [field]: Type.String() }, { title });
  const answering = (path: string, schema: Type.TSchema) =>
    route({ method: 'GET', path, summary: 'One', scope: null, responses: { 200: schema }, handler: () => ({ status: 200, json: null }) });
  const shared = named('Thing', 'a');
  const described = (await openApiDocument([answering('/a', shared), answering('/b', Type.Array(shared))], { publicUrl: '' })) as Document;
  assert.deepEqual(described.paths['/a']!.get!.responses[200]!.content!['application/json']!.schema, {
    $ref: '#/components/schemas/Thing',
  });
  assert.deepEqual(Object.keys(described.components.schemas.Thing!), ['type', 'required', 'properties', 'title']);
  const clashing = [answering('/a', shared), answering('/b', named('Thing', 'b'))];
  await assert.rejects(openApiDocument(clashing, { publicUrl: '' }), /title Thing/);
});

test('the reference page loads its script from this service and may load nothing from other hosts', async () => {
  for (const path of ['/docs', '/v1/docs']) {
    const response = await fetch(edge.url + path);
    const html = await response.text();
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    const policy = response.headers.get('content-security-policy')!;
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy + html, /https?:\/\//);
    assert.doesNotMatch(policy, /script-src[^;]*'unsafe-(inline|eval)'/);
  }
});

test('the script is sent compressed to clients that support it, and with 304 to clients that have it', async () => {
  const plain = await rawRequest(edge.port, 'GET /docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n');
  const small = await rawRequest(edge.port, 'GET /v1/docs/scalar.js HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, gzip\r\n\r\n');
  assert.deepEqual([plain?.status, small?.headers.get('content-encoding')], [200, 'br']);
  assert.deepEqual(brotliDecompressSync(small!.body), plain!.body);
  assert.match(plain!.body.toString(), /createApiReference/);
  const known = await fetch(`${edge.url}/docs/scalar.js`, { headers: { 'if-none-match': plain!.headers.get('etag')! } });
  assert.equal(known.status, 304);
});

test('parts of the reference are joined: first listed chapters in their order, then others; an example name is defined in one part', () => {
  const part = (name: string, examples: Record<string, unknown>) => ({ chapters: [{ name, paths: [], description: '' }], examples });
  const [doors, bells, alarms] = [part('Doors', { width: 1 }), part('Bells', { tone: 'a' }), part('Alarms', { 'Alarm.tone': 'b' })];
  const joined = joinReference([doors, bells, alarms], ['Alarms', 'Doors']);
  assert.deepEqual(
    joined.chapters!.map(({ name }) => name),
    ['Alarms', 'Doors', 'Bells'],
  );
  assert.deepEqual(joined.examples, { width: 1, tone: 'a', 'Alarm.tone': 'b' });
  assert.throws(() => joinReference([doors, part('Windows', { width: 2 })], []), /Two parts of the API have an example for width/);
});

test('an operation that names a path is described after that path; without such a path it keeps its position', async () => {
  const get = (path: string, describedAfter?: string) =>
    route({ method: 'GET', path, summary: path, scope: null, describedAfter, responses: { 204: null }, handler: () => ({ status: 204 }) });
  const routes = [get('/b', '/c'), get('/b/x', '/c'), get('/lost', '/nowhere'), get('/a'), get('/c'), get('/d')];
  const { paths } = await openApiDocument(routes, { publicUrl: '' });
  assert.deepEqual(Object.keys(paths as object), ['/lost', '/a', '/c', '/b', '/b/x', '/d']);
});
