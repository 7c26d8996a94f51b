/** The name at the host, derived from a configuration's name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slugOf } from '../../../../src/domains/deployments/configs/access.ts';

test('the name at the host is valid at every host, for any name of the configuration', () => {
  const id = 'cfg_01jny8e2zjv6x0r3k9m4t7w5ab';
  assert.equal(slugOf({ id, name: 'My Web Site!' }), 'my-web-site');
  assert.equal(slugOf({ id, name: '  Über  uns__2 ' }), 'uber-uns-2');
  assert.equal(slugOf({ id, name: '2026' }), 'site-2026');
  assert.equal(slugOf({ id, name: 'サイト' }), `site-${id.slice(-10)}`);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z -]{40,100}$/)), (name) => {
      assert.match(slugOf({ id, name }), /^(?!.*--)[a-z][a-z0-9-]{0,61}[a-z0-9]$|^[a-z]$/);
    }),
  );
});
