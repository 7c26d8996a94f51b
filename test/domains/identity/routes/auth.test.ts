import assert from 'node:assert/strict';
import test from 'node:test';
import { startIdentityNode } from '../../../support/identity-node.ts';

const password = 'correct horse battery';

test('a user registers, reads the profile, refreshes the token and signs out', async (t) => {
  const { request, clock } = await startIdentityNode(t);
  const registered = await request('POST', '/v1/auth/register', null, { email: 'Ann@Example.com', password, name: 'Ann' });
  assert.equal(registered.status, 201);
  const first: any = await registered.json();
  assert.deepEqual([first.token_type, first.expires_in], ['bearer', 3600]);

  const me: any = await (await request('GET', '/auth/me', first.access_token)).json();
  assert.match(me.id, /^usr_[0-9a-z]{26}$/);
  assert.match(me.account_id, /^acct_[0-9a-z]{26}$/);
  assert.match(me.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual([me.email, me.name, me.plan, me.two_factor_enabled], ['Ann@Example.com', 'Ann', 'free', false]);

  const refreshed = await request('POST', '/v1/auth/refresh', null, { refresh_token: first.refresh_token });
  assert.equal(refreshed.status, 200);
  const second: any = await refreshed.json();
  assert.notEqual(second.refresh_token, first.refresh_token);

  const out = await request('POST', '/v1/auth/logout', second.access_token, { refresh_token: second.refresh_token });
  assert.deepEqual([out.status, await out.json()], [200, { message: 'Signed out' }]);
  clock.advance(900);
  for (const { access_token } of [first, second]) assert.equal((await request('GET', '/v1/auth/me', access_token)).status, 401);
  assert.equal((await request('POST', '/v1/auth/refresh', null, { refresh_token: second.refresh_token })).status, 401);
});

test('of two registrations of one address at the same time, one is 201 and one 409, whatever the case of its letters', async (t) => {
  const { request } = await startIdentityNode(t);
  const answers = await Promise.all(
    ['ann@example.com', 'ANN@example.COM'].map((email) => request('POST', '/v1/auth/register', null, { email, password })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  const later = await request('POST', '/v1/auth/register', null, { email: 'Ann@Example.Com', password });
  assert.equal(later.status, 409);
  assert.deepEqual(Object.keys((await later.json()) as object), ['detail']);
});

test('a login with a wrong password and one with an unknown address get the same answer', async (t) => {
  const { request, register } = await startIdentityNode(t);
  await register('ann@example.com', password);
  const answers = [];
  for (const body of [
    { email: 'ann@example.com', password: 'wrong horse battery' },
    { email: 'bob@example.com', password },
    { email: 'no address', password: '' },
  ]) {
    const response = await request('POST', '/v1/auth/login', null, body);
    answers.push([response.status, await response.text()]);
  }
  for (const answer of answers) assert.deepEqual(answer, [401, '{"detail":"Incorrect email or password"}']);
  const right = await request('POST', '/v1/auth/login', null, { email: 'ANN@example.com', password });
  assert.equal(right.status, 200);
});

test('a used refresh token ends the session: its access token is refused within a second, other sessions stay', async (t) => {
  const { request, register, clock } = await startIdentityNode(t);
  const first = await register('ann@example.com', password);
  const other = (await (await request('POST', '/v1/auth/login', null, { email: 'ann@example.com', password })).json()) as {
    access_token: string;
  };
  const second = (await (await request('POST', '/v1/auth/refresh', null, { refresh_token: first.refresh_token })).json()) as {
    access_token: string;
    refresh_token: string;
  };
  assert.equal((await request('GET', '/v1/auth/me', second.access_token)).status, 200);
  assert.equal((await request('POST', '/v1/auth/refresh', null, { refresh_token: first.refresh_token })).status, 401);
  clock.advance(900);
  assert.equal((await request('GET', '/v1/auth/me', second.access_token)).status, 401);
  assert.equal((await request('POST', '/v1/auth/refresh', null, { refresh_token: second.refresh_token })).status, 401);
  assert.equal((await request('GET', '/v1/auth/me', other.access_token)).status, 200);
});

test('a session is ended only with an access token of its own user', async (t) => {
  const { request, register, createKey, clock } = await startIdentityNode(t);
  const ann = await register('ann@example.com');
  const bob = await register('bob@example.com');
  const { key } = await createKey(ann.access_token, { name: 'ci', scopes: ['tasks.read'] });
  const body = { refresh_token: ann.refresh_token };
  assert.equal((await request('POST', '/v1/auth/logout', bob.access_token, body)).status, 401);
  assert.equal((await request('POST', '/v1/auth/logout', key, body)).status, 403);
  assert.equal((await request('POST', '/v1/auth/logout', null, body)).status, 401);
  assert.equal((await request('POST', '/v1/auth/logout', ann.access_token, { refresh_token: 'nonsense' })).status, 401);
  clock.advance(900);
  assert.equal((await request('GET', '/v1/auth/me', ann.access_token)).status, 200);
});

test('an invalid body is 422, and the answer contains no secret', async (t) => {
  const { request, database } = await startIdentityNode(t);
  const email = 'ann@example.com';
  for (const [body, field] of [
    [{}, 'email'],
    [{ email: 'not an address', password }, 'email'],
    [{ email, password: 'tooshort9' }, 'password'],
    [{ email, password: 'x'.repeat(129) }, 'password'],
    [{ email, password: 1234567890 }, 'password'],
    [{ email, password, name: 7 }, 'name'],
    [{ email: `${'a'.repeat(250)}@x.org`, password }, 'email'],
  ] as const) {
    const response = await request('POST', '/v1/auth/register', null, body);
    const text = await response.text();
    assert.equal(response.status, 422, text);
    assert.deepEqual(JSON.parse(text).detail[0].loc, ['body', field]);
    for (const secret of ['tooshort9', 'xxxx', '1234567890']) assert.ok(!text.includes(secret));
  }
  assert.equal((await database.read({ text: 'select 1 from email_address' })).rows.length, 0);
});

test('neither password nor tokens are in the database', async (t) => {
  const { register, createKey, runtime, database } = await startIdentityNode(t);
  const { access_token, refresh_token } = await register('ann@example.com', password);
  const { key } = await createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  await runtime.commit.drained();
  for (const table of ['email_address', 'app_user', 'account', 'session', 'api_key', 'message', 'command_record', 'dead_letter']) {
    const { rows } = await database.read({ text: `select * from ${table}` });
    const text = JSON.stringify(rows);
    for (const secret of [password, refresh_token.slice(-40), key.slice(8, 51), access_token]) assert.ok(!text.includes(secret), table);
  }
});
