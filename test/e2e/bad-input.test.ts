/**
 * Bad input at every endpoint of the real service. What is sent follows from the service's own OpenAPI description, so a new endpoint is
 * covered by itself; only a new kind of resource needs an example in `resourcesOf` (described-service.ts).
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { TOTP } from 'otpauth';
import { example, type JsonSchema, type Operation } from '../support/described-api.ts';
import {
  api,
  call,
  form,
  type Ids,
  json,
  keyOf,
  leftBehind,
  nameOf,
  openSite,
  pathOf,
  requestApproval,
  type Site,
  validBody,
  validHeaders,
} from '../support/described-service.ts';
import { bentIds, wrongValues } from '../support/hostile-values.ts';
import type { Answer } from '../support/http-client.ts';

const prefixes = ['/v1', ''];

test('whatever is sent to whichever endpoint, the answer is the one of the contract and nothing is left behind', {
  timeout: 240_000,
}, async (t) => {
  const site = await openSite(t);
  const before = await leftBehind(site.service);

  await t.test('without a token that counts it is 401', () => refusesStrangers(site));
  await t.test('a key without the scope is 403, before anything is looked at', () => refusesTheUnentitled(site));
  await t.test('another method is 405 and told which there are', () => refusesOtherMethods(site));
  await t.test('a body that is no JSON, or not sent as such, or too long, is refused', () => refusesBrokenBodies(site));
  await t.test('a missing or wrong field is 422 and named', () => refusesWrongFields(site));
  await t.test('a wrong query value is 422 and named', () => refusesWrongQueries(site));
  await t.test('ids that are unknown, bent or of another account are 404', () => refusesForeignIds(site));
  await t.test('an unknown path is 404', () => refusesUnknownPaths(site));
  await t.test('a header that is malformed is refused', () => refusesBrokenHeaders(site));

  assert.deepEqual(await leftBehind(site.service), before, 'refused requests leave no row and no file');
  await t.test('what is well-formed is answered as described', () => answersGoodRequests(site));
  const untested = site.api.operations.map(nameOf).filter((name) => !site.api.succeeded.has(name));
  assert.deepEqual(untested, [], 'every operation has also succeeded, so that its good answer was held against the description');
  assert.doesNotMatch(site.service.output(), /nobody listened|unexpectedly|\n\s+at /, 'the log holds no unhandled rejection and no stack');
  t.diagnostic(`${site.sent} requests to ${site.api.operations.length} operations`);
});

async function refusesStrangers(site: Site): Promise<void> {
  const bent = `${site.ann.token.slice(0, -3)}${site.ann.token.endsWith('AAA') ? 'BBB' : 'AAA'}`;
  const tokens = ['', 'Bearer', 'Bearer ', 'Basic YTpi', site.ann.token, 'Bearer null', `Bearer ${bent}`, `Bearer ${site.ann.token} x`];
  const keys = [
    `Bearer mk_live_${'a'.repeat(49)}`,
    `Bearer mk_live_${'é'.repeat(20)}`,
    `Bearer ${'x'.repeat(5000)}`,
    'Bearer v4.public.e30.e30',
  ];
  for (const operation of guarded(site)) {
    for (const prefix of prefixes) {
      for (const authorization of [...tokens, ...keys]) {
        const headers = { ...validHeaders(operation), ...(authorization === '' ? {} : { authorization: latin1(authorization) }) };
        const answer = await site.send(operation, { path: prefix + pathOf(site, operation), headers, body: validBody(operation) }, null);
        expect(answer, 401, operation, authorization.slice(0, 40));
        assert.equal(answer.headers['www-authenticate'], 'Bearer');
      }
    }
  }
}

async function refusesTheUnentitled(site: Site): Promise<void> {
  for (const operation of guarded(site)) {
    if (operation.scope === 'any') continue;
    for (const path of [pathOf(site, operation), pathOf(site, operation, unknownIds)]) {
      const broken = operation.body === null ? {} : { headers: { 'content-type': 'text/plain' }, body: 'no' };
      const answer = await site.send(operation, { path: `/v1${path}`, ...broken }, site.weakKey);
      expect(answer, 403, operation, 'a key with another scope');
      assert.match(answer.json.detail, operation.scope === 'session' ? /session/ : new RegExp(operation.scope!.replace('.', '\\.')));
    }
  }
}

async function refusesOtherMethods(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    const allowed = site.api.methodsOf(operation.path);
    const path = pathOf(site, operation);
    const allow = [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS', 'PROPFIND']) {
      if (allowed.includes(method)) continue;
      for (const prefix of prefixes) {
        const answer = await site.client.send({ method, path: prefix + path });
        assert.equal(answer.status, method === 'OPTIONS' ? 204 : 405, `${method} ${path}: ${answer.text}`);
        assert.deepEqual(String(answer.headers.allow).split(', ').sort(), allow, `${method} ${path}`);
        assert.ok(answer.headers['x-request-id']);
        if (method !== 'OPTIONS') assert.deepEqual(answer.json, { detail: 'Method Not Allowed' });
      }
    }
  }
}

async function refusesBrokenBodies(site: Site): Promise<void> {
  const malformed = ['{', '{"a":}', "{'a': 1}", '{"a": NaN}', '{"a": 1,}', ' ', 'nonsense', '{}{}', '\u0000', '[1', '"'];
  const bytes = [
    Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
    Buffer.from('{"a":"\xff"}', 'latin1'),
    Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'),
  ];
  const deep = [`${'['.repeat(100)}${']'.repeat(100)}`, '['.repeat(200_000), '{"a":'.repeat(50_000)];
  const types = [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/jsonp',
    ...Object.values(form),
  ];
  for (const operation of site.api.operations) {
    if (operation.body === null || operation.body === 'multipart') continue;
    const path = `/v1${pathOf(site, operation)}`;
    const send = (body: string | Uint8Array, headers: Record<string, string> = json, chunked = false) =>
      site.send(operation, { path, headers, body, chunked });
    for (const body of [...malformed, ...bytes, ...deep]) expect(await send(body), 400, operation, String(body).slice(0, 30));
    for (const type of types) expect(await send('{}', type === undefined ? {} : { 'content-type': type }), 415, operation, String(type));
    for (const body of ['[]', '"text"', '1', 'true', 'null', '[{}]']) {
      const answer = await send(body);
      expect(answer, 422, operation, body);
      assert.deepEqual(answer.json.detail[0].loc, ['body'], answer.text);
    }
    const long = JSON.stringify({ filler: 'x'.repeat(2 ** 20) });
    expect(await send(long), 413, operation, 'a long body');
    expect(await send(long, { ...json, 'transfer-encoding': 'chunked' }, true), 413, operation, 'a long body in chunks');
    const answer = await send('{"a":"\\ud800","b":"\\u0000"}');
    expect(answer, 422, operation, 'half a surrogate pair');
  }
}

async function refusesWrongFields(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    if (operation.body === null || operation.body === 'multipart') continue;
    const path = `/v1${pathOf(site, operation)}`;
    const whole = example(operation.body) as Record<string, unknown>;
    const refused = async (body: unknown, loc: string[], what: string): Promise<void> => {
      const answer = await site.send(operation, { path, headers: json, body: JSON.stringify(body) });
      expect(answer, 422, operation, what);
      const found = answer.json.detail.filter((issue: { loc: string[] }) => loc.every((part, i) => issue.loc[i] === part));
      assert.ok(found.length > 0, `${operation.path} ${what} names ${loc.join('.')}: ${answer.text.slice(0, 500)}`);
      assert.ok(
        found.every((issue: { msg: string }) => issue.msg.length > 3 && issue.msg.length < 500),
        answer.text,
      );
      assert.ok(answer.text.length < 20_000, `what was sent is not thrown back whole: ${answer.text.length} characters`);
    };
    for (const field of operation.body.required ?? []) {
      const { [field]: _, ...rest } = whole;
      await refused(rest, ['body', field], `without ${field}`);
    }
    for (const { loc, schema, put } of fieldsOf(operation.body, whole, ['body'])) {
      const accepts = site.api.validatorOf(schema);
      for (const value of wrongValues) {
        if (accepts.Check(value)) continue;
        await refused(put(value), loc, `${loc.join('.')} = ${JSON.stringify(value).slice(0, 40)}`);
      }
    }
  }
}

/** Every field of an object, those of inner objects too, with a way to replace it alone. */
function fieldsOf(
  schema: JsonSchema,
  whole: Record<string, unknown>,
  at: string[],
): { loc: string[]; schema: JsonSchema; put(value: unknown): unknown }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const loc = [...at, name];
    const put = (value: unknown) => ({ ...whole, [name]: value });
    const inner = fieldsOf(field, (whole[name] ?? {}) as Record<string, unknown>, loc);
    return [{ loc, schema: field, put }, ...inner.map((part) => ({ ...part, put: (value: unknown) => put(part.put(value)) }))];
  });
}

async function refusesWrongQueries(site: Site): Promise<void> {
  const numbers = [
    'abc',
    '',
    '%20',
    '1.5',
    '1e3',
    '-1',
    '0x10',
    'NaN',
    'Infinity',
    '9'.repeat(30),
    '%00',
    '%ff',
    '１',
    '1%2C2',
    'null',
    '9007199254740993',
  ];
  for (const operation of site.api.operations) {
    const path = `/v1${pathOf(site, operation)}`;
    for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
      const values = schema.type === 'integer' ? numbers : ['nonsense', '', '%00', 'x'.repeat(5_000), 'COMPLETE', '%ff'];
      const queries = values.map((value) => `${name}=${encodeURI(value).replaceAll('%25', '%')}`);
      for (const query of [...queries, `${name}=1&${name}=x`, `offset=0&${name}=x`]) {
        const answer = await site.send(operation, { path: `${path}?${query}` });
        expect(answer, 422, operation, query.slice(0, 60));
        assert.deepEqual(answer.json.detail[0].loc, ['query', name], answer.text);
      }
    }
    if (operation.method !== 'GET') continue;
    for (const query of ['unknown=1', '', '%', '=&&=', '__proto__=1', `a=${'b'.repeat(8_000)}`]) {
      assert.equal((await site.send(operation, { path: `${path}?${query}` })).status, 200, `${path}?${query.slice(0, 40)}`);
    }
  }
}

const unknownIds: Ids = new Proxy({}, { get: () => `task_${'0'.repeat(26)}` });
async function refusesForeignIds(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
    if (parameters.length === 0) continue;
    const gone = async (path: string, what: string): Promise<void> => {
      const answer = await site.send(operation, { path, headers: validHeaders(operation), body: validBody(operation) });
      expect(answer, 404, operation, what);
      assert.ok(answer.headers['x-injected'] === undefined);
    };
    for (const prefix of prefixes) {
      await gone(prefix + pathOf(site, operation, site.foreign), "another account's");
      await gone(prefix + pathOf(site, operation, unknownIds), 'an unknown one');
    }
    for (const name of parameters) {
      const key = keyOf(operation, name);
      await gone(`/v1${pathOf(site, operation, { ...site.own, [key]: site.foreign[key]! })}`, `another account's ${name} among one's own`);
      await gone(`/v1${pathOf(site, operation, { ...site.own, [key]: site.own[key]!.toUpperCase() })}`, `${name} in capitals`);
      for (const bent of bentIds) await gone(`/v1${pathOf(site, operation, { ...site.own, [key]: bent })}`, `${name} ${bent.slice(0, 40)}`);
    }
  }
}

async function refusesUnknownPaths(site: Site): Promise<void> {
  const paths = [
    '/',
    '//',
    '/v1',
    '/v1/',
    '/v2/tasks',
    '/v1/v1/tasks',
    '/v1/tasks/',
    '/v1//tasks',
    '/V1/tasks',
    '/v1/tasks%2f',
    '/v1/../v1/tasks',
    '/%',
    '/v1/%74asks',
  ];
  for (const path of [
    ...paths,
    `/${'x'.repeat(10_000)}`,
    `/${'a/'.repeat(4_000)}`,
    '/favicon.ico',
    '/.env',
    '/%00',
    '/docs/../package.json',
  ]) {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      const answer = await site.client.send({ method, path, headers: { authorization: `Bearer ${site.ann.token}` } });
      assert.equal(answer.status, 404, `${method} ${path.slice(0, 60)}`);
      assert.deepEqual(answer.json, { detail: 'Not Found' });
      assert.ok(answer.headers['x-request-id']);
    }
  }
}

async function refusesBrokenHeaders(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    if (!operation.parameters.some((parameter) => parameter.name === 'Idempotency-Key')) continue;
    for (const key of ['x'.repeat(256), 'a\tb', 'é', '', '""']) {
      const headers = { ...validHeaders(operation), 'idempotency-key': latin1(key) };
      const answer = await site.send(operation, { path: `/v1${pathOf(site, operation)}`, headers, body: validBody(operation) });
      expect(answer, 422, operation, `Idempotency-Key ${key.slice(0, 20)}`);
      assert.deepEqual(answer.json.detail[0].loc, ['header', 'Idempotency-Key']);
    }
  }
  const me = { method: 'GET', path: '/v1/auth/me' };
  for (const [given, kept] of [
    ['my-id_1', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['a b', false],
    ['é', false],
    ['<script>', false],
  ] as const) {
    const answer = await site.client.send({ ...me, headers: { 'x-request-id': latin1(given) } });
    assert.equal(answer.headers['x-request-id'] === given, kept, given);
  }
  const huge = await site.client.send({ ...me, headers: { 'x-filler': 'x'.repeat(15_000) } });
  assert.equal(huge.status, 401, 'long headers are read');
}

async function answersGoodRequests(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    if (operation.method !== 'GET') continue;
    for (const prefix of prefixes) {
      const path = prefix + pathOf(site, operation);
      const answer = await site.send(operation, { path });
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      const head = await site.send(operation, { method: 'HEAD', path }).catch(() => null);
      const bare = head ?? (await site.client.send({ method: 'HEAD', path, headers: { authorization: `Bearer ${site.ann.token}` } }));
      assert.deepEqual([bare.status, bare.text], [200, ''], `HEAD ${path}`);
    }
  }
  const { own, ann } = site;
  const post = (path: string, body?: unknown) => call(site, ann, 'POST', `/v1${path}`, body);
  await post(`/agents/${own.agents}/pause`);
  await post(`/agents/${own.agents}/resume`);
  await post(`/agents/${own.agents}/guide`, { message: 'briefly' });
  await post(`/agents/${own.agents}/approve/${own.approval_id}`, { approved: false, reason: 'not now' });
  const asking = await requestApproval(site, ann, own.workspaces!);
  await post(`/agents/${asking.agent_id}/cancel`);
  const last = (await post('/tasks', { prompt: 'summarise a.txt', workspace_id: own.workspaces })).json.id;
  await post(`/tasks/${last}/cancel`);
  await call(site, ann, 'DELETE', `/v1/workspaces/${own.workspaces}/files/${own.file}`);
  await call(site, ann, 'DELETE', `/v1/api-keys/${own['api-keys']}`);
  const person = { email: 'carl@example.com', password: 'a long enough password' };
  await post('/auth/register', person);
  const { refresh_token } = (await post('/auth/login', person)).json;
  const fresh = (await post('/auth/refresh', { refresh_token })).json;
  const logout = { path: '/v1/auth/logout', headers: json, body: JSON.stringify({ refresh_token: fresh.refresh_token }) };
  expect(await site.send(api(site, 'POST', logout.path), logout, fresh.access_token), 200, api(site, 'POST', logout.path), 'signing out');
  await answersWhoTheyAre(site, person);
}

/** A person who has signed up before. */
async function answersWhoTheyAre(site: Site, person: { email: string; password: string }): Promise<void> {
  const as = async (token: string | null, method: string, path: string, body?: unknown): Promise<any> => {
    const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
    const answer = await site.send(api(site, method, path), { method, path, ...sent }, token);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  await as(site.ann.token, 'PATCH', '/v1/settings', { timezone: 'Europe/Berlin' });
  let token = (await as(null, 'POST', '/v1/auth/login', person)).access_token;
  await as(token, 'PATCH', '/v1/auth/me', { name: 'Carl' });
  const { secret } = await as(token, 'POST', '/v1/auth/2fa/enroll');
  const { recovery_codes: codes } = await as(token, 'POST', '/v1/auth/2fa/confirm', { code: new TOTP({ secret }).generate() });
  const { challenge_token } = await as(null, 'POST', '/v1/auth/login', person);
  token = (await as(null, 'POST', '/v1/auth/login/2fa', { challenge_token, code: codes[0] })).access_token;
  await as(token, 'POST', '/v1/auth/2fa/disable', { code: codes[1] });
  await as(null, 'POST', '/v1/auth/session', person);
  await as(null, 'POST', '/v1/auth/forgot-password', { email: person.email });
  const reset = { token: await mailedToken(site), password: 'another long password' };
  await as(null, 'POST', '/v1/auth/reset-password', reset);
  token = (await as(null, 'POST', '/v1/auth/login', { ...person, password: reset.password })).access_token;
  await as(token, 'DELETE', '/v1/auth/session');
}

/** Of the mail that is kept where no mail server is configured. */
async function mailedToken({ service }: Site): Promise<string> {
  for (;;) {
    const folder = join(service.dataDir, 'mail');
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('req_') && name.endsWith('.eml'));
    if (names.length === 0) continue;
    // The mail's lines are folded (quoted-printable).
    const text = (await readFile(join(folder, names[0]!), 'utf8')).replace(/=\r\n/g, '').replaceAll('=3D', '=');
    return /^v4\.public\.\S+/m.exec(text)![0];
  }
}

function guarded(site: Site): Operation[] {
  return site.api.operations.filter((operation) => operation.scope !== null);
}

function expect(answer: Answer, status: number, operation: Operation, what: string): void {
  assert.equal(answer.status, status, `${nameOf(operation)}, ${what}: ${answer.text.slice(0, 300)}`);
  assert.ok(
    answer.json !== null && (typeof answer.json.detail === 'string' ? answer.json.detail.length > 3 : true),
    'the answer says what is wrong',
  );
}

/** Header values go out one byte a character: this sends UTF-8. */
function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
