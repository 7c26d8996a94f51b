import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { CheckedContent } from '../../../../src/domains/workspaces/workspace-file/content-check.ts';
import { checkFileName, checkFilePath } from '../../../../src/domains/workspaces/workspace-file/file-name.ts';
import { agentFileType, uploadKind } from '../../../../src/file-kinds.ts';

/** Passes the content through in pieces of this size, so that no check depends on where a chunk ends. */
async function taken(name: string, content: Buffer | string, pieceBytes: number): Promise<boolean> {
  const bytes = Buffer.from(content);
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  try {
    const passed = await buffer(CheckedContent.of(Readable.from(pieces, { objectMode: false }), uploadKind(name)!));
    assert.deepEqual(passed, bytes, 'what passes is not changed');
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'unsupported_media_type');
    return false;
  }
}

function zip(names: string[]): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const name of names) {
    const data = deflateRawSync(`content of ${name}`);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(8, 8);
    header.writeUInt32LE(data.length, 18);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE(offset, 42);
    const piece = Buffer.concat([header, Buffer.from(name), data]);
    offset += piece.length;
    local.push(piece);
    directory.push(Buffer.concat([entry, Buffer.from(name)]));
  }
  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(directoryBytes.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directoryBytes, end]);
}

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
const docx = zip(['[Content_Types].xml', '_rels/.rels', 'word/document.xml']);
const xlsx = zip(['[Content_Types].xml', 'xl/workbook.xml']);
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

const right: [string, Buffer | string][] = [
  ['a.txt', ''],
  ['a.json', ''],
  ['a.log', '2026-01-02 10:00:00 started\n'],
  ['a.csv', 'a,b\n1,2'],
  ['a.csv', Buffer.from('Größe;Preis\n', 'latin1')],
  ['a.csv', utf16('a,b\n1,2')],
  ['a.CSV', '\ufeffa,b\n'],
  ['a.md', '# Ünï'],
  ['a.json', ' \n{"a": "é🙂"}'],
  ['a.json', utf16('[1]')],
  ['a.json', '-1'],
  ['a.json', '"text"'],
  ['a.tsv', 'a\tb\n1\t2'],
  ['a.TSV', ''],
  ['a.jsonl', '{"a": 1}\n{"a": 2}\n'],
  ['a.ndjson', '\ufeff\n[1]\n'],
  ['a.jsonl', ''],
  ['a.pdf', '%PDF-1.7\n…'],
  ['a.pdf', `junk\n%PDF-1.4`],
  ['a.png', png],
  ['a.jpg', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF', 'latin1')],
  ['a.docx', docx],
  ['a.xlsx', xlsx],
  ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['a.svg', '\ufeff<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">\n<svg/>'],
  ['a.svg', '<!DOCTYPE svg [ <!ENTITY a "b>"> ]><svg:svg xmlns:svg="x">'],
  ['a.svg', utf16('<svg/>')],
];

const wrong: [string, Buffer | string][] = [
  ['a.csv', Buffer.from('MZ\x90\0\x03', 'latin1')],
  ['a.txt', Buffer.from('fine so far\0')],
  ['a.csv', docx],
  ['a.txt', png],
  ['a.log', png],
  ['a.md', '%PDF-1.7\n'],
  ['a.csv', Buffer.from([0xff, 0xfe, 0x00, 0xdc, 0x41, 0x00])],
  ['a.csv', Buffer.from([0xff, 0xfe, 0x41])],
  ['a.json', 'hello'],
  ['a.json', 'nullable'],
  ['a.json', Buffer.from('{"a": "\xe9"}', 'latin1')],
  ['a.json', Buffer.from([0x22, 0xe2, 0x82])],
  ['a.tsv', docx],
  ['a.tsv', Buffer.from('a\tb\0')],
  ['a.jsonl', 'level=info'],
  ['a.ndjson', png],
  ['a.ndjson', Buffer.from('{"a": "\xe9"}', 'latin1')],
  ['a.pdf', ''],
  ['a.pdf', `${'x'.repeat(1024)}%PDF-1.4`],
  ['a.png', '\u0089PNG'],
  ['a.png', png.subarray(0, 7)],
  ['a.jpeg', png],
  ['a.docx', xlsx],
  ['a.xlsx', docx],
  ['a.docx', zip(['word/document.xml'])],
  ['a.docx', zip(['readme.txt'])],
  ['a.docx', docx.subarray(0, docx.length - 30)],
  ['a.docx', Buffer.concat([Buffer.from('MZ'), docx])],
  ['a.docx', ''],
  ['a.svg', ''],
  ['a.svg', '<html><svg/></html>'],
  ['a.svg', '<!DOCTYPE html><svg/>'],
  ['a.svg', '<!-- never closed <svg/>'],
  ['a.svg', '<svgx/>'],
  ['a.svg', 'text <svg/>'],
  ['a.svg', '<script>alert(1)</script><svg/>'],
];

describe('the content of an upload', () => {
  for (const [i, [name, content]] of right.entries()) {
    test(`is accepted when it matches ${name} (${i}), for any division into pieces`, async () => {
      for (const pieceBytes of [1, 3, 7, 65_536]) assert.equal(await taken(name, content, pieceBytes), true);
    });
  }
  for (const [i, [name, content]] of wrong.entries()) {
    test(`is refused when it does not match ${name} (${i}), for any division into pieces`, async () => {
      for (const pieceBytes of [1, 3, 7, 65_536]) assert.equal(await taken(name, content, pieceBytes), false);
    });
  }

  test('of an office file with many megabytes before its directory is accepted without holding them in memory', async () => {
    const big = zip(['[Content_Types].xml', 'word/document.xml']);
    const padded = Buffer.concat([big.subarray(0, 4), Buffer.alloc(5 * 2 ** 20), big]);
    assert.equal(await taken('a.docx', padded, 65_536), true);
  });
});

test('a source that fails makes the checked content fail the same way', async () => {
  const source = new Readable({ read() {} });
  const checked = CheckedContent.of(source, uploadKind('a.csv')!);
  source.push('a,b\n');
  source.destroy(new Error('cut'));
  await assert.rejects(buffer(checked), { message: 'cut' });
});

test('uploads accept only the types of the table; agents may write more, typed by the name', () => {
  for (const name of [
    'a.exe',
    'a',
    'csv',
    '.csv',
    'a.csv.exe',
    'a.constructor',
    'a.__proto__',
    'a.csv ',
    'a.css/b',
    'a/.css',
    '_redirects.exe',
    'a.csv/',
  ])
    assert.equal(uploadKind(name), null, name);
  assert.deepEqual(
    ['a.log', 'a.eml', 'a.tsv', 'A.TSV', 'a.jsonl', 'a.ndjson'].map((name) => [uploadKind(name)?.type, agentFileType(name)]),
    [
      'text/plain',
      'message/rfc822',
      'text/tab-separated-values',
      'text/tab-separated-values',
      'application/x-ndjson',
      'application/x-ndjson',
    ].map((type) => [type, type]),
  );
  assert.deepEqual(['report.md', 'page.html', 'x.yaml', 'a.js', 'blob.bin', 'noextension', 'a.constructor'].map(agentFileType), [
    'text/markdown',
    'text/html',
    'application/yaml',
    'text/javascript',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
  ]);
});

test('files of sites are accepted: fonts, pictures, sound and video by their first bytes, sources for builds as text', async () => {
  const beginnings: Record<string, string> = {
    ...{ 'a.woff': 'wOFF', 'a.woff2': 'wOF2', 'a.ttf': '\0\x01\0\0', 'a.otf': 'OTTO', 'a.ico': '\0\0\x01\0', 'a.wasm': '\0asm' },
    ...{ 'a.avif': '\0\0\0\x20ftypavif', 'a.mp4': '\0\0\0\x18ftypisom', 'a.m4a': '\0\0\0\x18ftypM4A ', 'a.webm': '\x1a\x45\xdf\xa3' },
    ...{ 'a.mp3': 'ID3', 'b.mp3': '\xff\xfb', 'a.ogg': 'OggS', 'a.wav': 'RIFF....WAVE', 'a.webp': 'RIFF....WEBP', 'a.gif': 'GIF89a' },
  };
  const passes = (name: string, bytes: Buffer) =>
    buffer(CheckedContent.of(Readable.from([bytes], { objectMode: false }), uploadKind(name)!)).then(
      (passed) => passed.equals(bytes),
      ({ code }) => code,
    );
  for (const [name, beginning] of Object.entries(beginnings)) {
    assert.equal(await passes(name, Buffer.concat([Buffer.from(beginning, 'latin1'), Buffer.alloc(100)])), true, name);
    assert.equal(await passes(name, Buffer.from('MZ and more of a program')), 'unsupported_media_type', name);
    assert.equal(uploadKind(name)!.type, agentFileType(name));
  }
  for (const name of ['a.ts', 'a.d.mts', 'a.tsx', 'a.vue', 'a.scss', 'a.mdx', 'a.yml', 'a.toml', 'CNAME', 'docs/LICENSE']) {
    assert.equal(await passes(name, Buffer.from('export {}')), true, name);
    assert.equal(await passes(name, Buffer.from('\x7fELF and more')), 'unsupported_media_type', name);
  }
});

test('the files of an Expo export are accepted: bytecode, and media or texts that are named by their MD5 in assets/', async () => {
  const asset = 'dist/assets/5d41402abc4b2a76b9719d911017c592';
  const bytecode = Buffer.from('c61fbc03c103191f60000000aabb', 'hex');
  const good: [string, Buffer | string][] = [
    ['_expo/static/js/android/index-3f.hbc', bytecode],
    [asset, Buffer.from('\x89PNG\r\n\x1a\n0123', 'latin1')],
    [asset.slice(5), Buffer.from('\0\x01\0\0\0\x12', 'latin1')],
    [asset, '<svg/>'],
    [asset, 'GIF89a'],
  ];
  const bad: [string, Buffer | string][] = [
    ['a.hbc', 'run()'],
    [asset, Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0', 'latin1')],
    [asset, 'PK\x03\x04\0\0\0\0'],
  ];
  for (const pieceBytes of [1, 5, 1_000]) {
    for (const [name, content] of good) assert.equal(await taken(name, content, pieceBytes), true, `${name} ${pieceBytes}`);
    for (const [name, content] of bad) assert.equal(await taken(name, content, pieceBytes), false, `${name} ${pieceBytes}`);
  }
  for (const name of ['5d41402abc4b2a76b9719d911017c592', 'assets/5d41402abc4b2a76', 'my-assets/5d41402abc4b2a76b9719d911017c592'])
    assert.equal(uploadKind(name), null, name);
});

test('file names are one plain component in composed Unicode of at most 255 bytes', () => {
  assert.deepEqual(checkFileName('Cafe\u0301 (1).csv'), { name: 'Caf\u00e9 (1).csv' });
  assert.deepEqual(checkFileName('e\u0301'.repeat(127)), { name: '\u00e9'.repeat(127) }, 'measured as it is kept');
  for (const bad of ['', ' ', '.', '..', 'a/b', 'a\\b', 'a\0', 'a\n', 'a\u0085', 'a\u2028', '\ud800', 'é'.repeat(128), 'a\u202eb'])
    assert.ok('problem' in checkFileName(bad), JSON.stringify(bad));
});

test('a path is plain names in composed Unicode with one slash between them, of at most 1,024 bytes', () => {
  assert.deepEqual(checkFilePath('a.csv'), { name: 'a.csv' });
  assert.deepEqual(checkFilePath('Cafe\u0301/.well-known/b.txt'), { name: 'Caf\u00e9/.well-known/b.txt' });
  assert.deepEqual(checkFilePath(`${'a/'.repeat(511)}bc`), { name: `${'a/'.repeat(511)}bc` });
  for (const bad of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    './a',
    'a/.',
    'a/../b',
    '..',
    'a\\b',
    'a/\r',
    'a/ /b',
    '\ud800/a',
    `${'a/'.repeat(512)}b`,
    `a/${'é'.repeat(128)}`,
  ])
    assert.ok('problem' in checkFilePath(bad), JSON.stringify(bad));
});
