/** How much a JSON text may hold before it is parsed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { answerLimits, JsonBounds, parseWithin } from '../src/json-bounds.ts';

const fits = (text: string, maxDepth: number, maxValues: number, pieceBytes = 3) => {
  const bounds = new JsonBounds({ maxDepth, maxValues });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes)
    if (!bounds.take(bytes.subarray(at, at + pieceBytes))) return bounds.isTooDeep ? 'too deep' : 'too many';
  return 'fits';
};

test('values and levels are counted only outside of strings, for any division of the text into pieces', () => {
  for (const pieceBytes of [1, 2, 7, 1_000]) {
    assert.equal(fits('{"a":[1,2],"b":"[[[[,,,,\\"::::"}', 2, 7, pieceBytes), 'fits');
    assert.equal(fits('{"a":[1,2],"b":"[[[[,,,,\\"::::"}', 2, 5, pieceBytes), 'too many');
    assert.equal(fits('[[[]]]', 3, 10, pieceBytes), 'fits');
    assert.equal(fits('[[[]]]', 2, 10, pieceBytes), 'too deep');
    assert.equal(fits('["\\\\",[[]]]', 2, 10, pieceBytes), 'too deep');
  }
});

test('an answer that is no JSON, is nested too deeply or has too many values is not parsed', () => {
  const parse = (text: string) => parseWithin(Buffer.from(text), answerLimits);
  assert.deepEqual(parse('\ufeff{"a":[1]}'), { a: [1] });
  assert.deepEqual(
    parse(`[${'1,'.repeat(100_000)}1]`),
    Array.from({ length: 100_001 }, () => 1),
  );
  for (const text of ['', '<html>', '{"a":', `${'['.repeat(33)}${']'.repeat(33)}`, `[${'1,'.repeat(200_000)}1]`])
    assert.equal(parse(text), undefined, text.slice(0, 50));
});

test('text of an answer that cannot be stored is replaced, in names too', () => {
  const parse = (text: string) => parseWithin(Buffer.from(text), answerLimits);
  assert.deepEqual(parse(String.raw`{"a\u0000":["b\uD800",1,null,"\\u0000","\ud83d\ude00"]}`), {
    'a\ufffd': ['b\ufffd', 1, null, String.raw`\u0000`, '\u{1f600}'],
  });
});
