import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listFiles } from '../../../../src/domains/tasks/tools/list-files.ts';
import { maxResultBytes } from '../../../../src/domains/tasks/tools/port.ts';
import { createReadFile } from '../../../../src/domains/tasks/tools/read-file.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { writeFile } from '../../../../src/domains/tasks/tools/write-file.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';
import { zipOf } from '../../../support/office-files.ts';

type Page = { path: string; text: string; offset: number; next_offset: number | null; total_chars: number };
const readFile = createReadFile(inlineCompute);
const failOnDefect = (error: unknown) => assert.fail(String(error));

async function read(content: string | Uint8Array, args: object = {}): Promise<Page> {
  const { result, isError } = await runTool(readFile, { path: 'f', ...args }, toolContext(memoryWorkspace({ f: content })), failOnDefect);
  assert.equal(isError, false, JSON.stringify(result));
  return result as Page;
}

async function readAll(content: string | Uint8Array, length?: number): Promise<string> {
  let text = '';
  for (let offset: number | null = 0; offset !== null; ) {
    const page: Page = await read(content, { offset, length });
    assert.ok(page.next_offset === null || page.next_offset > offset);
    text += page.text;
    offset = page.next_offset;
  }
  return text;
}

describe('read_file', () => {
  test('a short file is returned completely', async () => {
    assert.deepEqual(await read('hello'), { path: 'f', text: 'hello', offset: 0, next_offset: null, total_chars: 5 });
    assert.deepEqual(await read(''), { path: 'f', text: '', offset: 0, next_offset: null, total_chars: 0 });
  });

  test('all pages together are the file, also where characters cross pieces and pages', async () => {
    const text = Array.from({ length: 30_000 }, (_, i) => `${i} é€😀`).join('\n');
    assert.equal(await readAll(text), text);
    const short = '😀é'.repeat(20);
    assert.equal(await readAll(short, 1 + 2), short);
  });

  test('text that grows when escaped still fits the record, page by page', async () => {
    const text = '"\\é'.repeat(30_000);
    assert.equal(await readAll(text), text);
  });

  test('an offset beyond the end is an empty last page', async () => {
    assert.deepEqual(await read('abc', { offset: 10 }), { path: 'f', text: '', offset: 10, next_offset: null, total_chars: 3 });
  });

  const encodings: [string, Uint8Array][] = [
    ['UTF-8 with a mark', Buffer.from('\ufeffgrün €')],
    ['UTF-16 little endian with a mark', Buffer.from('\ufeffgrün €', 'utf16le')],
    ['UTF-16 big endian with a mark', Buffer.from('\ufeffgrün €', 'utf16le').swap16()],
    ['UTF-16 little endian without a mark', Buffer.from('grün €', 'utf16le')],
    ['windows-1252', Buffer.from([0x67, 0x72, 0xfc, 0x6e, 0x20, 0x80])],
  ];
  for (const [name, bytes] of encodings) test(`${name} is read as text`, async () => assert.equal((await read(bytes)).text, 'grün €'));

  test('a UTF-8 character that crosses the end of the first piece is accepted', async () => {
    const text = `${'a'.repeat(65_535)}é${'b'.repeat(100)}`;
    assert.equal(await readAll(text), text);
  });

  const binaries: [string, Uint8Array, RegExp][] = [
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]), /PNG image/],
    ['a PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3', 'latin1'), /PDF/],
    ['a spreadsheet', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), /ZIP archive or an Office document/],
    ['noise', Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 256)), /binary data/],
  ];
  for (const [name, bytes, kind] of binaries) {
    test(`${name} is refused with its type`, async () => {
      const { result, isError } = await runTool(readFile, { path: 'f' }, toolContext(memoryWorkspace({ f: bytes })), failOnDefect);
      assert.equal(isError, true);
      assert.match((result as { error: string }).error, kind);
    });
  }

  test('a missing file and a path are refused with the reason', async () => {
    for (const path of ['none', '../etc/passwd', '/etc/passwd']) {
      const { result, isError } = await runTool(readFile, { path }, toolContext(memoryWorkspace()), failOnDefect);
      assert.equal(isError, true);
      assert.match((result as { error: string }).error, /no file|is not a file name/);
    }
  });

  test('a broken stream is a defect, and a cancelled read returns no page', async () => {
    const workspace = memoryWorkspace({ f: 'x' });
    workspace.open = async () => ({
      stream: (async function* () {
        yield Buffer.from('a');
        throw new Error('disk gone');
      })() as never,
      sizeBytes: 1,
      type: 'text/plain',
    });
    const defects: unknown[] = [];
    const { isError } = await runTool(readFile, { path: 'f' }, toolContext(workspace), (error) => defects.push(error));
    assert.deepEqual([isError, String(defects)], [true, 'Error: disk gone']);
  });
});

describe('write_file and list_files', () => {
  test('a file is written, listed, and written again as its next version', async () => {
    const workspace = memoryWorkspace();
    const write = (content: string) => runTool(writeFile, { path: 'report.md', content }, toolContext(workspace), failOnDefect);
    assert.deepEqual((await write('# é')).result, { path: 'report.md', size_bytes: 4, version: 1 });
    assert.deepEqual((await write('')).result, { path: 'report.md', size_bytes: 0, version: 2 });
    assert.deepEqual((await runTool(listFiles, {}, toolContext(workspace), failOnDefect)).result, [
      { name: 'report.md', type: 'text/plain', size_bytes: 0 },
    ]);
  });

  test('content over a megabyte is refused, counted in bytes', async () => {
    const workspace = memoryWorkspace();
    for (const content of ['x'.repeat(2 ** 20 + 1), 'é'.repeat(2 ** 19 + 1)]) {
      assert.equal((await runTool(writeFile, { path: 'a', content }, toolContext(workspace), failOnDefect)).isError, true);
    }
    assert.equal(workspace.files.size, 0);
    assert.equal(
      (await runTool(writeFile, { path: 'a', content: 'x'.repeat(2 ** 20) }, toolContext(workspace), failOnDefect)).isError,
      false,
    );
  });

  test('a list of very many files still fits the record', async () => {
    const workspace = memoryWorkspace(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`${'n'.repeat(100)}${i}`, ''])));
    const { result } = await runTool(listFiles, {}, toolContext(workspace), failOnDefect);
    assert.ok(Buffer.byteLength(JSON.stringify(result)) <= maxResultBytes);
  });
});

test('a Word document is read as Markdown, page by page, and a damaged one says so', async () => {
  const document = zipOf({ 'word/document.xml': '<w:document><w:p><w:r><w:t>One two three.</w:t></w:r></w:p></w:document>' });
  const workspace = memoryWorkspace({ 'a.docx': document, 'b.docx': document.subarray(0, 60) });
  const page = async (args: object) => runTool(readFile, args, toolContext(workspace), failOnDefect);
  assert.deepEqual((await page({ path: 'a.docx', length: 8 })).result, {
    path: 'a.docx',
    text: 'One two ',
    offset: 0,
    next_offset: 8,
    total_chars: 15,
  });
  assert.equal(((await page({ path: 'a.docx', offset: 8 })).result as Page).text, 'three.\n');
  const damaged = await page({ path: 'b.docx' });
  assert.equal(damaged.isError, true);
  assert.match(JSON.stringify(damaged.result), /b\.docx is damaged/);
});
