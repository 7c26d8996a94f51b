/** A forgotten password: who gets which mail, what its token permits, and that the existence of an account is not revealed. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { AppError } from '../../../../src/errors.ts';
import { startIdentityNode } from '../../../support/identity-node.ts';
import { settled } from '../../../support/settled.ts';
import { until } from '../../../support/until.ts';

const password = 'correct horse battery';
const hourMs = 3_600_000;

async function open(t: TestContext) {
  const node = await startIdentityNode(t);
  const post = async (path: string, body: unknown, token: string | null = null) => {
    const response = await node.request('POST', `/v1${path}`, token, body);
    return { status: response.status, text: await response.text() };
  };
  const forgot = (email: string) => post('/auth/forgot-password', { email });
  const reset = (token: string, to = 'another horse battery', more: object = {}) =>
    post('/auth/reset-password', { token, password: to, ...more });
  const login = (email: string, typed: string) => post('/auth/login', { email, password: typed });
  /** The token of the n-th mail, when it has come. */
  async function mailed(n: number): Promise<{ to: string; token: string }> {
    await until(() => node.mail.resets.length >= n, `mail ${n}`);
    const { to, text } = node.mail.resets[n - 1]!;
    return { to, token: /^v4\.public\.\S+$/m.exec(text)![0] };
  }
  /** All that was asked for has happened. */
  const quiet = () => settled(node.database, node.runtime);
  return { ...node, post, forgot, reset, login, mailed, quiet };
}

test('a mailed token sets a new password once and ends every session of the user within a second; keys and other users stay', async (t) => {
  const { forgot, reset, login, mailed, register, createKey, request, clock, mail, post } = await open(t);
  const first = await register('Ann@Example.com', password);
  const second = JSON.parse((await login('ann@example.com', password)).text);
  const bob = await register('bob@example.com', password);
  const { key } = await createKey(first.access_token, { name: 'ci', scopes: ['tasks.read'] });
  for (let n = 0; n < 5; n++) await login('ann@example.com', 'forgotten');
  assert.equal((await login('ann@example.com', password)).status, 429);
  const me = async (token: string) => (await request('GET', '/v1/auth/me', token)).status;
  for (const token of [first.access_token, second.access_token, bob.access_token, key]) assert.equal(await me(token), 200);

  const unknown = await forgot('nobody@example.com');
  const known = await forgot('ANN@example.com');
  assert.deepEqual(known, unknown);
  assert.equal(known.status, 200);
  const { to, token } = await mailed(1);
  assert.equal(to, 'Ann@Example.com');
  const [one, two] = await Promise.all([reset(token), reset(token, 'a third horse battery')]);
  assert.deepEqual([one.status, two.status].sort(), [200, 400], 'of two at once one sets it');
  assert.equal((await reset(token)).status, 400);
  const set = one.status === 200 ? 'another horse battery' : 'a third horse battery';

  clock.advance(900);
  assert.deepEqual([await me(first.access_token), await me(second.access_token)], [401, 401]);
  assert.deepEqual([await me(bob.access_token), await me(key)], [200, 200]);
  for (const { refresh_token } of [first, second]) assert.equal((await post('/auth/refresh', { refresh_token })).status, 401);
  const again = await login('ann@example.com', set);
  assert.equal(again.status, 200, 'the wrong passwords from before are forgotten with the old one');
  assert.equal(await me(JSON.parse(again.text).access_token), 200);
  assert.equal((await login('ann@example.com', password)).status, 401);
  assert.equal(mail.resets.length, 1, 'nobody else was mailed');
});

test('a token is valid for an hour; a modified, forged or unrelated token is refused', async (t) => {
  const { forgot, reset, mailed, register, clock, tokens } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  await forgot('ann@example.com');
  const { token } = await mailed(1);
  const { userId } = (await tokens.readAccessToken(access_token))!;
  const madeUp = await tokens.resetToken({ userId, resetId: 'req_1', expiresAtMs: clock.nowMs() + hourMs });
  const bent = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`;
  for (const bad of ['', 'x', access_token, bent, madeUp]) assert.equal((await reset(bad)).status, 400, bad);
  assert.equal((await reset(token, 'too short')).status, 422);
  clock.advance(hourMs - 1);
  const later = token;
  clock.advance(1);
  assert.equal((await reset(later)).status, 400);
});

test('an address gets at most three mails an hour, with the same answer each time, and each token is valid until one is used', async (t) => {
  const { forgot, reset, mailed, register, clock, mail, quiet } = await open(t);
  await register('ann@example.com', password);
  const answers = new Set<string>();
  for (let n = 0; n < 6; n++) answers.add((await forgot('ann@example.com')).text);
  assert.equal(answers.size, 1);
  await quiet();
  assert.equal(mail.resets.length, 3);
  assert.equal((await reset((await mailed(1)).token)).status, 200);
  assert.equal((await reset((await mailed(2)).token)).status, 400);
  clock.advance(hourMs);
  await forgot('ann@example.com');
  assert.equal((await mailed(4)).to, 'ann@example.com');
});

test('a mail that was certainly not sent is sent later, with the same token id; one with an unknown outcome is not', async (t) => {
  const { forgot, reset, mailed, register, mail, quiet, database } = await open(t);
  await register('ann@example.com', password);
  await quiet();
  mail.fail = new AppError('unavailable', 'away');
  await forgot('ann@example.com');
  await quiet();
  const { rows } = await database.read({ text: `select name from timer where kind = 'user'` });
  assert.equal(rows.length, 1);
  mail.fail = new AppError('outcome_unknown', 'perhaps');
  await forgot('ann@example.com');
  await quiet();
  assert.equal((await database.read({ text: `select 1 from timer where kind = 'user'` })).rows.length, 1);
  mail.fail = null;
  await forgot('ann@example.com');
  assert.equal((await reset((await mailed(1)).token)).status, 200);
});

test('a new password keeps API keys and says so, unless their revocation is requested: then no key remains, also none created meanwhile by a revoked key', async (t) => {
  const { forgot, reset, mailed, register, createKey, request, clock } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  const bob = await register('bob@example.com', password);
  const keys = await Promise.all([1, 2, 3].map((n) => createKey(access_token, { name: `k${n}`, scopes: ['tasks.read'] })));
  const other = await createKey(bob.access_token, { name: 'ci', scopes: ['tasks.read'] });
  const statusOf = async (key: string) => (await request('GET', '/v1/auth/me', key)).status;
  await forgot('ann@example.com');
  const kept = await reset((await mailed(1)).token);
  assert.equal(kept.status, 200);
  assert.match(JSON.parse(kept.text).message, /API keys stay/);
  for (const { key } of keys) assert.equal(await statusOf(key), 200);

  await forgot('ann@example.com');
  const revoked = await reset((await mailed(2)).token, 'a third horse battery', { revoke_api_keys: true });
  assert.equal(revoked.status, 200);
  assert.match(JSON.parse(revoked.text).message, /revoked: 3$/);
  // Its answer is remembered for half a second here, and it may make no other in that time.
  const made = await request('POST', '/v1/api-keys', keys[0]!.key, { name: 'more', scopes: ['tasks.read'] });
  assert.equal(made.status, 401);
  clock.advance(900);
  for (const { key } of keys) assert.equal(await statusOf(key), 401);
  assert.equal(await statusOf(other.key), 200);
});
