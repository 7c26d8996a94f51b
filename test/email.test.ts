/** Which texts are e-mail addresses, and which of them are one and the same. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { emailKey, isEmailAddress, mailboxOf } from '../src/email.ts';

test('addresses of any script are accepted', () => {
  for (const address of [
    'ann@example.com',
    "o'neil+tag@mail.example.co.uk",
    'jörg@müller.example',
    'JÖRG@MÜLLER.example',
    'δοκιμή@παράδειγμα.δοκιμή',
    '用户@例子.广告',
    'उपयोगकर्ता@उदाहरण.कॉम',
    'น้ำ@ตัวอย่าง.ไทย',
    'x@xn--mller-kva.example',
    `${'a'.repeat(64)}@example.com`,
  ])
    assert.equal(isEmailAddress(address), true, address);
});

test('invalid addresses, and addresses with invisible characters, are refused', () => {
  for (const text of [
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@example',
    'ann@@example.com',
    'a b@example.com',
    'ann@exa mple.com',
    ' ann@example.com',
    'ann@example.com\n',
    'ann\r\nBcc: eve@example.com@example.com',
    '.ann@example.com',
    'ann..b@example.com',
    'ann@example..com',
    'ann@-example.com',
    'ann@example.com.',
    'ann@127.0.0.1',
    'ann@１２７.０.０.１',
    'ann@[127.0.0.1]',
    '"ann"@example.com',
    'ann,bob@example.com',
    '<ann@example.com>',
    'ann\u200b@example.com',
    'ann\u00ad@example.com',
    'ann@exam\u200dple.com',
    'ann\u202e@example.com',
    'ann\u3164@example.com',
    'ann\u0000@example.com',
    'ann\ufeff@example.com',
    'a\ufe0fnn@example.com',
    '\u0301ann@example.com',
    'ann@xn--a.example',
    'ann@\ud800.example',
    '\udc00@example.com',
    `${'ö'.repeat(33)}@example.com`,
    `ann@${'ö'.repeat(63)}.example`,
    `ann@${'a.'.repeat(130)}com`,
  ])
    assert.equal(isEmailAddress(text), false, JSON.stringify(text));
});

test('one address has one key, in any spelling', () => {
  const same = [
    ['Ann@Example.COM', 'ann@example.com'],
    ['jörg@müller.example', 'JO\u0308RG@xn--mller-kva.EXAMPLE', 'jo\u0308rg@MU\u0308LLER.example'],
    ['ΝΙΚΟΣ@example.com', 'νικος@example.com', 'νικοσ@example.com'],
    ['ａｎｎ@ｅｘａｍｐｌｅ.com', 'ann@example.com'],
  ];
  for (const group of same) assert.deepEqual([...new Set(group.map(emailKey))].length, 1, JSON.stringify(group.map(emailKey)));
  assert.notEqual(emailKey('jorg@example.com'), emailKey('jörg@example.com'));
  assert.equal(mailboxOf('Jörg@Müller.example'), 'Jörg@xn--mller-kva.example');
});

test('the key of a key is the same key, and every text has a key', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()), (text) => {
      const key = emailKey(text);
      assert.equal(typeof key, 'string');
      if (isEmailAddress(text) && isEmailAddress(key)) assert.equal(emailKey(key), key);
    }),
  );
  fc.assert(fc.property(fc.emailAddress(), (address) => emailKey(address) === address.toLowerCase() || address.includes('xn--')));
});
