import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import { tarEnd, tarFiles, tarParts } from '../src/tar.ts';

async function* inChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function filesOf(archive: Buffer, chunkBytes?: number): Promise<[string, string][]> {
  const files: [string, string][] = [];
  for await (const { name, sizeBytes, content } of tarFiles(inChunks(archive, chunkBytes))) {
    const text = (await buffer(content)).toString('utf8');
    assert.equal(Buffer.byteLength(text), sizeBytes);
    files.push([name, text]);
  }
  return files;
}

function entry(fields: ConstructorParameters<typeof Header>[0], body = Buffer.alloc(0)): Buffer {
  const header = new Header(fields);
  header.encode();
  return Buffer.concat([header.block!, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

const plain = { path: 'a.txt', type: 'File', size: 0, mode: 0o644, mtime: new Date(0) } as const;
const end = Buffer.alloc(1024);

test('names and contents are the same after packing and reading, in chunks of any size', async () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 300 })
    .filter((text) => !/[\0\n]|^\.\/|\/$/.test(text) && text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, fc.string()), { maxLength: 5 }),
      fc.integer({ min: 1, max: 2_000 }),
      async (files, chunkBytes) => {
        const parts = files.flatMap(([path, text]) => tarParts({ name: path, sizeBytes: Buffer.byteLength(text) }, new Blob([text])));
        const archive = Buffer.from(await new Blob([...parts, tarEnd]).arrayBuffer());
        assert.deepEqual(await filesOf(archive, chunkBytes), files);
      },
    ),
    { numRuns: 20 },
  );
});

test('an archive that is hostile, damaged or cut is refused with its reason', async () => {
  const sized = (size: string) => {
    const block = entry(plain);
    block.write(size, 124, 12, 'latin1');
    let sum = 8 * 32;
    for (const [at, byte] of block.entries()) if (at < 148 || at >= 156) sum += byte;
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return block;
  };
  const pax = (records: string) => entry({ ...plain, type: 'ExtendedHeader', size: Buffer.byteLength(records) }, Buffer.from(records));
  const long = Buffer.alloc(65_537, 'a');
  const cases: [string, Buffer, RegExp][] = [
    ['a negative size', Buffer.concat([sized('\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff'), end]), /number is damaged/],
    ['a size that is no number', Buffer.concat([sized('no number\0\0\0'), end]), /number is damaged/],
    ['a size beyond all numbers', Buffer.concat([sized('\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff'), end]), /damaged/],
    ['a fraction as size', Buffer.concat([pax('12 size=1.5\n'), entry(plain), end]), /number is damaged/],
    [
      'a long name of 64 KiB',
      Buffer.concat([entry({ ...plain, type: 'NextFileHasLongPath', size: long.length }, long), end]),
      /name is too long/,
    ],
    ['a line break in a name', Buffer.concat([pax('15 path=a\nb.txt\n'), entry(plain), end]), /line break/],
    ['a sparse file', Buffer.concat([pax('22 GNU.sparse.major=1\n'), entry(plain), end]), /sparse/],
    ['a sparse file in the old form', Buffer.concat([entry({ ...plain, type: 'SparseFile' }), end]), /no file/],
    ['a hard link', Buffer.concat([entry({ ...plain, type: 'Link', linkpath: '/etc/passwd' }), end]), /is a link/],
    ['a device', Buffer.concat([entry({ ...plain, type: 'CharacterDevice' }), end]), /no file/],
    ['no end', entry(plain), /not whole/],
    ['a cut content', entry({ ...plain, size: 5_000 }, Buffer.alloc(2_000)), /not whole/],
    ['an archive compressed by gzip', gzipSync(Buffer.concat([entry(plain), end])), /compressed; send it without/],
    ['a zip archive', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(1_022, 1)]), /compressed; send it without/],
  ];
  for (const [what, archive, reason] of cases)
    await assert.rejects(filesOf(archive), (error: Error & { code?: string }) => {
      assert.deepEqual([error.code, reason.test(error.message)], ['bad_request', true], `${what}: ${error.message}`);
      return true;
    });
});

test('a name of pax has priority over the name and its prefix in the header', async () => {
  const path = `${'folder/'.repeat(20)}größe.txt`;
  const archive = Buffer.concat([new Pax({ path }).encode(), entry({ ...plain, path: `${'other/'.repeat(25)}a.txt` }), end]);
  assert.deepEqual(await filesOf(archive), [[path, '']]);
});
