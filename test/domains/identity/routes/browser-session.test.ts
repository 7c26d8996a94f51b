/** The dashboard's cookies: they authenticate, and a page of another site can change nothing with them. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startIdentityNode } from '../../../support/identity-node.ts';

const password = 'correct horse battery';

async function open(t: TestContext, publicUrl?: string) {
  const node = await startIdentityNode(t, undefined, { publicUrl });
  /** A browser: its stored cookies, and `send`, which sends them. */
  async function signIn(body: unknown, token: string | null = null) {
    const response = await node.request('POST', '/v1/auth/session', token, body);
    const set = response.headers.getSetCookie();
    const jar = Object.fromEntries(set.map((cookie) => cookie.split(';')[0]!.split('=') as [string, string]));
    const cookie = Object.entries(jar)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
    const send = async (method: string, path: string, headers: Record<string, string> = {}, sent?: unknown) =>
      (await node.request(method, `/v1${path}`, null, sent, { cookie, ...headers })).status;
    return {
      status: response.status,
      json: (await response.json()) as any,
      set,
      jar,
      cookie,
      send,
      csrf: { 'x-csrf-token': (jar.troupe_csrf ?? jar['__Host-troupe_csrf'])! },
    };
  }
  return { ...node, signIn };
}

test('a login sets two cookies, of which scripts see one; they authenticate the session, and unsafe requests need the CSRF token', async (t) => {
  const { signIn, register } = await open(t);
  await register('ann@example.com', password);
  const { status, json, set, jar, send, csrf } = await signIn({ email: 'ann@example.com', password });
  assert.equal(status, 201);
  assert.deepEqual(json, { csrf_token: jar.troupe_csrf, expires_in: 604_800 });
  assert.match(set[0]!, /^troupe_session=v4\.public\.[^;]+; Path=\/; Max-Age=604800; SameSite=Lax; HttpOnly$/);
  assert.match(set[1]!, /^troupe_csrf=[0-9A-Za-z]{43}; Path=\/; Max-Age=604800; SameSite=Lax$/);
  assert.deepEqual([await send('GET', '/auth/me'), await send('HEAD', '/auth/me')], [200, 200]);
  const change = { timezone: 'Europe/Berlin' };
  assert.equal(await send('PATCH', '/settings', csrf, change), 200);
  for (const wrong of ['', 'x', `${jar.troupe_csrf}x`, jar.troupe_csrf!.slice(1)])
    assert.equal(await send('PATCH', '/settings', wrong === '' ? {} : { 'x-csrf-token': wrong }, change), 403, wrong);
});

test('an X-CSRF-Token with characters beyond ASCII is 403', async (t) => {
  const { signIn, register } = await open(t);
  await register('ann@example.com', password);
  const { send } = await signIn({ email: 'ann@example.com', password });
  for (const wrong of ['é', 'é'.repeat(43), `${'x'.repeat(42)}é`])
    assert.equal(await send('PATCH', '/settings', { 'x-csrf-token': wrong }, { timezone: 'Europe/Berlin' }), 403, wrong);
});

test('cookies set by another site are not accepted: the CSRF token must belong to this session', async (t) => {
  const { signIn, register, request } = await open(t);
  await register('ann@example.com', password);
  await register('eve@example.com', password);
  const ann = await signIn({ email: 'ann@example.com', password });
  const eve = await signIn({ email: 'eve@example.com', password });
  const planted = async (csrf: string) =>
    (
      await request(
        'PATCH',
        '/v1/settings',
        null,
        {},
        {
          cookie: `troupe_session=${ann.jar.troupe_session}; troupe_csrf=${csrf}`,
          'x-csrf-token': csrf,
        },
      )
    ).status;
  assert.equal(await planted(eve.jar.troupe_csrf!), 403);
  for (const made of ['a', 'é', 'ÿ']) assert.equal(await planted(made.repeat(43)), 403);
  assert.equal(await planted(ann.jar.troupe_csrf!), 200);
});

test('a bearer token needs no CSRF token and takes precedence over cookies; neither is accepted in place of the other', async (t) => {
  const { signIn, register, request, clock } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  const { cookie, jar } = await signIn({ email: 'ann@example.com', password });
  const asked = async (headers: Record<string, string>) => (await request('PATCH', '/v1/settings', null, {}, headers)).status;
  assert.equal(await asked({ authorization: `Bearer ${access_token}`, cookie }), 200);
  assert.equal(await asked({ authorization: 'Bearer nonsense', cookie, 'x-csrf-token': jar.troupe_csrf! }), 401);
  assert.equal(await asked({ authorization: `Bearer ${jar.troupe_session}` }), 401);
  assert.equal(await asked({}), 401);
  assert.equal(await asked({ cookie: 'troupe_session=nonsense' }), 403);
  assert.equal(await asked({ cookie: 'troupe_session=nonsense; troupe_csrf=a', 'x-csrf-token': 'a' }), 401);
  const swapped = { cookie: `troupe_session=${access_token}; troupe_csrf=a`, 'x-csrf-token': 'a' };
  assert.equal(await asked(swapped), 401);
  clock.advance(604_800_000);
  assert.equal((await request('GET', '/v1/auth/me', null, undefined, { cookie })).status, 401);
});

test('signing out ends the session within a second and deletes both cookies', async (t) => {
  const { signIn, register, request, clock } = await open(t);
  await register('ann@example.com', password);
  const { cookie, send, csrf } = await signIn({ email: 'ann@example.com', password });
  assert.equal(await send('DELETE', '/auth/session'), 403);
  const out = await request('DELETE', '/v1/auth/session', null, undefined, { cookie, ...csrf });
  assert.equal(out.status, 204);
  assert.deepEqual(
    out.headers.getSetCookie().map((line) => line.split('; Path')[0]),
    ['troupe_session=', 'troupe_csrf='],
  );
  assert.ok(out.headers.getSetCookie().every((line) => line.includes('Max-Age=0')));
  clock.advance(900);
  assert.equal(await send('GET', '/auth/me'), 401);
});

test('with https the cookies are sent over https only; an access token can be exchanged for cookies of its session, which end with it', async (t) => {
  const { signIn, register, request, createKey, clock } = await open(t, 'https://api.example.com');
  const { access_token, refresh_token } = await register('ann@example.com', password);
  const { status, set, send } = await signIn(undefined, access_token);
  assert.equal(status, 201);
  assert.ok(set.every((cookie) => cookie.startsWith('__Host-') && cookie.endsWith('; Secure') && cookie.includes('; Path=/;')));
  const plain = set.map((cookie) => cookie.slice('__Host-'.length).split(';')[0]).join('; ');
  assert.equal((await request('GET', '/v1/auth/me', null, undefined, { cookie: plain })).status, 401, 'no plain name is read');
  assert.equal(await send('GET', '/auth/me'), 200);
  const { key } = await createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  for (const [token, body, expected] of [
    [key, undefined, 403],
    [null, undefined, 401],
    ['nonsense', undefined, 401],
    [null, { email: 'ann@example.com' }, 422],
    [null, { password }, 422],
    [null, { email: 'ann@example.com', password: 'wrong' }, 401],
  ] as const)
    assert.equal((await signIn(body, token)).status, expected, JSON.stringify(body));
  await request('POST', '/v1/auth/logout', access_token, { refresh_token });
  clock.advance(900);
  assert.equal(await send('GET', '/auth/me'), 401);
});
