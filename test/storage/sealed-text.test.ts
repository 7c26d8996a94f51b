import assert from 'node:assert/strict';
import test from 'node:test';
import { createSealer } from '../../src/storage/sealed-text.ts';

const sealer = createSealer('a secret key', 'tests');

test('sealed text opens where it belongs and says nothing to a reader', () => {
  const sealed = sealer.seal('{"key":"mk_live_é"}', 'acct_1/key');
  assert.equal(sealer.open(sealed, 'acct_1/key'), '{"key":"mk_live_é"}');
  assert.ok(!Buffer.from(sealed, 'base64').includes('mk_live'));
  assert.notEqual(sealer.seal('{"key":"mk_live_é"}', 'acct_1/key'), sealed);
  assert.equal(sealer.open(sealer.seal('', ''), ''), '');
});

test('sealed text opens neither elsewhere, nor altered, nor with another key or purpose', () => {
  const sealed = sealer.seal('secret', 'here');
  assert.equal(sealer.open(sealed, 'there'), null);
  assert.equal(createSealer('another key', 'tests').open(sealed, 'here'), null);
  assert.equal(createSealer('a secret key', 'others').open(sealed, 'here'), null);
  const bytes = Buffer.from(sealed, 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at]! ^= 1;
    assert.equal(sealer.open(altered.toString('base64'), 'here'), null, `byte ${at}`);
  }
  for (const text of ['', 'x', sealed.slice(0, 20)]) assert.equal(sealer.open(text, 'here'), null);
});
