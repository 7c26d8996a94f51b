/** Deploy configurations over HTTP: accepted input, shown fields, and permissions. One runtime and one server for all tests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AnyActor } from '../../../../src/actors/define-actor.ts';
import { systemClock } from '../../../../src/clock.ts';
import { chooseConfig } from '../../../../src/domains/deployments/configs/choose.ts';
import { deployConfigsActor } from '../../../../src/domains/deployments/configs/configs.ts';
import { credentialBox, credentialFields } from '../../../../src/domains/deployments/configs/credentials.ts';
import { type IdentifyParts, identify } from '../../../../src/domains/deployments/configs/identify.ts';
import { deployConfigs, maxConfigs } from '../../../../src/domains/deployments/configs/messages.ts';
import { hostCalls } from '../../../../src/domains/deployments/hosts/calls.ts';
import { findHost } from '../../../../src/domains/deployments/hosts/find-host.ts';
import { masked } from '../../../../src/domains/deployments/hosts/mask.ts';
import { vercel } from '../../../../src/domains/deployments/hosts/vercel.ts';
import { configRoutes } from '../../../../src/domains/deployments/routes/configs.ts';
import { targets } from '../../../../src/domains/deployments/targets.ts';
import type { Principal } from '../../../../src/edge/auth/principal.ts';
import { newId } from '../../../../src/ids.ts';
import type { Mode } from '../../../../src/mode.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { VercelStandIn } from '../../../support/hosts/vercel-stand-in.ts';
import { startEdge, type TestEdge } from '../../../support/http-edge.ts';
import type { Json } from '../../../support/json.ts';
import { outcomeOf, type TestRuntime, testRuntime } from '../../../support/runtime.ts';

const secretKey = 'a secret key of this test, long enough';
const path = '/v1/deployments/configs';
const box = credentialBox(secretKey);
let runtime: TestRuntime;
let edge: TestEdge;
let vercelApi: VercelStandIn;
const ends: (() => unknown)[] = [];
const outbound = createOutbound({ allow: [] });

before(async () => {
  runtime = await testRuntime([deployConfigsActor as AnyActor]);
  const parts = { actors: runtime.actors, clock: systemClock, credentials: box, outbound };
  vercelApi = await VercelStandIn.start({ after: (end: () => unknown) => void ends.push(end) });
  vercelApi.tokens.add(good.credentials.token);
  const hosts: IdentifyParts = {
    clock: systemClock,
    findHost: () => masked(vercel),
    openCalls: (caller) => hostCalls({ ...caller, outbound, clock: systemClock, apiUrl: vercelApi.apiUrl, title: vercel.title }),
  };
  edge = await startEdge(configRoutes({ ...parts, identify: (...made) => identify(hosts, ...made) }), {
    authenticate: (request) => principalOf(request.header('authorization')),
  });
});

after(async () => {
  await edge?.server.close(0);
  await runtime?.close();
  await outbound.close();
  for (const end of ends.reverse()) await end();
});

/** `Bearer acct_… live|test [read]` */
function principalOf(authorization: string): Principal | null {
  const [, accountId, mode, read] = /^Bearer (acct_\w+) (live|test)( read)?$/.exec(authorization) ?? [];
  if (accountId === undefined) return null;
  const scopes = new Set(read === undefined ? ['workspaces.read', 'workspaces.write'] : ['workspaces.read']);
  return { accountId, userId: 'usr_1', kind: 'api_key', scopes, mode: mode as Mode, id: 'key-1' };
}

const account = () => newId('acct_', null);
const good = { name: 'Website', target: 'vercel', credentials: { token: 'token-of-vercel' } };

async function send(as: string, method: string, to: string, body?: unknown): Promise<{ status: number; json: Json }> {
  const headers = { authorization: `Bearer ${as}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(edge.url + to, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, json: text === '' ? null : JSON.parse(text) };
}

async function make(as: string, more: object = {}): Promise<Json> {
  const { status, json } = await send(as, 'POST', path, { ...good, ...more });
  assert.equal(status, 201, JSON.stringify(json));
  return json;
}

test('a configuration is shown without its credentials, which are stored encrypted for it alone', async () => {
  const acct = account();
  const made = await make(`${acct} live`, { build_command: 'npm run build', output_dir: './dist/', url: 'https://www.example.com' });
  assert.match(made.id, /^cfg_[0-9a-z]{26}$/);
  assert.equal(made.id.slice(-2), acct.slice(-2));
  assert.deepEqual(
    { ...made, id: '', created_at: '', verified_at: null },
    {
      ...{ id: '', name: 'Website', target: 'vercel', build_command: 'npm run build', output_dir: 'dist', project: null, team: null },
      ...{ url: 'https://www.example.com/', mode: 'live', verified_at: null, created_at: '' },
    },
  );
  assert.deepEqual((await send(`${acct} live`, 'GET', `${path}/${made.id}`)).json, made);
  const [row] = await runtime.sql('select configs::text as text from deploy_configs where account_id = $1', [acct]);
  assert.ok(!row!.text.includes('token-of-vercel'));
  const [{ credentials: sealed }] = JSON.parse(row!.text);
  assert.deepEqual(box.open(sealed, made.id), { token: 'token-of-vercel' });
  assert.throws(() => box.open(sealed, 'cfg_other'));
});

test("the credentials are checked at the host by one request: refused ones are not stored, and the host's text is returned without them", async () => {
  const acct = account();
  const bad = { ...good, credentials: { token: 'token-that-is-not-taken' } };
  const before = vercelApi.requests.length;
  const { status, json } = await send(`${acct} live`, 'POST', path, bad);
  assert.equal(status, 422);
  assert.deepEqual(json.detail[0].loc, ['body', 'credentials']);
  assert.match(json.detail[0].msg, /Not authorized: \[masked\]/);
  assert.deepEqual(
    vercelApi.requests.slice(before).map((request) => `${request.method} ${request.path}`),
    ['GET /v2/user'],
  );
  assert.equal((await send(`${acct} live`, 'GET', path)).json.total, 0);
  const { verified_at: verifiedAt } = await make(`${acct} live`);
  assert.ok(Math.abs(Date.parse(verifiedAt) - Date.now()) < 60_000);
});

test('if the host is down, rate limited or silent, the configuration is created without verification', async () => {
  const acct = account();
  const limited = { status: 429, headers: { 'retry-after': '60' } };
  for (const [i, fault] of ([{ status: 500 }, { status: 404, json: {} }, 'cut', limited] as const).entries()) {
    vercelApi.meet(/user/, fault);
    const before = vercelApi.requests.length;
    assert.equal((await make(`${acct} live`, { name: `${i}` })).verified_at, null);
    assert.equal(vercelApi.requests.length, before + 1);
  }
});

test('a test key causes no request to the host', async () => {
  const before = vercelApi.requests.length;
  assert.equal((await make(`${account()} test`, { credentials: { token: 'any' } })).verified_at, null);
  assert.equal(vercelApi.requests.length, before);
});

test('an invalid body is refused with its field, and nothing is stored', async () => {
  const acct = account();
  for (const [loc, body] of [
    ['body.credentials.token', { credentials: {} }],
    ['body.credentials.account_id', { target: 'cloudflare', credentials: { token: 'x' } }],
    ['body.credentials.account_id', { target: 'cloudflare', credentials: { token: 'x', account_id: 'a/../b' } }],
    ['body.credentials.token', { credentials: { token: 'a\r\nx-evil: 1' } }],
    ['body.credentials', { credentials: 'token' }],
    ['body.target', { target: 'heroku' }],
    ['body.name', { name: '  ' }],
    ['body.name', { name: 'x'.repeat(101) }],
    ['body.build_command', { build_command: ' ' }],
    ['body.output_dir', { output_dir: '../out' }],
    ['body.output_dir', { output_dir: 'a/../../out' }],
    ['body.output_dir', { output_dir: '/etc' }],
    ['body.output_dir', { output_dir: 'a\\b' }],
    ['body.project', { project: '../other' }],
    ['body.project', { project: 'a/b' }],
    ['body.team', { team: 'a?b' }],
    ['body.url', { url: 'ftp://example.com' }],
    ['body.url', { url: 'http://169.254.169.254/' }],
    ['body.url', { url: 'https://user:pass@example.com/' }],
  ] as const) {
    const { status, json } = await send(`${acct} live`, 'POST', path, { ...good, ...body });
    assert.equal(status, 422, `${JSON.stringify(body)}: ${JSON.stringify(json)}`);
    assert.equal(json.detail[0].loc.join('.'), loc, JSON.stringify(json));
    assert.ok(!JSON.stringify(json).includes('x-evil'));
  }
  assert.deepEqual((await send(`${acct} live`, 'GET', path)).json, { data: [], has_more: false, total: 0 });
});

test('nullable fields with null count as absent, and Expo accepts a project of the form @account/slug', async () => {
  const acct = account();
  const nothing = { build_command: null, output_dir: null, project: null, team: null, url: null };
  assert.equal((await make(`${acct} live`, nothing)).output_dir, null);
  assert.equal((await make(`${acct} live`, { name: 'App', target: 'expo', project: '@ann/app' })).project, '@ann/app');
});

test('a name is used by one configuration, despite concurrent requests, until it is deleted', async () => {
  const acct = account();
  const answers = await Promise.all([1, 2, 3].map(() => send(`${acct} live`, 'POST', path, good)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  const { id } = answers.find(({ status }) => status === 201)!.json;
  assert.equal((await send(`${acct} live`, 'DELETE', `${path}/${id}`)).status, 204);
  assert.equal((await send(`${acct} live`, 'DELETE', `${path}/${id}`)).status, 404);
  assert.equal((await send(`${acct} live`, 'GET', `${path}/${id}`)).status, 404);
  await make(`${acct} live`);
});

test('lists are wrapped, in pages, newest first, and of one account', async () => {
  const acct = account();
  for (const name of ['one', 'two', 'three']) await make(`${acct} live`, { name });
  const first = (await send(`${acct} live`, 'GET', `${path}?limit=2`)).json;
  assert.deepEqual([first.data.map((one: Json) => one.name), first.has_more, first.total], [['three', 'two'], true, 3]);
  const rest = (await send(`${acct} live`, 'GET', `${path}?limit=2&offset=2`)).json;
  assert.deepEqual([rest.data.map((one: Json) => one.name), rest.has_more], [['one'], false]);
  const other = account();
  assert.equal((await send(`${other} live`, 'GET', path)).json.total, 0);
  assert.equal((await send(`${other} live`, 'GET', `${path}/${first.data[0].id}`)).status, 404);
  assert.equal((await send(`${other} live`, 'DELETE', `${path}/${first.data[0].id}`)).status, 404);
});

test('an account has a bounded number of configurations', async () => {
  const acct = account();
  for (let i = 0; i < maxConfigs; i++) await make(`${acct} live`, { name: `config ${i}` });
  assert.equal((await send(`${acct} live`, 'POST', path, good)).status, 409);
  await make(`${acct} test`);
});

test('each host is called with the fields that a configuration of its target has', () => {
  for (const target of targets)
    for (const projectGiven of [true, false]) assert.deepEqual(findHost({ target, projectGiven }).credentials, credentialFields[target]);
});

test('a test key can use live configurations but not change them; its own are for test mode only', async () => {
  const acct = account();
  const live = await make(`${acct} live`);
  const own = await make(`${acct} test`);
  assert.equal(own.mode, 'test');
  assert.equal((await send(`${acct} test`, 'GET', path)).json.total, 2);
  assert.equal((await send(`${acct} live`, 'GET', path)).json.total, 1);
  assert.equal((await send(`${acct} live`, 'GET', `${path}/${own.id}`)).status, 404);
  assert.equal((await send(`${acct} test`, 'DELETE', `${path}/${live.id}`)).status, 403);
  assert.equal((await runtime.actors.query(deployConfigs, acct, 'newest', { target: 'vercel', mode: 'live' }))?.id, live.id);
  assert.equal((await send(`${acct} test`, 'DELETE', `${path}/${own.id}`)).status, 204);
});

test('writing needs workspaces.write, reading workspaces.read', async () => {
  const acct = account();
  assert.equal((await send(`${acct} live read`, 'POST', path, good)).status, 403);
  assert.equal((await send(`${acct} live read`, 'GET', path)).status, 200);
});

test('a site name from the host is stored once, replaced when it is gone, and deleted with the configuration', async () => {
  const acct = account();
  const { id } = await make(`${acct} live`, { target: 'netlify' });
  const keep = (values: Record<string, string>, of = id, gone = {}) =>
    runtime.actors.ask(deployConfigs, acct, 'keep', { id: of, values, gone });
  assert.deepEqual(await keep({ site: 'first' }), { site: 'first' });
  assert.deepEqual(await keep({ site: 'second', more: 'x' }), { site: 'first', more: 'x' });
  assert.deepEqual(await keep({ site: 'second' }, 'cfg_gone'), {});
  assert.deepEqual(await keep({ site: 'second' }, id, { site: 'another' }), { site: 'first', more: 'x' });
  assert.deepEqual(await keep({ site: 'second' }, id, { site: 'first' }), { site: 'second', more: 'x' });
  await send(`${acct} live`, 'DELETE', `${path}/${id}`);
  assert.deepEqual(await keep({ site: 'third' }), {});
});

test('a deployment uses its named configuration, otherwise the newest of its target; refusals have the order of the contract', async () => {
  const acct = account();
  const choose = (target: 'vercel' | 'netlify', configId: string | null, mode: Mode = 'live') =>
    outcomeOf(chooseConfig(runtime.actors, { accountId: acct, mode, target, configId }).then((found) => found?.id ?? null));
  assert.deepEqual(await choose('vercel', null), { refused: 'invalid' });
  assert.deepEqual(await choose('vercel', 'cfg_unknown'), { refused: 'invalid' });
  assert.equal(await choose('vercel', null, 'test'), null);
  const [old, newest] = [await make(`${acct} live`, { name: 'old' }), await make(`${acct} live`, { name: 'new' })];
  assert.equal(await choose('vercel', null), newest.id);
  assert.equal(await choose('vercel', old.id), old.id);
  assert.equal(await choose('vercel', old.id, 'test'), old.id);
  assert.deepEqual(await choose('vercel', 'cfg_unknown'), { refused: 'not_found' });
  assert.deepEqual(await choose('netlify', old.id), { refused: 'invalid' });
  const ofTest = await make(`${acct} test`, { name: 'test' });
  assert.deepEqual(await choose('vercel', ofTest.id), { refused: 'not_found' });
  assert.equal(await choose('vercel', null), newest.id);
});
