import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiKeySecrets, readApiKey } from '../../../../src/domains/identity/auth/api-key-secret.ts';
import { base62 } from '../../../../src/domains/identity/auth/base62.ts';
import { createRefreshTokens } from '../../../../src/domains/identity/auth/refresh-token.ts';
import { secretKey } from '../../../support/identity-node.ts';

const secrets = createApiKeySecrets(secretKey);

test('an API key has its family, 43 characters and a checksum of 6, and no two are alike', () => {
  const texts = new Set(Array.from({ length: 1_000 }, () => secrets.create('live', undefined).text));
  assert.equal(texts.size, 1_000);
  for (const text of texts) assert.match(text, /^mk_live_[0-9A-Za-z]{49}$/);
  assert.match(secrets.create('test', undefined).text, /^mk_test_[0-9A-Za-z]{49}$/);
});

test('every family of prefixes names the same key', () => {
  const { text, hash } = secrets.create('live', undefined);
  const body = text.slice('mk_live_'.length);
  assert.deepEqual(readApiKey(text), { hash, mode: 'live' });
  assert.deepEqual(readApiKey(`mt_live_${body}`), { hash, mode: 'live' });
  assert.deepEqual(readApiKey(`mk_${body}`), { hash, mode: null });
  for (const other of [
    `mt_${body}`,
    `sk_live_${body}`,
    `mk_prod_${body}`,
    `mk_live_${body}x`,
    `mk_live_${body.slice(1)}`,
    ` ${text}`,
    `${text}\n`,
    '',
  ])
    assert.equal(readApiKey(other), null, other);
});

test('a mistyped character at any position is detected', () => {
  const { text } = secrets.create('live', undefined);
  for (let at = 'mk_live_'.length; at < text.length; at++) {
    const other = text[at] === '0' ? '1' : '0';
    assert.equal(readApiKey(text.slice(0, at) + other + text.slice(at + 1)), null, `character ${at}`);
  }
});

test('two swapped neighbouring characters are detected', () => {
  const { text } = secrets.create('live', undefined);
  for (let at = 'mk_live_'.length; at < text.length - 1; at++) {
    if (text[at] === text[at + 1]) continue;
    assert.equal(readApiKey(text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)), null, `characters ${at}`);
  }
});

test('the derived secret of a command is always the same, and differs for other commands and secret keys', () => {
  const first = secrets.create('live', 'command 1');
  assert.deepEqual(secrets.create('live', 'command 1'), first);
  assert.notEqual(secrets.create('live', 'command 2').hash, first.hash);
  assert.notEqual(createApiKeySecrets('another').create('live', 'command 1').hash, first.hash);
});

test('the shown last four characters are those at the end of the key', () => {
  const { text, lastFour } = secrets.create('live', undefined);
  assert.ok(text.endsWith(lastFour));
  assert.equal(lastFour.length, 4);
});

test('the largest and the smallest number fill the same number of digits', () => {
  assert.equal(base62(Buffer.alloc(32, 0), 43), '0'.repeat(43));
  assert.match(base62(Buffer.alloc(32, 255), 43), /^[1-9A-Za-z][0-9A-Za-z]{42}$/);
});

test('a refresh token names its session, and a forged one is refused without a query of the session', () => {
  const tokens = createRefreshTokens(secretKey);
  const sessionId = 'ses_01jd0000000000000000000000';
  const { text, hash } = tokens.issue(sessionId);
  assert.deepEqual(tokens.read(text), { sessionId, hash });
  assert.notEqual(tokens.issue(sessionId).text, text);
  assert.equal(tokens.read(text.replace('mr_01jd', 'mr_01je')), null, 'for another session');
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === '0' ? '1' : '0';
    assert.equal(tokens.read(text.slice(0, at) + other + text.slice(at + 1)), null, `character ${at}`);
  }
  assert.equal(createRefreshTokens('another').read(text), null);
});
