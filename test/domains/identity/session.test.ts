import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { session } from '../../../src/domains/identity/session/messages.ts';
import { refreshTokenLifeMs } from '../../../src/domains/identity/session/session.ts';
import { identityDatabase } from '../../support/identity-node.ts';

const owner = { userId: 'usr_1', accountId: 'acct_1', generation: 0 };

async function openSession(t: TestContext) {
  const parts = await identityDatabase(t);
  const { actors } = await parts.startRuntime();
  await actors.ask(session, 'ses_1', 'open', { ...owner, refreshHash: 'a' });
  const rotate = (presentedHash: string, nextHash: string) => actors.ask(session, 'ses_1', 'rotate', { presentedHash, nextHash });
  const isCurrent = async () => (await actors.query(session, 'ses_1', 'standing', null)) === owner.generation;
  return { ...parts, actors, rotate, isCurrent };
}

test('each refresh token is valid once and returns the next one', async (t) => {
  const { rotate, isCurrent } = await openSession(t);
  assert.deepEqual(await rotate('a', 'b'), owner);
  assert.deepEqual(await rotate('b', 'c'), owner);
  assert.equal(await isCurrent(), true);
});

test('a used refresh token ends the whole family, including the current token', async (t) => {
  const { rotate, isCurrent } = await openSession(t);
  await rotate('a', 'b');
  assert.equal(await rotate('a', 'x'), null);
  assert.equal(await isCurrent(), false);
  assert.equal(await rotate('b', 'c'), null);
  assert.equal(await rotate('x', 'c'), null);
});

test('of two refreshes with one token at the same time at most one succeeds, and the session ends', async (t) => {
  const { rotate, isCurrent } = await openSession(t);
  const replies = await Promise.all([rotate('a', 'b'), rotate('a', 'c')]);
  assert.deepEqual(replies, [owner, null]);
  assert.equal(await isCurrent(), false);
});

test('a refresh token is valid until its last millisecond, and each new one for its own seven days', async (t) => {
  const { clock, rotate } = await openSession(t);
  clock.advance(refreshTokenLifeMs - 1);
  assert.deepEqual(await rotate('a', 'b'), owner);
  clock.advance(refreshTokenLifeMs - 1);
  assert.deepEqual(await rotate('b', 'c'), owner);
  clock.advance(refreshTokenLifeMs);
  assert.equal(await rotate('c', 'd'), null);
});

test('only its own user can end a session, and an ended session is not reopened', async (t) => {
  const { actors, isCurrent } = await openSession(t);
  assert.equal(await actors.ask(session, 'ses_1', 'revoke', { userId: 'usr_2' }), false);
  assert.equal(await isCurrent(), true);
  assert.equal(await actors.ask(session, 'ses_1', 'revoke', { userId: 'usr_1' }), true);
  assert.equal(await actors.ask(session, 'ses_1', 'revoke', { userId: 'usr_1' }), true);
  await actors.ask(session, 'ses_1', 'open', { ...owner, refreshHash: 'a' });
  assert.equal(await isCurrent(), false);
});

test('a session that never existed is not valid', async (t) => {
  const { actors } = await openSession(t);
  assert.equal(await actors.query(session, 'ses_2', 'standing', null), null);
  assert.equal(await actors.ask(session, 'ses_2', 'rotate', { presentedHash: 'a', nextHash: 'b' }), null);
});
