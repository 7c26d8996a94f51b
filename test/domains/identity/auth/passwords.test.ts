import assert from 'node:assert/strict';
import test from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { HashQueues, type HashQueuesOptions } from '../../../../src/domains/identity/auth/hash-queues.ts';
import { createPasswords } from '../../../../src/domains/identity/auth/passwords.ts';

test('a password matches its own hash only, and the same password is hashed differently each time', async () => {
  const passwords = passwordsWith();
  const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
  assert.notEqual(one, two);
  assert.equal(await passwords.matches('correct horse', one), true);
  assert.equal(await passwords.matches('correct horsf', one), false);
  assert.equal(await passwords.matches('', one), false);
});

test('hashes are argon2id with 19 MiB and two passes', async () => {
  const { algorithm, memoryCost, timeCost, parallelism } = parseOptions(await passwordsWith().hash('correct horse'));
  assert.deepEqual([algorithm, memoryCost, timeCost, parallelism], [2, 19_456, 2, 1]);
});

test('without a hash no password matches', async () => {
  assert.equal(await passwordsWith().matches('correct horse', null), false);
});

test('the same letters composed in two ways are one password', async () => {
  const passwords = passwordsWith();
  assert.equal(await passwords.matches('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait')), true);
});

test('an invalid hash frees its slot again', async () => {
  const passwords = passwordsWith({ maxRunning: 1, maxWaitingOfAddress: 1 });
  await assert.rejects(passwords.matches('1', 'no hash'));
  await assert.rejects(passwords.matches('1', 'no hash'));
  assert.equal(await passwords.matches('1', null), false);
});

function passwordsWith(options: HashQueuesOptions = {}) {
  const hashQueues = new HashQueues(options);
  const passwords = createPasswords(hashQueues);
  const line = hashQueues.requesterOf('198.51.100.1', 'login');
  return {
    hash: (password: string) => passwords.hash(password, line),
    matches: (password: string, hash: string | null) => passwords.matches(password, hash, line),
  };
}
