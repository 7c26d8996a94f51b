import assert from 'node:assert/strict';
import test from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { createPasswords } from '../../../src/edge/auth/passwords.ts';

test('a password matches its own hash only, and the same password is hashed differently each time', async () => {
  const passwords = createPasswords();
  const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
  assert.notEqual(one, two);
  assert.equal(await passwords.matches('correct horse', one), true);
  assert.equal(await passwords.matches('correct horsf', one), false);
  assert.equal(await passwords.matches('', one), false);
});

test('hashes are argon2id with 19 MiB and two passes', async () => {
  const { algorithm, memoryCost, timeCost, parallelism } = parseOptions(await createPasswords().hash('correct horse'));
  assert.deepEqual([algorithm, memoryCost, timeCost, parallelism], [2, 19_456, 2, 1]);
});

test('no password matches where there is no hash', async () => {
  assert.equal(await createPasswords().matches('correct horse', null), false);
});

test('the same letters composed in two ways are one password', async () => {
  const passwords = createPasswords();
  assert.equal(await passwords.matches('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait')), true);
});

test('beyond the waiting room the next is refused at once with overloaded, and all others are served', async () => {
  const passwords = createPasswords(1, 2);
  const served = [passwords.hash('1'), passwords.hash('2'), passwords.hash('3')];
  await assert.rejects(passwords.hash('4'), { code: 'overloaded' });
  await assert.rejects(passwords.matches('4', null), { code: 'overloaded' });
  assert.equal((await Promise.all(served)).length, 3);
  assert.equal(await passwords.matches('5', await passwords.hash('5')), true);
});

test('a hash that is none frees its place again', async () => {
  const passwords = createPasswords(1, 1);
  await assert.rejects(passwords.matches('1', 'no hash'));
  await assert.rejects(passwords.matches('1', 'no hash'));
  assert.equal(await passwords.matches('1', null), false);
});
