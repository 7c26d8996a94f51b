import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import { Task } from '../../../src/domains/tasks/task/entity.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { AppError, type ErrorCode, errorCodes } from '../../../src/errors.ts';
import { Database } from '../../../src/storage/database.ts';
import { testDatabase } from '../../support/database.ts';
import { startEdge } from '../../support/http-edge.ts';

/** Texts that no answer may contain: SQL, stacks, file names, and the messages of the errors below. */
const inside =
  /select|insert|relation|column|constraint|syntax|postgres|\bpg\b|node:|\.ts\b|\bat \w|\/work|\/src|hunter2|acct_other|secret_table|stack|cause/i;

let database: Database;
let close: () => Promise<void>;
before(async () => {
  const made = await testDatabase();
  database = new Database(made.url);
  close = async () => {
    await database.close();
    await made.close();
  };
});
after(() => close());

const circular: Record<string, unknown> = { message: 'hunter2' };
circular.self = circular;

/** Everything that can be thrown, by name. */
const thrown: Record<string, () => unknown> = {
  'a TypeError': () => new TypeError("Cannot read properties of undefined (reading 'hunter2') at /src/actors/task.ts"),
  'a file error': () => Object.assign(new Error("ENOENT: no such file, open '/work/secret'"), { code: 'ENOENT', path: '/work/secret' }),
  'an error with a status': () => Object.assign(new Error('hunter2'), { status: 200, statusCode: 404, expose: true, code: 'not_found' }),
  'an error with a cause': () => new Error('hunter2', { cause: new AppError('not_found', 'acct_other') }),
  'an internal AppError': () => new AppError('internal', 'hunter2 of acct_other'),
  'a stale epoch': () => new AppError('stale_epoch', 'shard 7 of acct_other'),
  'an AppError with a cause': () => new AppError('unavailable', 'Try again', { cause: new Error('select hunter2 from secret_table') }),
  'a string': () => 'hunter2',
  nothing: () => undefined,
  null: () => null,
  'a circle': () => circular,
  'an error that throws when it is inspected': () =>
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('hunter2');
      },
    }),
};

const asks: Record<string, (name: string) => unknown> = {
  pool: () => database.read({ text: 'select hunter2 from secret_table' }),
  write: () => database.write({ text: `insert into app_user (id) values ('acct_other')` }),
  syntax: () => database.read({ text: 'selec 1' }),
  list: () => database.list('acct', (em) => em.find(Task, { nothing: 'acct_other' } as never)),
  time: () => database.list('acct', (em) => em.getConnection().execute('set statement_timeout = 1; select pg_sleep(1)')),
};

function layers(fail: () => never): { where: string; options: Parameters<typeof startEdge>[1]; routes: AnyRoute[] }[] {
  const one = (handler: () => never | Promise<never>): AnyRoute[] => [
    route({
      method: 'POST',
      path: '/work',
      summary: 'Fails',
      scope: 'any',
      body: Type.Unknown(),
      responses: { 200: Type.Unknown() },
      handler,
    }),
  ];
  const fine = one((() => ({ status: 200, json: 1 })) as never);
  return [
    { where: 'the handler', routes: one(fail), options: {} },
    { where: 'the handler, later', routes: one(async () => fail()), options: {} },
    { where: 'what wraps the handler', routes: fine, options: { around: fail } },
    { where: 'what wraps the handler, later', routes: fine, options: { around: async () => fail() } },
    { where: 'authentication', routes: fine, options: { authenticate: fail } },
    { where: 'authentication, later', routes: fine, options: { authenticate: async () => fail() } },
    { where: 'the limits', routes: fine, options: { limits: { admit: fail, peek() {} } } },
    { where: 'the limits, later', routes: fine, options: { limits: { admit: async () => fail(), peek() {} } } },
    { where: 'admission', routes: fine, options: { isOverloaded: fail } },
  ];
}

const send = (url: string) =>
  fetch(`${url}/v1/work`, { method: 'POST', body: '{}', headers: { authorization: 'Bearer all', 'content-type': 'application/json' } });

test('no error of any layer reveals internals to its caller', async (t) => {
  let next: () => unknown = () => undefined;
  const edges = await Promise.all(
    layers(() => {
      throw next();
    }).map(async ({ where, routes, options }) => ({ where, edge: await startEdge(routes, options) })),
  );
  t.after(() => Promise.all(edges.map(({ edge }) => edge.server.close(0))));
  for (const [name, make] of Object.entries(thrown)) {
    next = make;
    for (const { where, edge } of edges) {
      const response = await send(edge.url);
      const text = await response.text();
      assert.ok(response.status === 500 || response.status === 503, `${name} in ${where}: ${response.status} ${text}`);
      assert.deepEqual(Object.keys(JSON.parse(text)), ['detail'], `${name} in ${where}`);
      assert.doesNotMatch(text, inside, `${name} in ${where}`);
      assert.match(response.headers.get('x-request-id')!, /^req_/);
    }
  }
});

test('no answer contains an error text of the database', async (t) => {
  const edge = await startEdge(
    Object.entries(asks).map(([name, ask]) =>
      route({
        method: 'GET',
        path: `/${name}`,
        summary: 'Fails',
        scope: null,
        responses: { 200: Type.Unknown() },
        handler: async () => ({ status: 200, json: await ask(name) }),
      }),
    ),
  );
  t.after(() => edge.server.close(0));
  for (const name of Object.keys(asks)) {
    const response = await fetch(`${edge.url}/${name}`);
    const text = await response.text();
    assert.ok(response.status === 500 || response.status === 503, `${name}: ${response.status} ${text}`);
    assert.doesNotMatch(text, inside, name);
  }
});

test('every code of the table is answered with its status, with Retry-After where that helps, and with its text only if it is public', async (t) => {
  const edge = await startEdge([
    route({
      method: 'GET',
      path: '/fails/{code}',
      summary: 'Fails',
      scope: null,
      responses: { 200: Type.Unknown() },
      handler({ params }): never {
        throw new AppError(params.code as ErrorCode, 'A text');
      },
    }),
  ]);
  t.after(() => edge.server.close(0));
  for (const [code, { http, public: isPublic }] of Object.entries(errorCodes)) {
    const response = await fetch(`${edge.url}/fails/${code}`);
    assert.equal(response.status, http, code);
    assert.equal(response.headers.get('retry-after'), http === 429 || http === 503 ? '1' : null, code);
    const { detail } = (await response.json()) as { detail: string };
    assert.equal(detail === 'A text', isPublic, code);
  }
});

test("of several errors of a request the first in the contract's order is reported", async (t) => {
  const edge = await startEdge(
    [
      route({
        method: 'POST',
        path: '/things/{id}',
        summary: 'Checks',
        scope: 'tasks.write',
        body: Type.Object({ n: Type.Integer() }),
        responses: { 200: Type.Unknown() },
        handler({ params }) {
          if (params.id === 'missing') throw new AppError('not_found', 'Not found');
          throw new AppError(params.id === 'dear' ? 'plan_required' : 'conflict', 'No');
        },
      }),
    ],
    {
      limits: {
        admit: (principal, request) => (principal !== null && request.has('x-too-many') ? new AppError('rate_limited', 'Too many') : null),
        peek() {},
      },
    },
  );
  t.after(() => edge.server.close(0));
  const wrong = { authorization: 'Bearer nobody', type: 'text/plain', body: '{{', path: 'missing', 'x-too-many': '1' };
  // Put right one after the other, in the order of the checks.
  const steps: [Partial<typeof wrong>, number][] = [
    [{}, 401],
    [{ authorization: 'Bearer reader' }, 403],
    [{ authorization: 'Bearer all' }, 429],
    [{ 'x-too-many': '' }, 415],
    [{ type: 'application/json' }, 400],
    [{ body: '{"n":"x"}' }, 422],
    [{ body: '{"n":1}' }, 404],
    [{ path: 'dear' }, 402],
    [{ path: 'busy' }, 409],
  ];
  let request = wrong;
  for (const [righted, status] of steps) {
    request = { ...request, ...righted };
    const { authorization, type, body, path } = request;
    const headers = { authorization, 'content-type': type, ...(request['x-too-many'] === '' ? {} : { 'x-too-many': '1' }) };
    const response = await fetch(`${edge.url}/v1/things/${path}`, { method: 'POST', headers, body });
    assert.equal(response.status, status, JSON.stringify(righted));
  }
});
