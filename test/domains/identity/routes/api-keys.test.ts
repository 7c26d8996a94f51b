import assert from 'node:assert/strict';
import test from 'node:test';
import { setOverrides } from '../../../../src/storage/account-overrides.ts';
import type { ApiKeyList, NewApiKey, Refused } from '../../../support/bodies.ts';
import { startIdentityNode } from '../../../support/identity-node.ts';

test('a new key works, is listed without its secret, and is refused within a second after its revocation', async (t) => {
  const { request, register, clock } = await startIdentityNode(t);
  const { access_token } = await register('ann@example.com');
  const response = await request('POST', '/v1/api-keys', access_token, { name: 'ci', scopes: ['tasks.read', 'tasks.read'] });
  assert.equal(response.status, 201);
  const created = (await response.json()) as NewApiKey;
  assert.match(created.id, /^key-[0-9a-z]{26}$/);
  assert.match(created.key, /^mk_live_[0-9A-Za-z]{49}$/);
  assert.deepEqual([created.name, created.scopes, created.mode], ['ci', ['tasks.read'], 'live']);

  assert.equal((await request('GET', '/v1/auth/me', created.key)).status, 200);
  const listed = (await (await request('GET', '/v1/api-keys', created.key)).json()) as ApiKeyList;
  assert.deepEqual(
    [listed.total, listed.has_more, listed.data[0].id, listed.data[0].last_four],
    [1, false, created.id, created.key.slice(-4)],
  );
  assert.ok(!JSON.stringify(listed).includes(created.key.slice(8, 51)));

  assert.equal((await request('DELETE', `/v1/api-keys/${created.id}`, access_token)).status, 204);
  clock.advance(900);
  assert.equal((await request('GET', '/v1/auth/me', created.key)).status, 401);
  assert.equal((await request('DELETE', `/v1/api-keys/${created.id}`, access_token)).status, 404);
  assert.deepEqual(await (await request('GET', '/v1/api-keys', access_token)).json(), { data: [], has_more: false, total: 0 });
});

test('keys of the account are listed newest first, in pages', async (t) => {
  const { request, register, createKey, clock } = await startIdentityNode(t);
  const ann = await register('ann@example.com');
  const bob = await register('bob@example.com');
  for (const name of ['a', 'b', 'c']) {
    clock.advance(1);
    await createKey(ann.access_token, { name, scopes: ['tasks.read'] });
  }
  const page = async (query: string, token = ann.access_token) => {
    const { data, has_more, total } = (await (await request('GET', `/v1/api-keys${query}`, token)).json()) as ApiKeyList;
    return [data.map(({ name }) => name).join(''), has_more, total];
  };
  assert.deepEqual(await page(''), ['cba', false, 3]);
  assert.deepEqual(await page('?limit=2'), ['cb', true, 3]);
  assert.deepEqual(await page('?limit=2&offset=2'), ['a', false, 3]);
  assert.deepEqual(await page('?offset=9'), ['', false, 3]);
  assert.deepEqual(await page('', bob.access_token), ['', false, 0]);
  for (const query of ['?limit=0', '?limit=101', '?offset=-1', '?limit=x'])
    assert.equal((await request('GET', `/v1/api-keys${query}`, ann.access_token)).status, 422, query);
});

test('a key is 404 for other accounts, and continues to work', async (t) => {
  const { request, register, createKey } = await startIdentityNode(t);
  const ann = await register('ann@example.com');
  const bob = await register('bob@example.com');
  const { id, key } = await createKey(ann.access_token, { name: 'ci', scopes: ['tasks.read'] });
  for (const path of [id, 'key-01jd0000000000000000000000', 'nonsense', '%00', '..%2f'])
    assert.equal((await request('DELETE', `/v1/api-keys/${path}`, bob.access_token)).status, 404, path);
  assert.equal((await request('GET', '/v1/auth/me', key)).status, 200);
});

test('a key creates and revokes only keys whose scopes it has, and a test key only test keys', async (t) => {
  const { request, register, createKey } = await startIdentityNode(t);
  const { access_token } = await register('ann@example.com');
  const small = await createKey(access_token, { name: 'small', scopes: ['tasks.read'] });
  const large = await createKey(access_token, { name: 'large', scopes: ['tasks.read', 'commerce.write'] });
  const trial = await createKey(access_token, { name: 'trial', scopes: ['tasks.read'], mode: 'test' });
  assert.match(trial.key, /^mk_test_/);

  const make = async (token: string, body: object) => (await request('POST', '/v1/api-keys', token, { name: 'x', ...body })).status;
  assert.equal(await make(small.key, { scopes: ['tasks.read'] }), 201);
  assert.equal(await make(small.key, { scopes: ['tasks.read', 'tasks.write'] }), 403);
  assert.equal(await make(trial.key, { scopes: ['tasks.read'] }), 403);
  assert.equal(await make(trial.key, { scopes: ['tasks.read'], mode: 'test' }), 201);
  assert.equal((await request('DELETE', `/v1/api-keys/${large.id}`, small.key)).status, 403);
  assert.equal((await request('DELETE', `/v1/api-keys/${small.id}`, trial.key)).status, 403);
  assert.equal((await request('DELETE', `/v1/api-keys/${small.id}`, large.key)).status, 204);
});

test('an unknown scope, no scope, or an empty name is 422', async (t) => {
  const { request, register } = await startIdentityNode(t);
  const { access_token } = await register('ann@example.com');
  for (const body of [
    {},
    { name: 'x', scopes: ['tasks.admin'] },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: 'tasks.read' },
    { name: '', scopes: ['tasks.read'] },
    { name: '  ', scopes: ['tasks.read'] },
    { name: 'x'.repeat(101), scopes: ['tasks.read'] },
    { name: 'x', scopes: ['tasks.read'], mode: 'prod' },
  ]) {
    assert.equal((await request('POST', '/v1/api-keys', access_token, body)).status, 422, JSON.stringify(body));
  }
  assert.equal((await request('POST', '/v1/api-keys', null, { name: 'x', scopes: ['tasks.read'] })).status, 401);
});

test('an account on the free plan has at most five keys, also with concurrent requests; a revoked key frees its slot', async (t) => {
  const { request, register, database } = await startIdentityNode(t);
  const { access_token } = await register('ann@example.com');
  const make = (n: number, headers = {}) =>
    request('POST', '/v1/api-keys', access_token, { name: `k${n}`, scopes: ['tasks.read'] }, headers);
  const answers = await Promise.all(Array.from({ length: 9 }, async (_, n) => (await make(n)).status));
  assert.deepEqual(answers.sort(), [201, 201, 201, 201, 201, 402, 402, 402, 402]);
  const refused = (await (await make(9)).json()) as Refused;
  assert.match(refused.detail, /has 5 API keys.*free plan allows 5/);
  const listed = (await (await request('GET', '/v1/api-keys', access_token)).json()) as ApiKeyList;
  assert.equal(listed.total, 5);

  assert.equal((await request('DELETE', `/v1/api-keys/${listed.data[0].id}`, access_token)).status, 204);
  const { rows } = await database.read({ text: 'select id from api_key' });
  assert.ok(rows.length === 5, 'what was refused left nothing behind');
  const again = { 'idempotency-key': 'once' };
  assert.deepEqual([(await make(10, again)).status, (await make(10, again)).status, (await make(11)).status], [201, 201, 402]);
});

test("keys beyond an operator's limit continue to work, and no more are created", async (t) => {
  const { request, register, createKey, database, overrides } = await startIdentityNode(t);
  const { access_token } = await register('ann@example.com');
  const { account_id } = (await (await request('GET', '/v1/auth/me', access_token)).json()) as { account_id: string };
  const create = () => createKey(access_token, { name: 'one more', scopes: ['tasks.read'] });
  const allow = (apiKeys: number) => setOverrides(database, account_id, { apiKeys }).then(() => overrides.poll());
  const keys = [await create(), await create()];
  await allow(1);
  for (const { key } of keys) assert.equal((await request('GET', '/v1/auth/me', key)).status, 200);
  const refused = await request('POST', '/v1/api-keys', access_token, { name: 'third', scopes: ['tasks.read'] });
  assert.deepEqual(
    [refused.status, ((await refused.json()) as Refused).detail],
    [402, 'The account has 2 API keys and it may have 1: revoke one, or change the plan'],
  );
  await allow(-1);
  await Promise.all(Array.from({ length: 6 }, create));
});
