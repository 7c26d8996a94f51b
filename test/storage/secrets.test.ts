import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { SecretError, Secrets } from '../../src/storage/secrets.ts';

const rootKey = 'a root key of at least thirty-two characters';

test('every encrypted text is decrypted unchanged', () => {
  const secrets = new Secrets(rootKey);
  for (const plaintext of ['', 'sk-1234', 'ключ 🔑', '\0\n', 'x'.repeat(1_000_000)]) {
    assert.equal(secrets.decrypt('integration', secrets.encrypt('integration', plaintext)), plaintext);
  }
});

test('another process with the same SECRET_KEY decrypts it', () => {
  assert.equal(new Secrets(rootKey).decrypt('integration', new Secrets(rootKey).encrypt('integration', 'token')), 'token');
});

test('the same plaintext is encrypted to a different text each time, and no text contains it', () => {
  const secrets = new Secrets(rootKey);
  const texts = new Set(Array.from({ length: 100 }, () => secrets.encrypt('replay', 'hello')));
  assert.equal(texts.size, 100);
  for (const text of texts) assert.ok(!Buffer.from(text.split('.')[2]!, 'base64url').includes('hello'));
});

test('one changed bit anywhere is refused', () => {
  const secrets = new Secrets(rootKey);
  const [version, keyId, body] = secrets.encrypt('replay', 'pay Ann 5').split('.') as [string, string, string];
  const sealed = Buffer.from(body, 'base64url');
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const bent = Buffer.from(sealed);
    bent[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => secrets.decrypt('replay', `${version}.${keyId}.${bent.toString('base64url')}`), SecretError);
  }
});

test('a text encrypted for one purpose cannot be decrypted for another', () => {
  const secrets = new Secrets(rootKey);
  assert.throws(() => secrets.decrypt('integration', secrets.encrypt('replay', 'token')), SecretError);
});

test('after a change of SECRET_KEY the error names the key, not damaged data', () => {
  const text = new Secrets(rootKey).encrypt('replay', 'token');
  assert.throws(() => new Secrets(`${rootKey}!`).decrypt('replay', text), { name: 'SecretError', message: /another SECRET_KEY/ });
});

test('a text that is not encrypted is refused, and the error does not contain it', () => {
  const secrets = new Secrets(rootKey);
  for (const text of [
    '',
    'plain',
    's1',
    's1..',
    `s1.${secrets.keyId}.`,
    `s1.${secrets.keyId}.AAAA`,
    `s2.${secrets.keyId}.${'A'.repeat(60)}`,
    'a.b.c.d',
  ]) {
    assert.throws(
      () => secrets.decrypt('replay', text),
      (error: Error) => error instanceof SecretError && (text === '' || !error.message.includes(text)),
    );
  }
});

test('a text encrypted for one object cannot be decrypted for another', () => {
  const secrets = new Secrets(rootKey);
  const text = secrets.encrypt('replay', 'token', 'acct_1/key');
  assert.equal(secrets.decrypt('replay', text, 'acct_1/key'), 'token');
  for (const about of ['acct_2/key', '', 'acct_1/key '])
    assert.throws(() => secrets.decrypt('replay', text, about), { name: 'SecretError' });
});

test('printed or written as JSON, it shows no key', () => {
  const secrets = new Secrets(rootKey, ['another root key of thirty-two characters']);
  secrets.encrypt('replay', 'token');
  for (const shown of [inspect(secrets, { depth: 9 }), JSON.stringify(secrets), JSON.stringify({ ...secrets })])
    assert.doesNotMatch(shown, /root key|Buffer/);
});
