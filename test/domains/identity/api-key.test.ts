import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { apiKey, keyIdOf } from '../../../src/domains/identity/api-key/messages.ts';
import { identityDatabase } from '../../support/identity-node.ts';

const input = {
  accountId: 'acct_1',
  userId: 'usr_1',
  name: 'ci',
  secretHash: 'hash',
  lastFour: 'abcd',
  mode: 'live',
  scopes: ['tasks.read'],
} as const;

const keyId = keyIdOf(input.accountId, 'key-00000000000000000000000001');

async function createdKey(t: TestContext) {
  const parts = await identityDatabase(t);
  const { actors } = await parts.startRuntime();
  await actors.ask(apiKey, keyId, 'create', { ...input, scopes: [...input.scopes] });
  const lastUsedAt = async () => (await parts.database.read({ text: 'select last_used_at from api_key' })).rows[0].last_used_at;
  return { ...parts, actors, lastUsedAt };
}

test('the last use of a key is stored at most once a minute', async (t) => {
  const { actors, clock, lastUsedAt } = await createdKey(t);
  assert.equal(await lastUsedAt(), null);
  const firstMs = clock.nowMs();
  await actors.ask(apiKey, keyId, 'touch', null);
  clock.advance(59_999);
  await actors.ask(apiKey, keyId, 'touch', null);
  assert.equal(await lastUsedAt(), firstMs);
  clock.advance(1);
  await actors.ask(apiKey, keyId, 'touch', null);
  assert.equal(await lastUsedAt(), firstMs + 60_000);
});

test('a key is revoked by its own account once, and cannot be created again under its id', async (t) => {
  const { actors } = await createdKey(t);
  await assert.rejects(actors.ask(apiKey, keyId, 'revoke', { accountId: 'acct_2' }), { code: 'not_found' });
  assert.notEqual(await actors.query(apiKey, keyId, 'facts', null), null);
  await actors.ask(apiKey, keyId, 'revoke', { accountId: 'acct_1' });
  await assert.rejects(actors.ask(apiKey, keyId, 'revoke', { accountId: 'acct_1' }), { code: 'not_found' });
  await actors.ask(apiKey, keyId, 'create', { ...input, scopes: ['tasks.write'] });
  assert.equal(await actors.query(apiKey, keyId, 'facts', null), null);
});

test('recording the use of an unknown key creates none', async (t) => {
  const { actors, database } = await createdKey(t);
  await actors.ask(apiKey, 'key-2', 'touch', null);
  assert.equal((await database.read({ text: `select 1 from api_key where id = 'key-2'` })).rows.length, 0);
});
