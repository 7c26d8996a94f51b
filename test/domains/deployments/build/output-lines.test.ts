/** The output of builds as lines, and the messages of their supervisors, for any division into pieces. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader } from '../../../../src/domains/deployments/build/inside/frames.ts';
import { OutputLines } from '../../../../src/domains/deployments/build/output-lines.ts';

function linesOf(...chunks: (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const output = new OutputLines((more) => lines.push(...more));
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  output.end();
  return lines;
}

test('a log contains no colours, no cursor movements, and no characters that a database or a terminal cannot accept', () => {
  assert.deepEqual(linesOf('\u001b[32mgreen\u001b[0m\tone\u0000two\u0007\n\u001b]0;title\u0007\n10%\r50%\r100%\r\n'), [
    'green  onetwo',
    '',
    '100%',
  ]);
  assert.deepEqual(linesOf(Buffer.from([0xff, 0xc3])), ['\ufffd\ufffd']);
  assert.deepEqual(linesOf('a\n\nb'), ['a', '', 'b']);
});

test('a line without an end is shown in pieces of bounded length', () => {
  const lines = linesOf(...Array.from({ length: 10 }, () => 'x'.repeat(999)));
  assert.equal(lines.join('').length, 9_990);
  assert.ok(lines.every((line) => line.length <= 2_000));
});

test('characters are not split, neither between the pieces of a line nor in the last lines', () => {
  for (const text of [`${'a'.repeat(1_999)}${'😀'.repeat(2_000)}`, `${'😀'.repeat(1_500)}\nend`]) {
    const lines = linesOf(text);
    assert.ok(lines.every((line) => line.isWellFormed() && line.length <= 2_000));
    assert.equal(lines.join(''), text.replace('\n', ''));
    const output = new OutputLines(() => {});
    output.add(Buffer.from(text));
    output.end();
    assert.ok(output.tail.isWellFormed() && output.tail.length >= 1_999);
  }
});

test('a log has at most 10,000 lines of output and then its last ones', () => {
  const lines = linesOf(Array.from({ length: 300_000 }, (_, at) => at).join('\n'), '\nthe end');
  assert.equal(lines.length, 10_021);
  assert.deepEqual(lines.slice(9_999, 10_002), ['9999', '[the rest of the output is left out, but for its last lines]', '299981']);
  assert.equal(lines.at(-1), 'the end');
});

test('the last lines of a build are kept for its failure, at most 20 and 2,000 characters', () => {
  const output = new OutputLines(() => {});
  output.add(Buffer.from(Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n\n`).join('')));
  assert.equal(output.tail, Array.from({ length: 20 }, (_, at) => `line ${at + 11}`).join('\n'));
  output.add(Buffer.from('x'.repeat(5_000)));
  assert.equal(output.tail.length, 2_000);
});

const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 });

test('lines are the same for any division of the output into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'é', '😀', '\n', '\r', ' ', '\u001b[1m'), { maxLength: 60 }), cuts, (parts, sizes) => {
      const whole = Buffer.from(parts.join(''));
      assert.deepEqual(linesOf(...pieces(whole, sizes)), linesOf(whole));
    }),
  );
});

test('messages and the bytes that follow them are the same for any division into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), cuts, async (contents, sizes) => {
      const sent = Buffer.concat(contents.flatMap((bytes) => [Buffer.from(`{"size":${bytes.length}}\n`), bytes]));
      const reader = new FrameReader(Readable.from(pieces(sent, sizes)));
      for (const bytes of contents) {
        const { size } = (await reader.line()) as { size: number };
        assert.deepEqual(await reader.whole(size), Buffer.from(bytes));
      }
      assert.equal(await reader.line(), null);
    }),
  );
});

test('a too long line and an end within bytes are errors', async () => {
  await assert.rejects(new FrameReader(Readable.from([Buffer.alloc(70_000), Buffer.alloc(70_000)])).line(), /too long/);
  await assert.rejects(new FrameReader(Readable.from([Buffer.from('ab')])).whole(3), /ended within/);
});

function pieces(bytes: Buffer, sizes: number[]): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    all.push(bytes.subarray(at, at + size));
    at += size;
  }
  return all;
}
