/** Markdown fences around what models answer. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { insideFence } from '../src/fence.ts';

test('the content of a code fence is found, and a text without a fence has none', () => {
  for (const fenced of ['```json\n{"a":1}\n```', '  ```\n\n{"a":1}\n  ```\n', '```JSON  \r\n{"a":1}\r\n```'])
    assert.equal(insideFence(fenced), '{"a":1}');
  for (const other of [
    '{"a":1}',
    '',
    '```',
    '```json',
    '```json\n```',
    'see:\n```json\n1\n```',
    '```json\n1\n``` and more',
    '```ts\n1\n```',
  ])
    assert.equal(insideFence(other), null, other);
});

test('the search for a fence takes linear time', () => {
  const spaces = `\`\`\`json${'\n '.repeat(500_000)}x`;
  const startedAtMs = performance.now();
  insideFence(spaces);
  // A pattern took cubic time here: minutes for a thousandth of it.
  assert.ok(performance.now() - startedAtMs < 2_000);
});
