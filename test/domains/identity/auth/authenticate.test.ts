import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { apiKey } from '../../../../src/domains/identity/api-key/messages.ts';
import { createAuthenticator } from '../../../../src/domains/identity/auth/authenticate.ts';
import { session } from '../../../../src/domains/identity/session/messages.ts';
import type { Principal } from '../../../../src/edge/auth/principal.ts';
import { HttpRequest } from '../../../../src/edge/http/message.ts';
import { noLog } from '../../../../src/log.ts';
import { type IdentityNode, startIdentityNode } from '../../../support/identity-node.ts';

const nowhere = { getRemoteAddressAsText: () => new ArrayBuffer(0) };

/** Counts the queries of actors and database. */
function counted(node: IdentityNode) {
  const count = { reads: 0, queries: 0 };
  const read: typeof node.database.read = (query) => {
    count.reads++;
    return node.database.read(query);
  };
  const query = (...args: Parameters<typeof node.actors.query>) => {
    count.queries++;
    return node.actors.query(...args);
  };
  const database = Object.create(node.database, { read: { value: read } });
  const actors = Object.create(node.actors, { query: { value: query } });
  const { tokens, cookies, clock } = node;
  return { count, authenticator: createAuthenticator({ actors, database, tokens, cookies, clock, log: noLog }) };
}

async function sessionAndKey(t: TestContext) {
  const node = await startIdentityNode(t);
  const { access_token } = await node.register('ann@example.com');
  const { id, key } = await node.createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  return { node, ...counted(node), access: `Bearer ${access_token}`, key: `Bearer ${key}`, keyId: id };
}

const isPromise = (value: unknown): boolean => value instanceof Promise;

test('a cached token is answered synchronously without a query for half a second', async (t) => {
  const { node, count, authenticator, access, key } = await sessionAndKey(t);
  const first = [await authenticator.authenticate(access), await authenticator.authenticate(key)];
  const before = { ...count };
  node.clock.advance(499);
  assert.deepEqual([authenticator.authenticate(access), authenticator.authenticate(key)], first);
  assert.deepEqual(count, before);
});

test('a session holds all scopes and a key its own', async (t) => {
  const { authenticator, access, key } = await sessionAndKey(t);
  const [person, program] = [(await authenticator.authenticate(access))!, (await authenticator.authenticate(key))!];
  assert.deepEqual([person.kind, person.scopes, person.mode], ['session', 'all', 'live']);
  assert.deepEqual([program.kind, program.scopes, program.mode], ['api_key', new Set(['tasks.read']), 'live']);
  assert.deepEqual([program.accountId, program.userId], [person.accountId, person.userId]);
});

test('a revoked key and an ended session are refused when the last answer is 900 ms old', async (t) => {
  const { node, authenticator, access, key, keyId } = await sessionAndKey(t);
  const person = (await authenticator.authenticate(access)) as Principal;
  await authenticator.authenticate(key);
  await node.actors.ask(apiKey, keyId, 'revoke', { accountId: person.accountId });
  await node.actors.ask(session, person.id, 'revoke', { userId: person.userId });
  assert.equal(await authenticator.isStillValid(person), false);
  node.clock.advance(900);
  assert.equal(await authenticator.authenticate(key), null);
  assert.equal(await authenticator.authenticate(access), null);
  assert.equal(await authenticator.authenticate(key), null, 'and stays so');
});

test('while another node answers slowly, the last answer is used for at most 900 ms', async (t) => {
  const { node, access } = await sessionAndKey(t);
  let answer: (stands: boolean) => void = () => {};
  let away = false;
  const slow = () => new Promise<number | null>((resolve) => (answer = (stands) => resolve(stands ? 0 : null)));
  const actors = Object.create(node.actors, {
    query: {
      value: (...args: Parameters<typeof node.actors.query>) => (away && args[0] === session ? slow() : node.actors.query(...args)),
    },
  });
  const authenticator = createAuthenticator({ ...node, actors, log: noLog });
  const principal = await authenticator.authenticate(access);
  away = true;
  node.clock.advance(899);
  assert.equal(authenticator.authenticate(access), principal, 'asked in the background');
  const refuseFirst = answer;
  node.clock.advance(1);
  const waiting = authenticator.authenticate(access);
  assert.ok(isPromise(waiting), 'nobody is let in on an answer of 900 ms');
  answer(false);
  assert.equal(await waiting, null);
  refuseFirst(true);
  assert.equal(isPromise(authenticator.authenticate(access)), true, 'a late yes does not bring it back');
  answer(false);
});

test('an expired access token is refused to the millisecond, also if it was just used', async (t) => {
  const { node, authenticator, access } = await sessionAndKey(t);
  node.clock.advance(3_599_999);
  assert.notEqual(await authenticator.authenticate(access), null);
  assert.notEqual(authenticator.authenticate(access), null);
  node.clock.advance(1);
  assert.equal(authenticator.authenticate(access), null);
  assert.equal(await authenticator.authenticate(access), null);
});

test('a mistyped key is refused synchronously without a look-up', async (t) => {
  const { count, authenticator, key } = await sessionAndKey(t);
  const at = key.length - 10;
  const mistyped = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
  assert.equal(authenticator.authenticate(mistyped), null);
  assert.deepEqual(count, { reads: 0, queries: 0 });
});

test('an unknown key is looked up once in five seconds, and a burst of one new token asks once', async (t) => {
  const { node, count, authenticator, key, keyId } = await sessionAndKey(t);
  const burst = await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(key)));
  assert.equal(new Set(burst).size, 1);
  assert.equal(count.reads, 1);
  await node.actors.ask(apiKey, keyId, 'revoke', { accountId: burst[0]!.accountId });
  node.clock.advance(900);
  for (let i = 0; i < 5; i++) assert.equal(await authenticator.authenticate(key), null);
  assert.equal(count.reads, 2);
  node.clock.advance(5_000);
  assert.equal(await authenticator.authenticate(key), null);
  assert.equal(count.reads, 3);
});

test('every prefix family names the same key, except with the other mode', async (t) => {
  const { authenticator, key, keyId } = await sessionAndKey(t);
  const body = key.slice('Bearer mk_live_'.length);
  for (const family of ['mt_live_', 'mk_']) assert.equal((await authenticator.authenticate(`Bearer ${family}${body}`))?.id, keyId, family);
  for (const family of ['mk_test_', 'mt_test_']) assert.equal(await authenticator.authenticate(`Bearer ${family}${body}`), null, family);
});

test('forged tokens, other schemes and nonsense are not authenticated', async (t) => {
  const { node, authenticator, access } = await sessionAndKey(t);
  const token = access.slice('Bearer '.length);
  const link = { accountId: 'acct_1', userId: 'usr_1', path: '/x', scope: 'tasks.read' };
  const bad = [
    '',
    'Bearer',
    'Bearer ',
    token,
    `Basic ${token}`,
    `Bearer ${token}x`,
    `Bearer ${'A'.repeat(5_000)}`,
    'Bearer mk_',
    'Bearer \0',
  ];
  for (const header of [...bad, `Bearer ${await node.tokens.downloadToken(link)}`])
    assert.equal(await authenticator.authenticate(header), null, header);
  assert.notEqual(await authenticator.authenticate(`bearer ${token}`), null, 'the scheme knows no case');
});

test('while the database does not answer, no new caller is authenticated, and none gets 401', async (t) => {
  const { node, key } = await sessionAndKey(t);
  const database = Object.create(node.database, { read: { value: () => Promise.reject(new Error('away')) } });
  const authenticator = createAuthenticator({ ...node, database, log: noLog });
  await assert.rejects(async () => authenticator.authenticate(key), /away/);
  await assert.rejects(async () => authenticator.authenticate(key), /away/, 'a failure is not remembered as an answer');
});

test('the last use of a key is recorded at most once a minute', async (t) => {
  const { node, authenticator, key } = await sessionAndKey(t);
  const lastUsedAt = async () => (await node.database.read({ text: 'select last_used_at from api_key' })).rows[0].last_used_at;
  await authenticator.authenticate(key);
  await node.runtime.commit.drained();
  const firstMs = node.clock.nowMs();
  assert.equal(await lastUsedAt(), firstMs);
  node.clock.advance(30_000);
  await authenticator.authenticate(key);
  await node.runtime.commit.drained();
  assert.equal(await lastUsedAt(), firstMs);
  node.clock.advance(30_000);
  await authenticator.authenticate(key);
  await node.runtime.commit.drained();
  assert.equal(await lastUsedAt(), firstMs + 60_000);
});

test('a download link opens its own path with GET and HEAD for an hour, and nothing else', async (t) => {
  const node = await startIdentityNode(t);
  const path = '/workspaces/ws_1/files/wsf_1';
  const token = await node.tokens.downloadToken({ accountId: 'acct_1', userId: 'usr_1', path, scope: 'workspaces.read' });
  const ask = async (method: string, at: string, query = `token=${token}`) =>
    node.authenticator.ofRequest(new HttpRequest(method, at, query, [], null, nowhere));
  for (const [method, at] of [
    ['GET', path],
    ['HEAD', path],
    ['GET', `/v1${path}`],
  ] as const) {
    const principal = await ask(method, at);
    assert.deepEqual([principal?.kind, principal?.accountId, principal?.scopes], ['link', 'acct_1', new Set(['workspaces.read'])]);
  }
  const forbidden = { code: 'forbidden' };
  await assert.rejects(ask('DELETE', path), forbidden);
  await assert.rejects(ask('GET', '/workspaces/ws_1/files'), forbidden);
  await assert.rejects(ask('GET', `${path}2`), forbidden);
  await assert.rejects(ask('GET', path, `token=${token.slice(0, -1)}`), forbidden);
  await assert.rejects(ask('GET', path, 'token='), forbidden);
  assert.equal(await ask('GET', path, 'other=1'), null);
  node.clock.advance(3_600_000);
  await assert.rejects(ask('GET', path), forbidden);
});
