/**
 * Guarantees of the file store in PostgreSQL beyond the port's contract (test/contract/file-store.test.ts): several nodes, crashes,
 * sweeps, limits.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import type pg from 'pg';
import { noLog } from '../../src/log.ts';
import { adoptLocalFiles } from '../../src/storage/adopt-local-files.ts';
import { Database } from '../../src/storage/database.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import { Maintenance } from '../../src/storage/maintenance.ts';
import { holdsContents, looseContents, openPostgresFiles } from '../../src/storage/postgres-files.ts';
import { testDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const chunkBytes = 256 * 1024;
const hourMs = 3_600_000;

/** Records the names of its statements, in order. */
class WatchedDatabase extends Database {
  readonly sent: string[] = [];
  override write(statement: pg.QueryConfig): ReturnType<Database['write']> {
    this.sent.push(statement.name ?? '');
    return super.write(statement);
  }
}

async function twoNodes(t: TestContext, poolSize?: number) {
  const server = await testDatabase();
  const [one, two] = [new WatchedDatabase(server.url, { poolSize }), new WatchedDatabase(server.url, { poolSize })];
  await one.migrate();
  t.after(async () => {
    await one.close();
    await two.close();
    await server.close();
  });
  const sweep = (inMs: number) =>
    new Maintenance({
      databaseUrl: server.url,
      jobs: [looseContents({ nowMs: () => Date.now() + inMs })],
      log: noLog,
      everyMs: 0,
      pauseMs: 0,
    }).runOnce();
  const count = async (table: string) => (await one.read({ text: `select count(*) from ${table}` })).rows[0].count;
  return { one, two, here: openPostgresFiles(one), there: openPostgresFiles(two), sweep, count };
}

const of = (bytes: Buffer) => Readable.from([bytes], { objectMode: false });

/** An upload whose first bytes are stored and whose rest has not come. */
async function halfArrived(t: TestContext) {
  const nodes = await twoNodes(t);
  const content = new PassThrough({ highWaterMark: 4 * chunkBytes });
  const put = nodes.here.put('key', content, 100 * chunkBytes);
  content.write(randomBytes(2 * chunkBytes));
  while ((await nodes.count('file_chunk')) < 2) await new Promise(setImmediate);
  return { ...nodes, content, put };
}

test('a content stored by one node can be read by another', async (t) => {
  const { here, there } = await twoNodes(t);
  const bytes = randomBytes(3 * chunkBytes + 5);
  await here.put('key', of(bytes), bytes.length);
  assert.deepEqual(await buffer(await there.open('key')), bytes);
  await there.remove('key');
  await assert.rejects(here.open('key'), { code: 'not_found' });
});

test('an upload is not visible before it is complete', async (t) => {
  const { there, content, put } = await halfArrived(t);
  await assert.rejects(there.open('key'), { code: 'not_found' });
  for await (const { key } of there.contents()) assert.fail(key);
  content.end(Buffer.from('x'));
  assert.equal((await put).sizeBytes, 2 * chunkBytes + 1);
  assert.equal((await buffer(await there.open('key'))).length, 2 * chunkBytes + 1);
});

test('incomplete contents are swept after the longest possible upload, and a swept upload fails', async (t) => {
  const { sweep, count, content, put, here } = await halfArrived(t);
  assert.deepEqual(await sweep(hourMs), { 'loose contents': 0 });
  assert.deepEqual(await sweep(3 * hourMs), { 'loose contents': 1 });
  assert.deepEqual([await count('file_content'), await count('file_chunk')], [0, 0]);
  content.end(randomBytes(chunkBytes));
  await assert.rejects(put, { code: 'unavailable' });
  await assert.rejects(here.open('key'), { code: 'not_found' });
  assert.equal(await count('file_chunk'), 0);
});

test('replaced and removed contents are swept later, and current contents stay', async (t) => {
  const { here, sweep, count } = await twoNodes(t);
  for (const key of ['removed', 'replaced', 'replaced', 'kept']) await here.put(key, of(randomBytes(chunkBytes + 1)), 2 * chunkBytes);
  await here.remove('removed');
  assert.deepEqual(await sweep(hourMs), { 'loose contents': 0 });
  assert.deepEqual(await sweep(3 * hourMs), { 'loose contents': 2 });
  assert.deepEqual([await count('file_content'), await count('file_chunk')], [2, 4]);
  for (const key of ['replaced', 'kept']) assert.equal((await buffer(await here.open(key))).length, chunkBytes + 1);
});

test('a reader whose content is swept fails instead of ending normally', async (t) => {
  const { here, sweep } = await twoNodes(t);
  await here.put('key', of(randomBytes(20 * chunkBytes)), 20 * chunkBytes);
  const content = await here.open('key');
  await new Promise((resolve) => content.once('readable', resolve));
  await here.remove('key');
  await sweep(3 * hourMs);
  await assert.rejects(buffer(content), { code: 'unavailable' });
});

test('concurrent puts of one key leave one complete content', async (t) => {
  const { here, there } = await twoNodes(t);
  const contents = Array.from({ length: 8 }, (_, i) => Buffer.alloc(chunkBytes + 10, i));
  await Promise.all(contents.map((bytes, i) => (i % 2 === 0 ? here : there).put('key', of(bytes), bytes.length)));
  const found = await buffer(await there.open('key'));
  assert.ok(contents.some((bytes) => bytes.equals(found)));
  await here.put('key', of(Buffer.from('last')), 10);
  assert.equal((await buffer(await there.open('key'))).toString(), 'last');
  await here.remove('key');
  await assert.rejects(there.open('key'), { code: 'not_found' });
});

test('uploads and downloads that wait for their client hold no connection', async (t) => {
  const { one, here } = await twoNodes(t, 1);
  await here.put('large', of(randomBytes(8 * chunkBytes)), 8 * chunkBytes);
  const downloads = await Promise.all([here.open('large'), here.open('large'), here.open('large')]);
  await Promise.all(downloads.map((content) => new Promise((resolve) => content.once('readable', resolve))));
  const uploads = [new PassThrough(), new PassThrough(), new PassThrough()];
  const puts = uploads.map((content, i) => here.put(`slow${i}`, content, 10));
  await one.read({ text: 'select 1' });
  for (const content of uploads) content.end('x');
  await Promise.all(puts);
  for (const content of downloads) assert.equal((await buffer(content)).length, 8 * chunkBytes);
});

test('for a slow reader at most two chunks are read ahead', async (t) => {
  const { one, here } = await twoNodes(t);
  await here.put('large', of(randomBytes(40 * chunkBytes)), 40 * chunkBytes);
  one.sent.length = 0;
  const content = await here.open('large');
  await new Promise((resolve) => content.once('readable', resolve));
  for (let i = 0; i < 20; i++) await one.read({ text: 'select 1' });
  assert.ok(one.sent.filter((name) => name === 'file_chunk').length <= 2);
  content.destroy();
});

test('a range reads only its own chunks', async (t) => {
  const { one, here } = await twoNodes(t);
  const bytes = randomBytes(10 * chunkBytes);
  await here.put('large', of(bytes), bytes.length);
  for (const [start, end, chunks] of [
    [9 * chunkBytes + 5, 9 * chunkBytes + 5, 1],
    [4 * chunkBytes - 1, 4 * chunkBytes, 2],
    [3 * chunkBytes, 4 * chunkBytes - 1, 1],
    [9 * chunkBytes, 99 * chunkBytes, 1],
  ] as const) {
    one.sent.length = 0;
    assert.deepEqual(await buffer(await here.open('large', { start, end })), bytes.subarray(start, end + 1));
    assert.equal(one.sent.filter((name) => name === 'file_chunk').length, chunks);
  }
});

test('a put without a database fails and stops its sender', async () => {
  const nowhere = new Database('postgres://nobody@127.0.0.1:1/none');
  const content = new PassThrough();
  const closed = new Promise((resolve) => content.once('close', resolve));
  const files = openPostgresFiles(nowhere);
  await assert.rejects(files.put('key', content, 10), { code: 'unavailable' });
  await closed;
  await assert.rejects(files.check(), { code: 'unavailable' });
  await nowhere.close();
});

test('a service that becomes a cluster copies its local files once', async (t) => {
  const { one, here, there } = await twoNodes(t);
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const directory = join(folder.path, 'files');
  const local = await openLocalFiles(directory);
  const contents = new Map([
    ['ws/a', randomBytes(chunkBytes + 1)],
    ['ws/b', randomBytes(10)],
    ['ws/deep/c', Buffer.alloc(0)],
  ]);
  for (const [key, bytes] of contents) await local.put(key, of(bytes), 2 * chunkBytes);
  assert.equal(await holdsContents(one), false);
  await Promise.all([adoptLocalFiles(directory, here, noLog), adoptLocalFiles(directory, there, noLog)]);
  for (const [key, bytes] of contents) assert.deepEqual(await buffer(await there.open(key)), bytes);
  assert.equal(await holdsContents(one), true);
  assert.deepEqual(await readdir(folder.path), ['files-adopted']);
  await here.remove('ws/a');
  await adoptLocalFiles(directory, here, noLog);
  await assert.rejects(here.open('ws/a'), { code: 'not_found' });
});
