import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Database } from '../../src/storage/database.ts';
import type { FileStore } from '../../src/storage/files.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import { openPostgresFiles } from '../../src/storage/postgres-files.ts';
import { openS3Files, parseS3Url } from '../../src/storage/s3-files.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { S3Server } from '../support/s3-server.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts';

const megabyte = 2 ** 20;

type Backend = {
  name: string;
  open(): Promise<FileStore>;
  /** Names of everything that lies there, finished or not. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
};

let folder: TemporaryFolder;
let s3: S3Server;
let server: TestDatabase;
let database: Database;

const backends: Backend[] = [
  {
    name: 'local',
    async open() {
      folder = await temporaryFolder('files-');
      return openLocalFiles(folder.path);
    },
    leftovers: () => readdir(join(folder.path, '.incoming')),
    close: () => folder.remove(),
  },
  {
    name: 's3',
    async open() {
      s3 = await S3Server.start();
      return openS3Files(parseS3Url(s3.url));
    },
    leftovers: async () => [...s3.openUploads.keys()],
    close: () => s3.stop(),
  },
  {
    name: 'postgres',
    async open() {
      server = await testDatabase();
      database = new Database(server.url);
      return openPostgresFiles(database);
    },
    async leftovers() {
      const { rows } = await database.read({ text: `select key from file_content where status = 'arriving'` });
      return rows.map(({ key }) => key);
    },
    async close() {
      await database.close();
      await server.close();
    },
  },
];

for (const backend of backends) {
  describe(`file store: ${backend.name}`, () => {
    let store: FileStore;
    before(async () => {
      store = await backend.open();
    });
    after(() => backend.close());

    /** In pieces of odd sizes, as a network brings them. */
    const pieces = (bytes: Buffer): Readable =>
      Readable.from(
        (function* () {
          for (let at = 0; at < bytes.length; at += 70_001) yield bytes.subarray(at, at + 70_001);
        })(),
      );
    const put = (key: string, bytes: Buffer) => store.put(key, pieces(bytes), 100 * megabyte);
    const missing = (key: string) => assert.rejects(store.open(key), { code: 'not_found' });

    test('a stored content is opened unchanged, and its size and hash are returned', async () => {
      for (const [i, sizeBytes] of [0, 1, 65_536, 5 * megabyte, 13 * megabyte + 7].entries()) {
        const bytes = randomBytes(sizeBytes);
        assert.deepEqual(await put(`ws_1/f${i}`, bytes), { sizeBytes, sha256: createHash('sha256').update(bytes).digest('hex') });
        assert.deepEqual(await buffer(await store.open(`ws_1/f${i}`)), bytes);
      }
      assert.deepEqual(await backend.leftovers(), []);
    });

    test('a range includes both ends', async () => {
      const bytes = randomBytes(1000);
      await put('ranged', bytes);
      for (const [start, end] of [
        [0, 0],
        [0, 999],
        [10, 19],
        [999, 999],
      ] as const) {
        assert.deepEqual(await buffer(await store.open('ranged', { start, end })), bytes.subarray(start, end + 1));
      }
    });

    test('a repeated put replaces the content, and a failed put keeps the old one', async () => {
      await put('again', Buffer.from('old'));
      await put('again', Buffer.from('new'));
      await assert.rejects(store.put('again', pieces(Buffer.from('much too long')), 5), { code: 'payload_too_large' });
      assert.equal((await buffer(await store.open('again'))).toString(), 'new');
    });

    test('content over the limit is refused and leaves nothing, also if it has many parts', async () => {
      for (const [i, limit] of [0, 10, 6 * megabyte, 12 * megabyte].entries()) {
        await assert.rejects(store.put(`long${i}`, pieces(randomBytes(limit + 1)), limit), { code: 'payload_too_large' });
        await missing(`long${i}`);
      }
      await store.put('exact', pieces(randomBytes(10)), 10);
      assert.deepEqual(await backend.leftovers(), []);
    });

    test('content that fails or is interrupted leaves nothing', async () => {
      for (const [i, sent] of [0, 1000, 7 * megabyte].entries()) {
        const failing = new PassThrough();
        const failed = store.put(`failing${i}`, failing, 100 * megabyte);
        failing.write(randomBytes(sent), () => failing.destroy(new Error('the line broke')));
        await assert.rejects(failed, { message: 'the line broke' });
        await missing(`failing${i}`);

        const cut = new PassThrough();
        const cutOff = store.put(`cut${i}`, cut, 100 * megabyte);
        cut.write(randomBytes(sent), () => cut.destroy());
        await assert.rejects(cutOff);
        await missing(`cut${i}`);
      }
      assert.deepEqual(await backend.leftovers(), []);
    });

    test('content that had failed before it was put is refused', async () => {
      const dead = new PassThrough();
      dead.on('error', () => {});
      dead.destroy(new Error('gone'));
      await new Promise((resolve) => dead.once('close', resolve));
      await assert.rejects(store.put('dead', dead, 10));
      await missing('dead');
    });

    test('a removed content is missing, and removing a missing content is not an error', async () => {
      await put('removed', Buffer.from('x'));
      await store.remove('removed');
      await store.remove('removed');
      await missing('removed');
    });

    test('keys that could leave the store are refused', async () => {
      for (const key of [
        '',
        '/',
        '/etc/passwd',
        '..',
        '../x',
        'a/../../x',
        'a/..',
        'a//b',
        'a/',
        '.incoming/x',
        '.x',
        'a/.x',
        'a\\b',
        'a\0b',
        'ü',
        'a b',
        `a/${'x'.repeat(600)}`,
        'a\n',
      ]) {
        await assert.rejects(put(key, Buffer.from('x')), /not a file key/, key);
        await assert.rejects(store.open(key), /not a file key/, key);
        await assert.rejects(store.remove(key), /not a file key/, key);
      }
    });

    test('a reader that has begun can finish a content that is replaced or removed meanwhile', async () => {
      const bytes = randomBytes(2 * megabyte);
      for (const [key, change] of [
        ['replaced-under', () => put('replaced-under', Buffer.from('new'))],
        ['removed-under', () => store.remove('removed-under')],
      ] as const) {
        await put(key, bytes);
        const content = await store.open(key);
        await new Promise((resolve) => content.once('readable', resolve));
        await change();
        assert.deepEqual(await buffer(content), bytes);
      }
    });

    test('a listing of the store has each key once, with the time it was stored', async () => {
      const beganAtMs = Date.now() - 2_000;
      await put('walked/a', Buffer.from('a'));
      await put('walked/b', Buffer.from('b'));
      await put('walked/b', Buffer.from('b'));
      await put('walked/c', Buffer.from('c'));
      await store.remove('walked/c');
      const found: string[] = [];
      for await (const { key, modifiedAtMs } of store.contents()) {
        if (!key.startsWith('walked/')) continue;
        found.push(key);
        assert.ok(modifiedAtMs >= beganAtMs && modifiedAtMs <= Date.now() + 2_000);
      }
      assert.deepEqual(found.sort(), ['walked/a', 'walked/b']);
    });

    test('a working store passes its check', async () => {
      await store.check();
    });

    test('concurrent puts do not mix', async () => {
      const contents = Array.from({ length: 12 }, () => randomBytes(200_000));
      await Promise.all(contents.map((bytes, i) => put(`many/${i}`, bytes)));
      for (const [i, bytes] of contents.entries()) assert.deepEqual(await buffer(await store.open(`many/${i}`)), bytes);
    });

    test('a reader that stops early has no effect on others', async () => {
      await put('half-read', randomBytes(3 * megabyte));
      const content = await store.open('half-read');
      await new Promise((resolve) => content.once('data', resolve));
      content.destroy();
      assert.equal((await buffer(await store.open('half-read'))).length, 3 * megabyte);
    });
  });
}

describe('local files only', () => {
  test('incomplete files of an earlier process are deleted, and complete files stay', async () => {
    const own = await temporaryFolder('files-');
    const first = await openLocalFiles(own.path);
    await first.put('kept', Readable.from([Buffer.from('x')]), 10);
    await writeFile(join(own.path, '.incoming', 'half'), 'x');
    const second = await openLocalFiles(own.path);
    assert.deepEqual(await readdir(join(own.path, '.incoming')), []);
    assert.equal((await buffer(await second.open('kept'))).toString(), 'x');
    await own.remove();
  });

  test('a folder or a link in place of a file counts as missing', async () => {
    const own = await temporaryFolder('files-');
    const store = await openLocalFiles(own.path);
    await mkdir(join(own.path, 'folder'));
    await symlink('/etc/passwd', join(own.path, 'link'));
    for (const key of ['folder', 'link', 'folder/none', 'link/none']) await assert.rejects(store.open(key), { code: 'not_found' }, key);
    assert.equal(await store.presignedUrl('folder', { expiresInS: 1, fileName: 'a', type: 'text/plain' }), null);
    await own.remove();
  });
});

describe('S3 only', () => {
  let server: S3Server;
  let store: FileStore;
  before(async () => {
    server = await S3Server.start();
    store = await openS3Files(parseS3Url(server.url));
  });
  after(() => server.stop());

  test('a storage that fails temporarily is retried; one that keeps failing is unavailable, and its upload aborted', async () => {
    server.misbehave = { method: 'PUT', how: 'error', times: 1 };
    await store.put('flaky', Readable.from([Buffer.from('x')]), 10);
    server.misbehave = { method: 'PUT', how: 'error', times: 1000 };
    await assert.rejects(store.put('down', Readable.from([randomBytes(6 * megabyte)]), 10 * megabyte), { code: 'unavailable' });
    await assert.rejects(store.check(), { code: 'unavailable' });
    server.misbehave = { method: 'GET', how: 'error', times: 1000 };
    await assert.rejects(store.open('flaky'), { code: 'unavailable' });
    await assert.rejects(
      async () => {
        for await (const _ of store.contents());
      },
      { code: 'unavailable' },
    );
    server.misbehave = null;
    assert.deepEqual([...server.openUploads.keys()], []);
  });

  test('content interrupted in transit fails its reader and does not appear complete', async () => {
    server.misbehave = { method: 'GET', how: 'cut', times: 1 };
    await assert.rejects(buffer(await store.open('flaky')));
    server.misbehave = null;
  });

  test('the download address works without a key, with the requested name and type', async () => {
    await store.put('shared', Readable.from([Buffer.from('content')]), 10);
    const url = await store.presignedUrl('shared', { expiresInS: 60, fileName: 'Übersicht "1".csv', type: 'text/csv' });
    const response = await fetch(url!);
    assert.deepEqual([response.status, await response.text(), response.headers.get('content-type')], [200, 'content', 'text/csv']);
    assert.equal(response.headers.get('content-disposition'), "attachment; filename*=UTF-8''%C3%9Cbersicht%20%221%22.csv");
    assert.match(url!, /X-Amz-Expires=60/);
    assert.ok(!url!.includes('se%2Fcr'));
  });

  test('the address is read with its secret decoded, by http on loopback and https elsewhere', () => {
    const { secretAccessKey, endpoint, bucket } = parseS3Url(server.url);
    assert.equal(secretAccessKey, 'se/cr+et');
    assert.match(endpoint, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(bucket, 'bucket');
    assert.equal(parseS3Url('s3://k:s@minio:9000/b').endpoint, 'https://minio:9000');
    assert.equal(parseS3Url('s3://k:s@minio:9000/b?tls=0').endpoint, 'http://minio:9000');
    assert.equal(parseS3Url('s3://k:s@localhost/b?region=eu-1').region, 'eu-1');
    for (const bad of ['', 'http://k:s@h/b', 's3://h/b', 's3://k:s@h', 's3://k:s@h/a/b', 's3://k@h/b']) {
      assert.throws(() => parseS3Url(bad), { message: 'S3_URL must be like s3://key:secret@host:port/bucket' });
    }
  });
});
