import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Snapshots } from '../../../../src/domains/deployments/snapshot/site.ts';
import { openSnapshots } from '../../../../src/domains/deployments/snapshot/snapshots.ts';
import { unneededSnapshots } from '../../../../src/domains/deployments/snapshot/unneeded-snapshots.ts';
import { workspaceFile, workspaceFileId } from '../../../../src/domains/workspaces/workspace-file/messages.ts';
import { unneededContents } from '../../../../src/domains/workspaces/workspace-file/orphan-content.ts';
import { storeFile } from '../../../../src/domains/workspaces/workspace-file/store-file.ts';
import { noLog } from '../../../../src/log.ts';
import { Maintenance } from '../../../../src/storage/maintenance.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { until } from '../../../support/until.ts';
import { startWorkspaceNode, type WorkspaceNode } from '../../../support/workspace-node.ts';

let node: WorkspaceNode;
let snapshots: Snapshots;
/** Keys of the contents that the snapshots have opened. */
const opened: string[] = [];
const { signal } = new AbortController();
const accountId = 'acct_ann';
const unlimited = { bytes: -1, files: -1 };
let limits = unlimited;
let workspaces = 0;

let close: () => unknown;
before(async () => {
  node = await startWorkspaceNode({ after: (ends: () => unknown) => void (close = ends) } as TestContext);
  const { files } = node;
  const open: typeof files.open = (key, range) => {
    opened.push(key);
    return files.open(key, range);
  };
  snapshots = openSnapshots({ database: node.database, files: { ...files, open }, limitsOf: async () => limits });
});
after(() => close());

async function newWorkspace() {
  const { id } = await node.createWorkspace(`Site ${++workspaces}`);
  const write = (name: string, content: string) =>
    storeFile(node, { workspaceId: id, accountId, name, type: 'text/html', deliverFor: null }, Readable.from([Buffer.from(content)]));
  const remove = (name: string) => node.actors.ask(workspaceFile, workspaceFileId(id, name), 'remove', null);
  return { id, accountId, write, remove, take: () => snapshots.take({ id, accountId }) };
}

/** Paths and contents, and whether the hashes are those of the contents. */
async function contentsOf(snapshotId: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const file of await snapshots.files(snapshotId)) {
    found[file.path] = await text(await snapshots.open(file));
    assert.equal(createHash('sha256').update(found[file.path]!).digest('hex'), file.sha256);
    assert.equal(Buffer.byteLength(found[file.path]!), file.sizeBytes);
  }
  return found;
}

const added = (path: string, content: string) => ({
  path,
  content: Readable.from([Buffer.from(content)]),
  sizeBytes: Buffer.byteLength(content),
});

describe('a snapshot of a workspace', () => {
  test('has the files of one moment, and their contents stay when they are replaced or deleted afterwards', async () => {
    const site = await newWorkspace();
    await site.write('index.html', 'one');
    await site.write('assets/app.css', 'body {}');
    await site.write('gone.html', 'gone');
    await site.remove('gone.html');
    const { snapshotId, files, bytes } = await site.take();
    assert.deepEqual({ files, bytes }, { files: 2, bytes: 10 });
    await site.write('index.html', 'two');
    await site.remove('assets/app.css');
    await site.write('late.html', 'late');
    await node.settled();
    assert.deepEqual(await contentsOf(snapshotId), { 'assets/app.css': 'body {}', 'index.html': 'one' });
    assert.deepEqual(await contentsOf((await site.take()).snapshotId), { 'index.html': 'two', 'late.html': 'late' });
    assert.equal((await snapshots.file(snapshotId, 'assets/app.css')).type, 'text/html');
    await assert.rejects(snapshots.file(snapshotId, 'late.html'), { code: 'not_found' });
    const keys = (await snapshots.files(snapshotId)).map(({ contentKey }) => contentKey);
    assert.deepEqual(await unneededContents(node.database, keys), []);
    await snapshots.remove(snapshotId);
    assert.deepEqual(await unneededContents(node.database, keys), keys, 'nothing holds them once it is removed');
    await assert.rejects(snapshots.files(snapshotId), { code: 'not_found' });
  });

  test('protects contents while its statement runs, although its rows are not visible yet', async () => {
    const site = await newWorkspace();
    await site.write('index.html', 'one');
    // The statement has read the files and waits in its insert.
    await node.database.pool.query(`create function wait_for_lock() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(77); return new; end $$`);
    await node.database.pool.query('create trigger wait before insert on snapshot_file for each row execute function wait_for_lock()');
    const holder = await node.database.pool.connect();
    try {
      await holder.query('select pg_advisory_lock(77)');
      const taking = site.take();
      const waits = `select from pg_locks where locktype = 'advisory' and objid = 77 and not granted`;
      await until(async () => (await holder.query(waits)).rows.length > 0, 'the statement to wait');
      await site.write('index.html', 'two');
      await node.settled();
      await holder.query('select pg_advisory_unlock(77)');
      assert.deepEqual(await contentsOf((await taking).snapshotId), { 'index.html': 'one' });
    } finally {
      await holder.query('select pg_advisory_unlock_all()');
      holder.release();
      await node.database.pool.query('drop trigger wait on snapshot_file');
    }
  });

  test('has all its contents, although files are written and deleted meanwhile', async () => {
    const site = await newWorkspace();
    const names = ['a.html', 'b/c.html', 'd.html', 'e.html'];
    for (const name of names) await site.write(name, `${name} 0`);
    let done = false;
    const writers = names.map(async (name) => {
      for (let round = 1; !done; round++) {
        if (round % 5 === 0) await site.remove(name);
        await site.write(name, `${name} ${round}`);
      }
    });
    const taken: string[] = [];
    for (let i = 0; i < 40; i++) taken.push((await site.take()).snapshotId);
    done = true;
    await Promise.all(writers);
    await node.settled();
    for (const snapshotId of taken)
      for (const [path, content] of Object.entries(await contentsOf(snapshotId))) assert.ok(content.startsWith(path), content);
  });

  test('of 20,001 files takes one statement, far below the time limit of a statement', async () => {
    const site = await newWorkspace();
    const begunMs = performance.now();
    await node.database.pool.query(
      `insert into workspace_file (id, workspace_id, account_id, name, type, size_bytes, sha256, version, content_key, status, created_at)
        select $1 || n, $1, 'acct_ann', 'pages/' || (n % 100) || '/page-' || n || '.html', 'text/html', 10, '', 1, $1 || '/' || n, 'present', now()
        from generate_series(1, 20001) n`,
      [site.id],
    );
    const insertedMs = performance.now();
    const { snapshotId, files, bytes } = await site.take();
    const paths = (await snapshots.files(snapshotId)).map(({ path }) => path);
    const tookMs = performance.now() - insertedMs;
    assert.deepEqual({ files, bytes }, { files: 20_001, bytes: 200_010 });
    assert.deepEqual(paths, paths.toSorted());
    // Where the machine is busy, the insert of as many rows was slow too.
    const limitMs = Math.max(8_000, 10 * (insertedMs - begunMs));
    assert.ok(tookMs < limitMs, `took ${Math.round(tookMs)} ms`);
  });

  test('is refused if a name is a file and a folder', async () => {
    const site = await newWorkspace();
    await site.write('docs', 'a file');
    await site.write('docs/guide/index.html', 'a page');
    await assert.rejects(site.take(), { code: 'bad_name', message: '"docs" is the name of a file and of a folder' });
    const { rows } = await node.database.pool.query('select from snapshot where workspace_id = $1', [site.id]);
    assert.equal(rows.length, 0);
  });

  test('may be empty', async () => {
    const { snapshotId, files, bytes } = await (await newWorkspace()).take();
    assert.deepEqual([files, bytes, await snapshots.files(snapshotId)], [0, 0, []]);
  });
});

test('a snapshot of a folder has the files below it, and protects their contents', async () => {
  const site = await newWorkspace();
  for (const name of ['index.html', 'caf\u00e9/public/a.html', 'caf\u00e9/public/b/c.html', 'caf\u00e9/public-2/d.html'])
    await site.write(name, name);
  const whole = await site.take();
  const part = await snapshots.within(whole.snapshotId, 'cafe\u0301/public');
  await snapshots.remove(whole.snapshotId);
  for (const name of ['caf\u00e9/public/a.html', 'caf\u00e9/public/b/c.html']) await site.remove(name);
  await node.settled();
  assert.deepEqual(await contentsOf(part.snapshotId), { 'a.html': 'caf\u00e9/public/a.html', 'b/c.html': 'caf\u00e9/public/b/c.html' });
  assert.equal(part.files, 2);
  assert.equal((await snapshots.within(part.snapshotId, 'absent')).files, 0);
  await assert.rejects(snapshots.within(whole.snapshotId, 'caf\u00e9'), { code: 'not_found' });
});

describe('a snapshot of added files', () => {
  test('has these files when it is complete, the last of each name', async () => {
    const site = await newWorkspace();
    const begun = await snapshots.begin(site);
    await begun.add(added('index.html', 'draft'));
    await begun.add(added('index.html', 'page'));
    await begun.add(added('img/a.bin', ''));
    const { snapshotId, files, bytes } = await begun.complete();
    assert.deepEqual({ files, bytes }, { files: 2, bytes: 4 });
    assert.deepEqual(await contentsOf(snapshotId), { 'img/a.bin': '', 'index.html': 'page' });
    assert.equal((await snapshots.file(snapshotId, 'index.html')).type, 'text/html');
    const keys = (await snapshots.files(snapshotId)).map(({ contentKey }) => contentKey);
    assert.equal((await node.contents()).filter((key) => key.startsWith(site.id)).length, 2, 'the replaced content is gone');
    assert.deepEqual(await unneededContents(node.database, keys), []);
  });

  test('leaves nothing behind when it is discarded', async () => {
    const site = await newWorkspace();
    const begun = await snapshots.begin(site);
    await begun.add(added('a.html', 'a'));
    await assert.rejects(begun.add({ ...added('b.html', 'longer than said'), sizeBytes: 3 }), { code: 'payload_too_large' });
    await begun.discard();
    assert.deepEqual(
      (await node.contents()).filter((key) => key.startsWith(site.id)),
      [],
    );
    const { rows } = await node.database.pool.query('select from snapshot where workspace_id = $1', [site.id]);
    assert.equal(rows.length, 0);
  });

  test('refuses names that are no paths, are the same in composed form, or are a file and a folder', async () => {
    const begun = await snapshots.begin(await newWorkspace());
    for (const path of ['../x.html', '/x.html', 'a//b.html', 'a/./b.html', 'a\\b.html', 'a\r.html', 'a/', ''])
      await assert.rejects(begun.add(added(path, 'x')), { code: 'bad_name' }, JSON.stringify(path));
    await begun.add(added('caf\u00e9.html', 'x'));
    await assert.rejects(begun.add(added('cafe\u0301.html', 'x')), { code: 'bad_name' });
    await begun.add(added('docs/a/b.html', 'x'));
    await begun.add(added('docs/a', 'x'));
    await assert.rejects(begun.complete(), { code: 'bad_name' });
    await begun.discard();
  });
});

describe('SHA-1 of files', () => {
  const sha1 = (content: string) => createHash('sha1').update(content).digest('hex');

  test('each content is read once, whatever snapshots name it', async () => {
    const site = await newWorkspace();
    await site.write('a.html', 'a');
    await site.write('b.html', 'b');
    const first = await site.take();
    const files = await snapshots.files(first.snapshotId);
    opened.length = 0;
    assert.deepEqual(await snapshots.sha1(first.snapshotId, files, signal), [sha1('a'), sha1('b')]);
    assert.deepEqual(await snapshots.sha1(first.snapshotId, files, signal), [sha1('a'), sha1('b')]);
    assert.equal(opened.length, 2);
    await site.write('b.html', 'changed');
    const second = await site.take();
    assert.deepEqual(await snapshots.sha1(second.snapshotId, await snapshots.files(second.snapshotId), signal), [
      sha1('a'),
      sha1('changed'),
    ]);
    assert.equal(opened.length, 3);
  });

  test('small contents are kept in memory to be sent once; larger ones are read again', async () => {
    const site = await newWorkspace();
    const large = 'x'.repeat(64 * 1024 + 1);
    for (const [name, content] of Object.entries({ 'empty.html': '', 'large.html': large, 'small.html': 'small' }))
      await site.write(name, content);
    const { snapshotId } = await site.take();
    const files = await snapshots.files(snapshotId);
    await snapshots.sha1(snapshotId, files, signal);
    opened.length = 0;
    const sent = { 'empty.html': '', 'large.html': large, 'small.html': 'small' };
    assert.deepEqual(await contentsOf(snapshotId), sent);
    assert.deepEqual(opened, [files[1]!.contentKey]);
    assert.deepEqual(await contentsOf(snapshotId), sent);
    assert.equal(opened.length, 4);
  });

  test('four small files share a turn, and a large one has its own', async () => {
    const site = await newWorkspace();
    for (let n = 0; n < 9; n++) await site.write(`${n}.html`, n === 4 ? 'x'.repeat(64 * 1024 + 1) : `${n}`);
    const { snapshotId } = await site.take();
    let turns = 0;
    await snapshots.sha1(snapshotId, await snapshots.files(snapshotId), signal, async () => void turns++);
    assert.equal(turns, 3);
  });

  test('of added files is known without a read', async () => {
    const begun = await snapshots.begin(await newWorkspace());
    await begun.add(added('a.html', 'added'));
    const { snapshotId } = await begun.complete();
    opened.length = 0;
    assert.deepEqual(await snapshots.sha1(snapshotId, await snapshots.files(snapshotId), signal), [sha1('added')]);
    assert.equal(opened.length, 0);
  });

  test('ends when it is aborted', async () => {
    const site = await newWorkspace();
    await site.write('a.html', 'a');
    const { snapshotId } = await site.take();
    const files = await snapshots.files(snapshotId);
    await assert.rejects(snapshots.sha1(snapshotId, files, AbortSignal.abort()), { name: 'AbortError' });
  });
});

test('snapshots are kept as long as a deployment needs them, and a day in any case', async () => {
  await node.database.pool.query('truncate snapshot, snapshot_file');
  const site = await newWorkspace();
  await site.write('a.html', 'a');
  const names = new Map<string, string>();
  const take = async (name: string) => {
    const { snapshotId } = await site.take();
    names.set(snapshotId, name);
    return snapshotId;
  };
  let deployments = 0;
  const deployed = (values: Record<string, unknown>) =>
    insertNeutralRow(node.database, 'deployment', { id: `dep_${deployments++}`, mode: 'live', status: 'live', ...values });
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  await take('unnamed');
  await deployed({ status: 'building', snapshot_id: await take('of a build under way') });
  const built = { snapshot_id: await take('of a build that has ended'), site_id: await take('built') };
  await deployed({ ...built, completed_at: daysAgo(2) });
  await deployed({ status: 'pending', site_id: await take('published again') });
  await deployed({ status: 'failed', site_id: await take('failed, 29 days'), completed_at: daysAgo(29) });
  await deployed({ status: 'failed', site_id: await take('failed, 31 days'), completed_at: daysAgo(31) });
  await deployed({ mode: 'test', site_id: await take('preview, 29 days'), completed_at: daysAgo(29) });
  await deployed({ mode: 'test', site_id: await take('preview, 31 days'), completed_at: daysAgo(31) });
  await deployed({ config_id: 'cfg_1', site_id: await take('replaced 31 days ago'), completed_at: daysAgo(90) });
  await deployed({ config_id: 'cfg_1', site_id: await take('replaced 29 days ago'), completed_at: daysAgo(31) });
  await deployed({ config_id: 'cfg_1', status: 'failed', completed_at: daysAgo(30.5) });
  await deployed({ config_id: 'cfg_1', site_id: await take('live for 29 days'), completed_at: daysAgo(29) });
  await deployed({ config_id: 'cfg_2', site_id: await take('live for a year'), completed_at: daysAgo(365) });
  await insertNeutralRow(node.database, 'snapshot', { id: 'snap_abandoned', workspace_id: site.id, files: null });
  names.set('snap_abandoned', 'abandoned');
  await node.database.pool.query(`update snapshot set created_at = now() - interval '25 hours'`);
  await take('young');

  const removing = new Maintenance({
    ...{ databaseUrl: node.url, jobs: [unneededSnapshots({ nowMs: Date.now })], log: noLog },
    ...{ pieceRows: 2, pauseMs: 0 },
  });
  const removed = ['unnamed', 'failed, 31 days', 'preview, 31 days', 'replaced 31 days ago', 'abandoned'];
  assert.deepEqual(await removing.runOnce(), { 'unneeded snapshots': removed.length });
  const { rows } = await node.database.pool.query('select distinct s.id from snapshot s join snapshot_file f on f.snapshot_id = s.id');
  const kept = rows.map(({ id }) => names.get(id)!);
  assert.deepEqual(kept.sort(), [...names.values()].filter((name) => !removed.includes(name)).sort());
});

test('snapshots of an account hold at most five times the bytes of its plan, each content counted once, and 200 times its files', async () => {
  await node.database.pool.query('truncate snapshot, snapshot_file');
  const site = await newWorkspace();
  await site.write('a.html', '0123456789');
  limits = { bytes: 4, files: 10 };
  const first = await site.take();
  for (let i = 0; i < 3; i++) await site.take();
  await snapshots.within(first.snapshotId, 'absent');
  const begun = await snapshots.begin(site);
  await begun.add(added('b.html', '0123456789'));
  await begun.complete();
  await site.write('a.html', 'x');
  await site.take();
  await assert.rejects(site.take(), { code: 'quota', message: /hold 21 bytes in 6 files, as much as its plan allows/ });
  limits = { bytes: -1, files: 0 };
  await assert.rejects(site.take(), { code: 'quota' });
  limits = { bytes: 4, files: 10 };
  await snapshots.remove(first.snapshotId);
  await site.take();
  limits = unlimited;
});

test('an announcement protects contents for ten minutes, and its statement reads nothing after five', async () => {
  const site = await newWorkspace();
  await site.write('a.html', 'a');
  const { contentKey } = await snapshots.file((await site.take()).snapshotId, 'a.html');
  await site.remove('a.html');
  await node.settled();
  await node.database.pool.query('truncate snapshot, snapshot_file');
  await insertNeutralRow(node.database, 'snapshot', { id: 'snap_announced', workspace_id: site.id, files: null });
  for (const [minutes, held] of [
    [9, true],
    [11, false],
  ] as const) {
    await node.database.pool.query(`update snapshot set created_at = now() - $1 * interval '1 minute'`, [minutes]);
    assert.deepEqual(await unneededContents(node.database, [contentKey]), held ? [] : [contentKey]);
  }
  await node.database.pool.query(`create function old_announcement() returns trigger language plpgsql as
    $$ begin new.created_at := now() - interval '6 minutes'; return new; end $$`);
  await node.database.pool.query('create trigger old before insert on snapshot for each row execute function old_announcement()');
  await assert.rejects(site.take(), { code: 'unavailable' });
  await node.database.pool.query('drop trigger old on snapshot');
});
