import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActorSystem } from '../../../src/actors/actor-system.ts';
import { account } from '../../../src/domains/accounts/account/messages.ts';
import { emailAddress, emailAddressId } from '../../../src/domains/identity/email-address/messages.ts';
import { user } from '../../../src/domains/identity/user/messages.ts';
import type { Database } from '../../../src/storage/database.ts';
import { type IdentityDatabase, identityActors, identityDatabase } from '../../support/identity-node.ts';
import { until } from '../../support/until.ts';

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

test('a registration is answered after user and account are committed', async (t) => {
  const { actors } = await (await identityDatabase(t)).startRuntime();
  const { userId, accountId } = await actors.ask(emailAddress, address, 'register', ann);
  const profile = await actors.query(user, userId, 'profile', null);
  assert.deepEqual([profile?.email, profile?.name, profile?.accountId], ['Ann@Example.com', 'Ann', accountId]);
  assert.equal((await actors.query(account, accountId, 'get', null))?.plan, 'free');
  assert.deepEqual(await actors.query(emailAddress, address, 'holder', null), { userId, accountId });
});

test('repeated and concurrent registrations with one id return the same user and create nothing twice', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const { actors } = await startRuntime();
  const first = await actors.ask(emailAddress, address, 'register', ann);
  assert.deepEqual(await actors.ask(emailAddress, address, 'register', ann), first);
  const { rows } = await database.read({ text: 'select (select count(*) from app_user) users, (select count(*) from account) accounts' });
  assert.deepEqual(rows, [{ users: 1, accounts: 1 }]);
});

test('a registration interrupted before user and account exist is completed by the next process, which returns the lost answer', async (t) => {
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

test('if the message to user or account is permanently lost, the timer sends it again', async (t) => {
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

test('a change of address interrupted before its message arrives is completed by the next process: the new address waits for its verification', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const first = await startRuntime();
  const { userId, accountId } = await first.actors.ask(emailAddress, address, 'register', ann);
  await first.stop(0);
  const deaf = await startRuntime(identityActors.filter((actor) => actor.ref.kind !== 'user'));
  const move = { moveId: 'move', userId, accountId, email: 'Anna@Example.com', emailVersion: 0 };
  void deaf.actors.ask(emailAddress, 'anna@example.com', 'move', move).catch(() => {});
  const isThere = async () => (await database.read({ text: `select 1 from email_address where id = 'anna@example.com'` })).rows.length > 0;
  await until(isThere, 'the new address');
  assert.equal(await deaf.actors.query(emailAddress, 'anna@example.com', 'holder', null), null, 'nobody signs in with it yet');
  await deaf.stop(0);

  const { actors } = await startRuntime();
  assert.equal(await actors.ask(emailAddress, 'anna@example.com', 'move', move), true, 'asked again, it is answered when it is done');
  const profile = await actors.query(user, userId, 'profile', null);
  assert.deepEqual([profile?.email, profile?.pendingEmail], ['Ann@Example.com', 'Anna@Example.com']);
  assert.deepEqual(await actors.query(emailAddress, 'anna@example.com', 'holder', null), { userId, accountId });
  await verify(database, actors, userId);
  assert.equal((await actors.query(user, userId, 'profile', null))?.email, 'Anna@Example.com');
  await untilFree(actors, address);
  const next = await actors.ask(emailAddress, address, 'register', { ...ann, registrationId: 'second' });
  assert.notEqual(next.userId, userId);
});

test('after a repeated or late change of address, user and addresses are consistent', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const { actors } = await startRuntime();
  const { userId, accountId } = await actors.ask(emailAddress, address, 'register', ann);
  const move = (to: string, emailVersion: number, moveId: string) =>
    actors.ask(emailAddress, to, 'move', { moveId, userId, accountId, email: to, emailVersion });
  assert.deepEqual(await Promise.all([move('b@example.com', 0, '1'), move('b@example.com', 0, '2')]), [true, true]);
  assert.equal(await move('b@example.com', 0, '3'), true, 'it waits already');
  assert.equal(await move('c@example.com', 0, '4'), false, 'the user has chosen since');
  assert.equal(await actors.query(emailAddress, 'c@example.com', 'isTaken', null), false);
  await verify(database, actors, userId);
  assert.equal(await move('c@example.com', 1, '5'), false, 'the user has moved since');
  assert.equal(await move(address, 2, '6'), true, 'and may come back');
  await verify(database, actors, userId);
  await untilFree(actors, 'b@example.com');
  assert.deepEqual(await actors.query(emailAddress, address, 'holder', null), { userId, accountId });
});

test('the password hash is removed from the address as soon as the user has it', async (t) => {
  const { database, startRuntime } = await identityDatabase(t);
  const { actors } = await startRuntime();
  await actors.ask(emailAddress, address, 'register', ann);
  const { rows } = await database.read({ text: 'select unfinished from email_address' });
  assert.deepEqual(rows, [{ unfinished: null }]);
});

/** As the token of the newest mail does. */
async function verify(database: Database, actors: ActorSystem, userId: string): Promise<void> {
  const { rows } = await database.read({ text: 'select verifications from app_user where id = $1', values: [userId] });
  assert.equal(await actors.ask(user, userId, 'verifyEmail', { verificationId: rows[0].verifications.at(-1).id }), true);
}

/** A release is a message in transit. */
async function untilFree(actors: ActorSystem, id: string): Promise<void> {
  await until(async () => !(await actors.query(emailAddress, id, 'isTaken', null)), `${id} to be free`);
}

/** A process that dies after the account was created and before the user: its message to the user is not delivered. */
async function halfRegistered({ startRuntime, database }: IdentityDatabase) {
  const runtime = await startRuntime(identityActors.filter((actor) => actor.ref.kind !== 'user'));
  void runtime.actors.ask(emailAddress, address, 'register', ann).catch(() => {});
  await until(async () => {
    const { rows } = await database.read({ text: 'select unfinished from email_address' });
    return rows[0]?.unfinished?.missing.length === 1;
  }, 'the account');
  return runtime;
}
