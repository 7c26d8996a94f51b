import assert from 'node:assert/strict';
import test from 'node:test';

const bundled = /\/node_modules\/\.cache\/packages\//;

test('under npm test the packages of a thousand files are loaded as bundles, and no others', (t) => {
  if (!process.env.NODE_OPTIONS?.includes('bundled-packages.mjs')) return t.skip('run by hand, not by npm test');
  for (const name of ['typebox', 'typebox/value', '@mikro-orm/core', 'undici']) assert.match(import.meta.resolve(name), bundled);
  for (const name of ['pg', 'pino', 'esbuild']) assert.doesNotMatch(import.meta.resolve(name), bundled);
});
