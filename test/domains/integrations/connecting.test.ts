/** Connecting services over HTTP, from a browser, a client and the service itself. One service for all tests. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Json } from '../../support/json.ts';
import { OAuthStandIn } from '../../support/oauth-stand-in.ts';
import { callTool, finish } from '../../support/openai-server.ts';
import { type ScriptedService, scriptedService, turns } from '../../support/scripted-service.ts';
import { Caller } from '../../support/service.ts';
import { until, untilWithin } from '../../support/until.ts';

const back = 'https://app.example/back?x=1';
const verifyToken = 'verify-me';
const appSecret = 'secret-of-the-app';

let github: OAuthStandIn;
let gmail: OAuthStandIn;
let slack: OAuthStandIn;
let stripe: OAuthStandIn;
let whatsapp: OAuthStandIn;
let world: ScriptedService;
let ann: Caller;
const ends: (() => unknown)[] = [];

before(async () => {
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  const standIn = () => OAuthStandIn.start(scope);
  [github, gmail, slack, stripe, whatsapp] = await Promise.all([standIn(), standIn(), standIn(), standIn(), standIn()]);
  world = await scriptedService(scope as never, {
    ...{ ...github.env('github'), ...gmail.env('gmail'), ...slack.env('slack'), ...whatsapp.env('whatsapp'), ...gmail.env('google_ads') },
    ...{ STRIPE_API_URL: stripe.url, WHATSAPP_VERIFY_TOKEN: verifyToken, WHATSAPP_APP_SECRET: appSecret, OUTBOUND_ALLOW: '' },
  });
  ann = world.caller;
  await ann.json('PATCH', '/v1/settings', { redirect_uris: [back] });
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

/** The answer's status with its body, which need not be JSON. */
async function send(by: Caller, method: string, path: string, body?: unknown): Promise<{ status: number; location: string; json: Json }> {
  const headers = {
    ...(by.token !== '' && { authorization: `Bearer ${by.token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const response = await fetch(world.service.url + path, {
    method,
    redirect: 'manual',
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const json = /json/.test(String(response.headers.get('content-type'))) ? JSON.parse(text) : text;
  return { status: response.status, location: response.headers.get('location') ?? '', json };
}

async function expectIssue(answer: Promise<{ status: number; json: Json }>, ...loc: string[]): Promise<void> {
  const { status, json } = await answer;
  assert.equal(status, 422, JSON.stringify(json));
  assert.deepEqual(json.detail[0].loc, loc);
}

async function begin(by: Caller, service: string, more = ''): Promise<URL> {
  const path = `/integrations/connect?service=${service}&redirect_uri=${encodeURIComponent(back)}${more}`;
  const { status, location, json } = await send(by, 'GET', path);
  assert.equal(status, 302, JSON.stringify(json));
  return new URL(location);
}

/** The task, once it has this status: within five seconds. */
async function endedWithin(by: Caller, id: string, status: 'failed' | 'complete'): Promise<Json> {
  let task: Json;
  await untilWithin(5_000, async () => (task = await by.json('GET', `/v1/tasks/${id}`)).status === status, `${status} of ${id}`);
  return task;
}

const stateOf = (url: URL) => url.searchParams.get('state')!;

test('connecting redirects to the service with PKCE and back with code and state, which can be used once', async () => {
  const there = await begin(ann, 'github');
  assert.equal(`${there.origin}${there.pathname}`, `${github.url}/authorize`);
  const { state, code_challenge: challenge, ...asked } = Object.fromEntries(there.searchParams);
  assert.deepEqual(asked, {
    ...{ response_type: 'code', client_id: 'client-of-github', scope: 'repo', code_challenge_method: 'S256' },
    redirect_uri: `${world.service.url}/integrations/callback`,
  });
  const callback = `/integrations/callback?code=good1&state=${encodeURIComponent(state!)}`;
  const returned = await send(Caller.withToken(world.service, ''), 'GET', callback);
  assert.deepEqual([returned.status, returned.location], [302, `${back}&${new URLSearchParams({ code: 'good1', state: state! })}`]);
  assert.equal((await send(ann, 'GET', callback)).status, 400);
  const body = { service: 'github', oauth_code: 'good1', state };
  const { status, json } = await send(ann, 'POST', '/v1/integrations', body);
  assert.equal(status, 201, JSON.stringify(json));
  const { code_verifier: verifier, ...sent } = github.last.form;
  assert.equal(createHash('sha256').update(verifier!).digest('base64url'), challenge);
  assert.deepEqual(sent, {
    ...{ grant_type: 'authorization_code', code: 'good1', redirect_uri: `${world.service.url}/integrations/callback` },
    ...{ client_id: 'client-of-github', client_secret: 'secret-of-github' },
  });
  assert.match(json.id, /^int_[0-9a-z]{26}$/);
  assert.deepEqual(
    { ...json, id: '', connected_at: '' },
    {
      ...{ id: '', service: 'github', status: 'connected', reason: null, reconnect_url: null, mode: 'live', connected_at: '' },
      ...{
        available_tools: ['create_issue', 'read_issue', 'open_pull_request', 'commit_files', 'read_repository'],
        granted_scopes: ['repo'],
      },
    },
  );
  const before = github.tokenRequests.length;
  await expectIssue(send(ann, 'POST', '/v1/integrations', body), 'body', 'state');
  assert.equal(github.tokenRequests.length, before);
});

test('an unknown, modified or foreign state, or one of another service, is refused without a request', async () => {
  const bob = await Caller.register(world.service);
  const testing = await ann.program('test', ['integrations.read', 'integrations.write']);
  const state = stateOf(await begin(ann, 'github'));
  const before = github.tokenRequests.length + gmail.tokenRequests.length;
  for (const [by, body] of [
    [bob, { service: 'github', oauth_code: 'good', state }],
    [ann, { service: 'gmail', oauth_code: 'good', state }],
    [ann, { service: 'github', oauth_code: 'good', state: `${state}x` }],
    [ann, { service: 'github', oauth_code: 'good', state: 'nonsense' }],
    [testing, { service: 'github', oauth_code: 'good', state }],
  ] as const)
    await expectIssue(send(by, 'POST', '/v1/integrations', body), 'body', 'state');
  assert.equal(github.tokenRequests.length + gmail.tokenRequests.length, before);
  assert.equal((await send(ann, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good', state })).status, 201);
});

test('two concurrent requests with one state cause one token request', async () => {
  const state = stateOf(await begin(ann, 'github'));
  const before = github.tokenRequests.length;
  const body = { service: 'github', oauth_code: 'good', state };
  const answers = await Promise.all([1, 2, 3].map(() => send(ann, 'POST', '/v1/integrations', body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422]);
  assert.equal(github.tokenRequests.length, before + 1);
});

test('a code without state is exchanged without a verifier, for a registered address or the callback', async () => {
  await ann.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.equal(github.last.form.code_verifier, undefined);
  assert.equal(github.last.form.redirect_uri, `${world.service.url}/integrations/callback`);
  await ann.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good', redirect_uri: back });
  assert.equal(github.last.form.redirect_uri, back);
  const foreign = { service: 'github', oauth_code: 'good', redirect_uri: 'https://app.example/back' };
  await expectIssue(send(ann, 'POST', '/v1/integrations', foreign), 'body', 'redirect_uri');
});

test('only sessions can begin connecting, and refusals precede the redirect', async () => {
  const to = (query: string) => `/integrations/connect?${query}`;
  const key = await ann.program('live', ['integrations.read', 'integrations.write']);
  assert.equal((await send(key, 'GET', to('service=github'))).status, 403);
  assert.equal((await send(Caller.withToken(world.service, ''), 'GET', to('service=github'))).status, 401);
  await expectIssue(send(ann, 'GET', to('service=nosuch')), 'query', 'service');
  await expectIssue(send(ann, 'GET', to('service=github&tools=read_issue,nosuch')), 'query', 'tools');
  await expectIssue(send(ann, 'GET', to('service=github&redirect_uri=https://evil.example')), 'query', 'redirect_uri');
  const unconfigured = await send(ann, 'GET', to('service=notion'));
  assert.equal(unconfigured.status, 409);
  assert.match(unconfigured.json.detail, /NOTION_CLIENT_ID and NOTION_CLIENT_SECRET/);
  assert.equal((await send(ann, 'POST', '/v1/integrations', { service: 'notion', oauth_code: 'good' })).status, 409);
  await expectIssue(send(ann, 'POST', '/v1/integrations', { service: 'nosuch', oauth_code: 'good' }), 'body', 'service');
  await expectIssue(send(ann, 'POST', '/v1/integrations', { service: 'github' }), 'body', 'oauth_code');
  await expectIssue(send(ann, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good', tools: ['nosuch'] }), 'body', 'tools');
});

test("a browser's session cookie begins connecting", async () => {
  const login = await fetch(`${world.service.url}/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'cookie@example.com', password: 'a long enough password' }),
  });
  assert.equal(login.status, 201);
  const session = await fetch(`${world.service.url}/auth/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'cookie@example.com', password: 'a long enough password' }),
  });
  const cookie = session.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  assert.match(cookie, /troupe_session=/);
  const answer = await fetch(`${world.service.url}/integrations/connect?service=github`, { redirect: 'manual', headers: { cookie } });
  assert.equal(answer.status, 302);
});

test('the requested scopes are those of the tools, and Google is asked for offline access', async () => {
  const google = (await begin(ann, 'gmail', '&tools=send_email,read_emails')).searchParams;
  assert.deepEqual(
    google
      .get('scope')!
      .split(' ')
      .map((scope) => scope.split('/').at(-1))
      .sort(),
    ['gmail.readonly', 'gmail.send'],
  );
  assert.deepEqual([google.get('access_type'), google.get('prompt')], ['offline', 'consent']);
  const all = (await begin(ann, 'gmail', '&tools=')).searchParams.get('scope')!.split(' ');
  assert.deepEqual(all.map((scope) => scope.split('/').at(-1)).sort(), ['gmail.compose', 'gmail.modify', 'gmail.readonly', 'gmail.send']);
  const ads = Object.fromEntries((await begin(ann, 'google_ads')).searchParams);
  assert.deepEqual([ads.access_type, ads.prompt, ads.code_challenge_method], ['offline', 'consent', 'S256']);
  const chat = (await begin(ann, 'slack', '&tools=post_message,search_messages')).searchParams;
  assert.deepEqual([chat.get('scope'), chat.get('user_scope')], ['chat:write', 'search:read']);
});

test('each scope that was granted gives its tools, with spaces or commas between; no tools named are all', async () => {
  const caller = await Caller.register(world.service);
  const google = (name: string) => `https://www.googleapis.com/auth/gmail.${name}`;
  const toolsWith = async (service: string, standIn: OAuthStandIn, scope: string, tools?: string[]): Promise<string[]> => {
    standIn.scope = scope;
    const body = { service, oauth_code: 'good', ...(tools && { tools }) };
    const { available_tools: available, granted_scopes: granted } = await caller.json('POST', '/v1/integrations', body);
    assert.deepEqual(granted, scope.split(/[ ,]/));
    return available.sort();
  };
  try {
    for (const [scope, tools] of [
      ['readonly', ['read_emails', 'search_inbox']],
      ['compose', ['draft_email']],
      ['send', ['send_email']],
      ['modify', ['manage_labels', 'read_emails', 'search_inbox']],
    ] as const)
      assert.deepEqual(await toolsWith('gmail', gmail, google(scope)), tools, scope);
    const some = ['draft_email', 'read_emails', 'search_inbox', 'send_email'];
    assert.deepEqual(await toolsWith('gmail', gmail, `${google('readonly')} ${google('compose')},${google('send')}`), some);
    for (const [scope, tool] of [
      ['chat:write', 'post_message'],
      ['channels:history', 'read_channel'],
      ['channels:manage', 'create_channel'],
      ['search:read', 'search_messages'],
    ] as const) {
      slack.tokenFaults = [{ json: { ok: true, access_token: 'xoxb-1', token_type: 'bot', scope } }];
      assert.deepEqual(await toolsWith('slack', slack, scope), [tool], scope);
    }
    assert.equal((await toolsWith('github', github, 'repo', [])).length, 5);
  } finally {
    [gmail.scope, slack.scope, github.scope] = ['repo', 'repo', 'repo'];
  }
});

test('a connection that ended says why and where to connect it again, asks for no more tokens, and recovers under its id', async () => {
  const caller = await Caller.register(world.service);
  await caller.json('PATCH', '/v1/settings', { redirect_uris: [back] });
  const first = { service: 'github', oauth_code: 'good', state: stateOf(await begin(caller, 'github')) };
  const { id } = await caller.json('POST', '/v1/integrations', first);
  github.taken.clear();
  github.refreshTokens.clear();
  const resultOf = async (name: string): Promise<Json> => {
    const task = await world.begin(name, turns(callTool('read_issue', { repository: 'o/r', number: 1 }), finish('Done.')), {}, caller);
    await caller.untilTask(task.id, ['complete']);
    const { body } = await world.request(name, 3);
    return JSON.parse(String(body.messages.findLast(({ role }) => role === 'tool')!.content));
  };
  const before = github.tokenRequests.length;
  const { error } = await resultOf('finds-it-ended');
  assert.deepEqual(
    [error.type, typeof error.message, Object.keys(error).filter((name) => !/^(type|message|scope)$/.test(name))],
    ['forbidden', 'string', []],
  );
  assert.equal(github.tokenRequests.length, before + 2);
  const ended = await caller.json('GET', `/v1/integrations/${id}`);
  const query = new URLSearchParams({ service: 'github', redirect_uri: back });
  assert.deepEqual(
    [ended.status, ended.reason, ended.reconnect_url],
    ['error', 'revoked', `${world.service.url}/integrations/connect?${query}`],
  );
  assert.equal((await resultOf('asks-no-more')).error.type, 'forbidden');
  assert.equal(github.tokenRequests.length, before + 2);
  const again = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.deepEqual([again.id, again.status, again.reason, again.reconnect_url], [id, 'connected', null, null]);
  const types = (await caller.events()).map(({ type }) => type).filter((type) => type.startsWith('integration.'));
  assert.deepEqual(types, ['integration.connected', 'integration.error', 'integration.recovered']);
});

test('a token answer that lies connects what can be used, or nothing', async () => {
  const caller = await Caller.register(world.service);
  const good = { access_token: 'access-9-x', token_type: 'bearer', refresh_token: 'refresh-x', scope: 'repo' };
  const connect = (json: object) => {
    github.tokenFaults = [{ json: { ...good, ...json } }];
    return send(caller, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  };
  for (const expires_in of [-1, 0, 1e308, 1e15, '3600', '1e400', 'NaN', 'soon', null, [], 0.001]) {
    const { status, json } = await connect({ expires_in });
    assert.deepEqual([status, json.status], [201, 'connected'], JSON.stringify(expires_in));
  }
  for (const refresh_token of ['', null, 7, 'x'.repeat(100_000)]) assert.equal((await connect({ refresh_token })).status, 201);
  const odd = await connect({
    scope: ['a\u0000b', 'repo', 'x'.repeat(3_000), ...Array.from({ length: 5_000 }, (_, n) => `s${n}`)].join(' '),
  });
  assert.deepEqual([odd.status, odd.json.granted_scopes.length, odd.json.granted_scopes[0]], [201, 200, 'repo']);
  for (const access_token of ['a\r\nb', 'ключ', '', ' ', 'x'.repeat(100_000), {}, 1])
    assert.equal((await connect({ access_token })).status, 502, JSON.stringify(access_token).slice(0, 50));
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const many = `[${'[],'.repeat(200_000)}[]]`;
  for (const more of [deep, many]) {
    github.tokenFaults = [{ text: JSON.stringify(good).replace('}', `,"more":${more}}`) }];
    const { status, json } = await send(caller, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
    assert.deepEqual(
      [status, json.detail],
      [502, 'GitHub could not be connected: The token endpoint answered with more values than are read'],
    );
  }
});

test('a refusal at the service is returned to the caller, and its state ends', async () => {
  const state = stateOf(await begin(ann, 'github'));
  const path = `/v1/integrations/callback?error=access_denied&error_description=No&state=${encodeURIComponent(state)}`;
  const { status, location } = await send(Caller.withToken(world.service, ''), 'GET', path);
  const parameters = Object.fromEntries(new URL(location).searchParams);
  assert.deepEqual([status, parameters], [302, { x: '1', error: 'access_denied', error_description: 'No', state }]);
  await expectIssue(send(ann, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good', state }), 'body', 'state');
  assert.equal((await send(ann, 'GET', '/integrations/callback?code=x&state=nonsense')).status, 400);
  assert.equal((await send(ann, 'GET', '/integrations/callback')).status, 400);
});

test('without redirect_uri the callback connects the service and shows a page; a HEAD request does nothing', async () => {
  const { location } = await send(ann, 'GET', '/integrations/connect?service=github');
  const path = `/integrations/callback?code=good&state=${encodeURIComponent(stateOf(new URL(location)))}`;
  assert.equal((await send(Caller.withToken(world.service, ''), 'HEAD', path)).status, 200);
  const { status, json } = await send(Caller.withToken(world.service, ''), 'GET', path);
  assert.equal(status, 200);
  assert.match(json, /GitHub is connected/);
});

test('a browser that did not begin the consent must confirm the account before the code is used', async () => {
  const chrome = { accept: 'text/html,application/xhtml+xml,image/avif,*/*;q=0.8', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
  const browse = (path: string, init: { method?: string; cookie?: string; accept?: string; form?: Record<string, string> } = {}) => {
    const { method = 'GET', cookie = '', accept = chrome.accept, form } = init;
    const headers = { ...chrome, accept, 'sec-fetch-site': 'cross-site', ...(cookie !== '' && { cookie }) };
    return fetch(world.service.url + path, {
      ...{ method, headers, redirect: 'manual' },
      ...(form !== undefined && { body: new URLSearchParams(form) }),
    });
  };
  const mallory = await Caller.register(world.service, 'mallory');
  const begun = await fetch(`${world.service.url}/integrations/connect?service=github`, {
    ...{ redirect: 'manual', headers: { authorization: `Bearer ${mallory.token}` } },
  });
  const [cookie = ''] = begun.headers.getSetCookie();
  assert.match(cookie, /^troupe_consent=[\w-]{32,}; Path=\/; Max-Age=600; SameSite=Lax; HttpOnly$/);
  const state = stateOf(new URL(begun.headers.get('location')!));
  const before = github.tokenRequests.length;
  const back = `/integrations/callback?code=good&state=${encodeURIComponent(state)}`;
  // Another person's browser, which an address of an attacker has led there: by a link, or hidden in a page.
  for (const accept of [chrome.accept, 'image/avif,image/webp,*/*;q=0.8', '*/*']) {
    const asked = await browse(back, { accept, cookie: 'troupe_consent=another-browser-began-another-consent' });
    assert.equal(asked.status, 200);
    const text = await asked.text();
    assert.match(text, /GitHub with the account <strong>mallory@example\.com<\/strong>/);
    assert.match(asked.headers.get('content-security-policy')!, /frame-ancestors 'none'/);
    assert.doesNotMatch(text, /is connected/);
  }
  assert.equal(github.tokenRequests.length, before);
  assert.deepEqual(await mallory.json('GET', '/v1/integrations'), []);
  await forPhonesWithoutScripts(await browse(back));
  const pressed = await browse('/integrations/callback', { method: 'POST', form: { code: 'good', state } });
  assert.match(await pressed.text(), /GitHub is connected/);
  assert.equal((await browse('/integrations/callback', { method: 'POST', form: { code: 'good', state } })).status, 400);
  assert.equal((await browse(back)).status, 400);
  assert.equal(github.tokenRequests.length, before + 1);

  // The browser that began is not asked; it keeps its value over further consents.
  const own = cookie.split(';')[0]!;
  const again = await fetch(`${world.service.url}/integrations/connect?service=github`, {
    ...{ redirect: 'manual', headers: { authorization: `Bearer ${mallory.token}`, cookie: own } },
  });
  assert.equal(again.headers.getSetCookie()[0]!.split(';')[0], own);
  const mine = stateOf(new URL(again.headers.get('location')!));
  const connected = await browse(`/integrations/callback?code=good&state=${encodeURIComponent(mine)}`, { cookie: own });
  const done = connected.clone();
  assert.match(await connected.text(), /GitHub is connected/);
  await forPhonesWithoutScripts(done);
});

/** A page as wide as its screen, complete without scripts, further files and permission for them. */
async function forPhonesWithoutScripts(answer: Response): Promise<void> {
  const text = await answer.text();
  assert.match(text, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
  assert.match(text, /@media\(max-width:36rem\)/);
  assert.doesNotMatch(text, /<script|<link|<img|<iframe|\son\w+=|javascript:/i);
  assert.match(answer.headers.get('content-security-policy')!, /^default-src 'none'/);
}

test('a refused code is 422, a wrong client 409, an outage 502; nothing is stored and the same code can be tried again', async () => {
  const eve = await Caller.register(world.service);
  await expectIssue(send(eve, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'bad' }), 'body', 'oauth_code');
  github.tokenFaults = [{ json: { error: 'bad_verification_code', error_description: 'The code passed is incorrect' } }];
  await expectIssue(send(eve, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good' }), 'body', 'oauth_code');
  slack.tokenFaults = [{ json: { ok: false, error: 'invalid_code' } }];
  await expectIssue(send(eve, 'POST', '/v1/integrations', { service: 'slack', oauth_code: 'good' }), 'body', 'oauth_code');
  github.tokenFaults = [{ status: 401, json: { error: 'invalid_client' } }];
  const wrong = await send(eve, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.equal(wrong.status, 409);
  assert.match(wrong.json.detail, /GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET/);
  const state = stateOf(await begin(ann, 'github'));
  for (const fault of [
    { status: 500, text: 'oops' },
    'cut' as const,
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    { text: '<html>' },
    { json: { token_type: 'bearer' } },
    { json: { access_token: 'a', more: 'x'.repeat(2 ** 20) } },
  ]) {
    github.tokenFaults = [fault];
    const { status, json } = await send(ann, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good', state });
    assert.equal(status, 502, JSON.stringify(json));
    assert.equal(typeof json.detail, 'string');
  }
  assert.equal((await send(ann, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good', state })).status, 201);
  assert.deepEqual(await eve.json('GET', '/v1/integrations'), []);
});

test('connecting again keeps the id; the granted scopes determine the tools; after disconnecting it remains without tools', async () => {
  const caller = await Caller.register(world.service);
  gmail.scope = 'https://www.googleapis.com/auth/gmail.readonly';
  const first = await caller.json('POST', '/v1/integrations', { service: 'gmail', oauth_code: 'good' });
  assert.deepEqual(first.available_tools, ['read_emails', 'search_inbox']);
  gmail.scope = undefined;
  const second = await caller.json('POST', '/v1/integrations', { service: 'gmail', oauth_code: 'good', tools: ['send_email'] });
  assert.deepEqual([second.id, second.available_tools], [first.id, ['send_email']]);
  github.scope = '';
  const { available_tools: all } = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.equal(all.length, 5);
  github.scope = 'repo';
  const list = await caller.json('GET', '/integrations');
  assert.deepEqual(
    list.map(({ service }: Json) => service),
    ['github', 'gmail'],
  );
  for (let i = 0; i < 2; i++) assert.equal((await caller.fetch('DELETE', `/v1/integrations/${first.id}`)).status, 204);
  await until(() => gmail.revocations.length > 0);
  assert.deepEqual(
    gmail.revocations.map(({ form }) => form.token!.replace(/\d+$/, '')),
    ['refresh-'],
  );
  const gone = await caller.json('GET', `/v1/integrations/${first.id}`);
  assert.deepEqual([gone.status, gone.available_tools], ['disconnected', []]);
  assert.equal((await caller.json('GET', '/integrations')).length, 2);
  const again = await caller.json('POST', '/v1/integrations', { service: 'gmail', oauth_code: 'good' });
  assert.deepEqual([again.id, again.status], [first.id, 'connected']);
  assert.equal((await ann.fetch('GET', `/v1/integrations/${first.id}`)).status, 404);
  assert.equal((await ann.fetch('DELETE', `/v1/integrations/${first.id}`)).status, 404);
});

test("disconnecting calls the configured revocation address, and GitHub's and Slack's own methods", async () => {
  const caller = await Caller.register(world.service);
  const asked = (standIn: OAuthStandIn, path: RegExp) => standIn.apiRequests.some((request) => path.test(request.path));
  for (const [service, standIn, isAsked] of [
    ['github', github, () => asked(github, /\/applications\/[^/]+\/grant$/)],
    ['slack', slack, () => asked(slack, /\/auth\.revoke$/)],
    ['whatsapp', whatsapp, () => whatsapp.revocations.some(({ form }) => /^refresh-\d+$/.test(form.token ?? ''))],
  ] as const) {
    standIn.scope = undefined;
    const body = { service, oauth_code: 'good', ...(service === 'whatsapp' && { phone_number_id: '4242' }) };
    const { id } = await caller.json('POST', '/v1/integrations', body);
    await caller.fetch('DELETE', `/v1/integrations/${id}`);
    await until(isAsked, service);
  }
  for (const { revocations } of [github, slack]) assert.deepEqual(revocations, []);
  github.scope = 'repo';
});

test('stripe is connected by an API key that it accepts, without a client', async () => {
  const caller = await Caller.register(world.service);
  await expectIssue(send(caller, 'POST', '/v1/integrations', { service: 'stripe', api_key: 'rk_test_bad' }), 'body', 'api_key');
  await expectIssue(send(caller, 'POST', '/v1/integrations', { service: 'github', api_key: 'rk_test_bad' }), 'body', 'api_key');
  const asked = stripe.apiRequests.length;
  for (const api_key of ['rk_test_\r\nhost: x', 'rk_test_ключ'])
    await expectIssue(send(caller, 'POST', '/v1/integrations', { service: 'stripe', api_key }), 'body', 'api_key');
  assert.equal(stripe.apiRequests.length, asked);
  const { status } = await send(caller, 'POST', '/v1/integrations', { service: 'stripe' });
  assert.equal(status, 422);
  stripe.apiFaults = [{ json: { object: 'balance' } }];
  const made = await caller.json('POST', '/v1/integrations', { service: 'stripe', api_key: 'rk_test_good' });
  assert.deepEqual(made.available_tools, ['list_payments', 'create_payment_link', 'refund_payment']);
  assert.equal(stripe.apiRequests.at(-1)!.headers.authorization, 'Bearer rk_test_good');
  assert.match(stripe.apiRequests.at(-1)!.path, /^\/v1\/(account|balance)$/);
  const message = "The provided key 'rk_test_***' does not have the required permissions for this endpoint";
  stripe.apiFaults = [{ status: 403, json: { error: { type: 'invalid_request_error', message } } }];
  const restricted = await caller.json('POST', '/v1/integrations', { service: 'stripe', api_key: 'rk_test_payments_only' });
  assert.equal(restricted.status, 'connected', 'a key without the permission to read the account');
});

test('connections of a test key are seen and used in test mode only, and keys need the scope', async () => {
  const caller = await Caller.register(world.service);
  const testKey = await caller.program('test', ['integrations.read', 'integrations.write', 'tasks.read', 'tasks.write']);
  const reader = await caller.program('live', ['integrations.read']);
  const made = await testKey.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.equal(made.mode, 'test');
  assert.deepEqual(await caller.json('GET', '/v1/integrations'), []);
  assert.equal((await caller.fetch('GET', `/v1/integrations/${made.id}`)).status, 404);
  assert.equal((await testKey.json('GET', '/v1/integrations')).length, 1);
  assert.equal((await send(reader, 'POST', '/v1/integrations', { service: 'github', oauth_code: 'good' })).status, 403);
  assert.deepEqual(await reader.json('GET', '/v1/integrations'), []);
  const live = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  assert.notEqual(live.id, made.id);
});

test('a task has the tools of its mode and scopes, and its agent ends when the service is disconnected', async () => {
  const caller = await Caller.register(world.service);
  const scopes = ['integrations.read', 'integrations.write', 'tasks.read', 'tasks.write'];
  const [reading, neither, testing] = await Promise.all([
    caller.program(
      'live',
      scopes.filter((scope) => scope !== 'integrations.write'),
    ),
    caller.program('live', ['tasks.read', 'tasks.write']),
    caller.program('test', scopes),
  ]);
  const { id } = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  const offered = async (name: string, by: Caller): Promise<string[]> => {
    await world.begin(name, turns(finish('Done.')), {}, by);
    const { body } = await world.request(name, 2);
    return (body.tools ?? []).map((tool) => tool.function.name).filter((tool) => /issue|repository|pull|commit/.test(tool));
  };
  assert.deepEqual(await offered('all-tools', caller), [
    'create_issue',
    'read_issue',
    'open_pull_request',
    'commit_files',
    'read_repository',
  ]);
  assert.deepEqual(await offered('reading-tools', reading), ['read_issue', 'read_repository']);
  assert.deepEqual(await offered('no-tools', neither), []);
  assert.deepEqual(await offered('no-live-tools', testing), []);

  github.apiFaults = ['hang'];
  github.apiRequests.length = 0;
  const task = await world.begin('loses-it', turns(callTool('read_issue', { repository: 'o/r', number: 1 })), {}, caller);
  await until(() => github.apiRequests.some(({ path }) => path === '/api/repos/o/r/issues/1'));
  await caller.fetch('DELETE', `/v1/integrations/${id}`);
  const ended = await endedWithin(caller, task.id, 'failed');
  assert.match(JSON.stringify(ended), /GitHub was disconnected/);
});

test('events contain the connection, and no answer, event or log line contains a token', async () => {
  const caller = await Caller.register(world.service);
  const { id } = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  await caller.fetch('DELETE', `/v1/integrations/${id}`);
  const socket = new WebSocket(`${world.service.url.replace('http', 'ws')}/ws`);
  const seen: Json[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.onerror = reject;
    socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token: caller.token, resume_from: 0 }));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data));
      if (message.type === 'event') seen.push(message.event);
      if (message.type === 'replayed') resolve();
    };
  });
  socket.close();
  const own = seen.filter(({ type }) => type.startsWith('integration.'));
  assert.deepEqual(
    own.map(({ type, data }) => [type, Object.keys(data), data.integration.id, data.integration.status]),
    [
      ['integration.connected', ['integration'], id, 'connected'],
      ['integration.disconnected', ['integration'], id, 'disconnected'],
    ],
  );
  for (const text of [JSON.stringify(seen), world.service.output()]) assert.doesNotMatch(text, /access-\d+-|refresh-\d|secret-of-/);
});

test('WhatsApp verifies its address, and signed messages reach the account that has connected their number', async () => {
  const caller = await Caller.register(world.service);
  const inbound = '/integrations/whatsapp/inbound';
  const verify = (token: string) =>
    send(Caller.withToken(world.service, ''), 'GET', `${inbound}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=42`);
  assert.deepEqual(await verify(verifyToken), { status: 200, location: '', json: '42' });
  assert.equal((await verify('wrong')).status, 403);
  whatsapp.scope = undefined;
  const made = await caller.json('POST', '/v1/integrations', { service: 'whatsapp', oauth_code: 'good', phone_number_id: '1066' });
  assert.deepEqual(made.available_tools, ['send_message', 'read_messages']);
  const deliver = async (number: string, id: string, text: string, secret = appSecret) => {
    const messages = [{ id, from: '491511234', timestamp: String(Math.floor(Date.now() / 1_000)), type: 'text', text: { body: text } }];
    const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: number }, messages };
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] });
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
    return (await fetch(world.service.url + inbound, { method: 'POST', headers, body })).status;
  };
  assert.equal(await deliver('1066', 'wamid.1', 'Hello there'), 200);
  assert.equal(await deliver('1066', 'wamid.1', 'Hello there'), 200);
  assert.equal(await deliver('9999', 'wamid.2', 'Nobody has this number'), 200);
  assert.equal(await deliver('10\u000066', 'wamid.4', 'A number with NUL'), 200);
  assert.equal(await deliver('1066', 'wamid.\u00005', 'An id with NUL'), 200);
  assert.equal(await deliver('1066', 'wamid.3', 'Forged', 'another secret'), 401);
  const task = await world.begin('reads-whatsapp', turns(callTool('read_messages', {}), finish('Done.')), {}, caller);
  await caller.untilTask(task.id, ['complete']);
  const { body } = await world.request('reads-whatsapp', 3);
  const result = String(body.messages.findLast(({ role }) => role === 'tool')!.content);
  assert.match(result, /Hello there/);
  assert.doesNotMatch(result, /Nobody|Forged|wamid\.1.*wamid\.1/s);
});

test('a task with allow_connect waits for the service, names the address to connect it, and continues when it is connected', async () => {
  const caller = await Caller.register(world.service);
  const play = turns(callTool('read_issue', { repository: 'o/r', number: 1 }), finish('Done.'));
  const { id } = await world.begin('waits-for-github', play, { allow_connect: true }, caller);
  const waiting = async () => {
    const { data } = await caller.json('GET', `/v1/tasks/${id}/events?limit=100`);
    return data.find(({ type, data: { reason } }: Json) => type === 'agent.waiting' && reason === 'waiting_authorization');
  };
  await until(async () => (await waiting()) !== undefined);
  // The view of the task is updated a moment after the event.
  const waitingAgent = async () => (await caller.json('GET', `/v1/tasks/${id}`)).agents.find(({ status }: Json) => status === 'waiting');
  await until(async () => (await waitingAgent()) !== undefined);
  assert.equal((await caller.json('GET', `/v1/agents/${(await waitingAgent()).id}`)).waiting_for, 'authorization');
  const { body: first } = await world.request('waits-for-github', 2);
  const offered = (first.tools ?? []).map((one) => one.function.name);
  // Of every service that the operator has configured, and of no other; by default none.
  assert.deepEqual(
    ['read_issue', 'read_emails', 'post_message', 'read_messages', 'list_campaigns', 'search_pages'].map((name) => offered.includes(name)),
    [true, true, true, true, true, false],
  );
  await world.begin('may-not-connect', turns(finish('Done.')), {}, caller);
  const { body: other } = await world.request('may-not-connect', 2);
  assert.ok(!(other.tools ?? []).some((one) => one.function.name === 'read_issue'));
  const { service, tool, connect_url: url } = (await waiting()).data;
  assert.deepEqual([service, tool, url], ['github', 'read_issue', `${world.service.url}/integrations/connect?service=github`]);
  await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  await endedWithin(caller, id, 'complete');
  const { body } = await world.request('waits-for-github', 3);
  assert.match(String(body.messages.findLast(({ role }) => role === 'tool')!.content), /It broke/);
});

test('when a service is disconnected, agents that used it or wait to use it end and say so, and another goes on without its tools', async () => {
  const caller = await Caller.register(world.service);
  const { id } = await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  const { promise: isGone, resolve: gone } = Promise.withResolvers<void>();
  const slowly =
    (then: Parameters<typeof turns>[0]): Parameters<typeof turns>[0] =>
    async (response, request) => {
      await isGone;
      await then(response, request);
    };
  const read = callTool('read_issue', { repository: 'o/r', number: 1 });
  const issue = callTool('create_issue', { repository: 'o/r', title: 'New' });
  const [used, waits, other] = await Promise.all([
    world.begin('used-it', turns(read, slowly(finish('Done.'))), {}, caller),
    world.begin('waits-for-approval', turns(issue, finish('Done.')), {}, caller),
    world.begin('never-used-it', turns(slowly(callTool('write_file', { path: 'a.md', content: 'x' })), finish('Done.')), {}, caller),
  ]);
  await until(async () => (await caller.json('GET', `/v1/tasks/${waits.id}`)).approvals.length === 1, 'the approval');
  await Promise.all([world.request('used-it', 3), world.request('never-used-it', 2)]);
  await caller.fetch('DELETE', `/v1/integrations/${id}`);
  for (const ended of await Promise.all([used, waits].map((task) => endedWithin(caller, task.id, 'failed')))) {
    assert.match(JSON.stringify(ended), /GitHub was disconnected/);
    assert.deepEqual(new Set(ended.agents.map(({ status }: Json) => status)), new Set(['error']));
  }
  gone();
  await caller.untilTask(other.id, ['complete']);
  const names = async (n: number) => ((await world.request('never-used-it', n)).body.tools ?? []).map((tool) => tool.function.name);
  assert.deepEqual([(await names(2)).includes('read_issue'), (await names(3)).includes('read_issue')], [true, false]);
});

test('what a service sends beyond 32 KB is in a file of the workspace that is no deliverable', async () => {
  const caller = await Caller.register(world.service);
  await caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  const words = 'é'.repeat(40_000);
  github.apiFaults = [{ json: { number: 1, title: 'Long', state: 'open', user: { login: 'ann' }, labels: [], comments: 0, body: words } }];
  const task = await world.begin(
    'reads-much',
    turns(callTool('read_issue', { repository: 'o/r', number: 1 }), finish('Done.')),
    {},
    caller,
  );
  const { workspace_id: workspace } = await caller.untilTask(task.id, ['complete']);
  const { body } = await world.request('reads-much', 3);
  const seen = String(body.messages.findLast(({ role }) => role === 'tool')!.content);
  assert.ok(Buffer.byteLength(seen) <= 33 * 1_024, `${Buffer.byteLength(seen)} bytes`);
  const [name] = /read_issue-[\w]+\.(json|txt)/.exec(seen)!;
  assert.deepEqual(
    (await caller.json('GET', `/v1/tasks/${task.id}/deliverables`)).map((one: Json) => one.name),
    [],
  );
  const files = await caller.json('GET', `/v1/workspaces/${workspace}/files`);
  const file = (files.data ?? files).find((one: Json) => (one.path ?? one.name).endsWith(name));
  assert.ok(file.size > 80_000 || file.bytes > 80_000, JSON.stringify(file));
});
