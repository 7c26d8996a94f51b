import assert from 'node:assert/strict';
import test from 'node:test';
import { account } from '../../src/actors/account/messages.ts';
import { emailAddress, emailAddressId } from '../../src/actors/email-address/messages.ts';
import { user } from '../../src/actors/user/messages.ts';
import { type IdentityDatabase, identityActors, identityDatabase } from '../support/identity-node.ts';

const ann = { registrationId: 'first', email: 'Ann@Example.com', name: 'Ann', passwordHash: 'hash' };
const address = emailAddressId(ann.email);

test('of many registrations of one address at the same time one succeeds and the others are refused as a conflict', async (t) => {
  const { actors } = await (await identityDatabase(t)).startRuntime();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => actors.ask(emailAddress, address, 'register', { ...ann, registrationId: `r${i}` })),
  );
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'conflict');
});

test('a registration is answered when user and account are there to be read', async (t) => {
  const { actors } = await (await identityDatabase(t)).startRuntime();
  const { userId, accountId } = await actors.ask(emailAddress, address, 'register', ann);
  const profile = await actors.query(user, userId, 'profile', null);
  assert.deepEqual([profile?.email, profile?.name, profile?.accountId], ['Ann@Example.com', 'Ann', accountId]);
  assert.equal((await actors.query(account, accountId, 'get', null))?.plan, 'free');
  assert.deepEqual(await actors.query(emailAddress, address, 'holder', null), { userId, accountId });
});

test('asked twice with one registration id, in turn or at once, the same user is answered and nothing is made twice', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const { actors } = await startRuntime();
  const first = await actors.ask(emailAddress, address, 'register', ann);
  assert.deepEqual(await actors.ask(emailAddress, address, 'register', ann), first);
  const { rows } = await database.read({ text: 'select (select count(*) from app_user) users, (select count(*) from account) accounts' });
  assert.deepEqual(rows, [{ users: 1, accounts: 1 }]);
});

test('a registration cut off before its halves were made is finished by the next process, which gives the answer that was lost', async (t) => {
  const parts = await identityDatabase(t);
  const { database } = parts;
  const first = await halfRegistered(parts);
  const before = await database.read({ text: 'select (select count(*) from app_user) users, (select count(*) from account) accounts' });
  assert.deepEqual(before.rows, [{ users: 0, accounts: 1 }]);
  assert.equal(await first.actors.query(emailAddress, address, 'holder', null), null, 'nobody signs in to half a user');
  await first.stop(0);

  const { actors } = await parts.startRuntime();
  const holder = await actors.ask(emailAddress, address, 'register', ann);
  assert.notEqual(await actors.query(user, holder.userId, 'profile', null), null);
  await assert.rejects(actors.ask(emailAddress, address, 'register', { ...ann, registrationId: 'second' }), { code: 'conflict' });
  const left = await database.read({
    text: `select (select count(*) from message) messages, (select count(*) from timer where kind = 'email_address') timers`,
  });
  assert.deepEqual(left.rows, [{ messages: 0, timers: 0 }]);
});

test('a half whose message was lost for good is asked for again by the timer', async (t) => {
  const parts = await identityDatabase(t);
  const first = await halfRegistered(parts);
  await first.stop(0);
  await parts.database.pool.query('delete from message');

  const { actors } = await parts.startRuntime();
  const waiting = actors.ask(emailAddress, address, 'register', ann);
  await actors.ask(emailAddress, address, 'complete', { registrationId: ann.registrationId, attempt: 1 });
  const holder = await waiting;
  assert.notEqual(await actors.query(user, holder.userId, 'profile', null), null);
});

test('the password hash leaves the address as soon as the user holds it', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const { actors } = await startRuntime();
  await actors.ask(emailAddress, address, 'register', ann);
  const { rows } = await database.read({ text: 'select unfinished from email_address' });
  assert.deepEqual(rows, [{ unfinished: null }]);
});

/** A process that dies after the account was made and before the user was: it has nobody to deliver the user's message to. */
async function halfRegistered({ startRuntime, database }: IdentityDatabase) {
  const runtime = await startRuntime(identityActors.filter((actor) => actor.ref.kind !== 'user'));
  void runtime.actors.ask(emailAddress, address, 'register', ann).catch(() => {});
  for (;;) {
    const { rows } = await database.read({ text: 'select unfinished from email_address' });
    if (rows[0]?.unfinished?.missing.length === 1) return runtime;
  }
}
